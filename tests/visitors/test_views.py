"""Views of a section: shown where they are complete, left out with the reason where they are not."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from bot.visitors.model.readings import Counts
from tests.site import Visit, viewed
from tests.talk import Talk
from tests.talk_people import Shown
from tests.work.readers import DAY, FIRST, LAST, MONDAY, asked, digests, subscribe, until

MISSING = "The views of `/api` couldn't be read: "


def line_of(answer: Shown) -> str:
    """Return the line about the views of /api; "" if there is none."""
    return next((line for line in answer.splitlines() if line.startswith("`/api`: ")), "")


def views_line(views: Counts) -> str:
    by_whom = f"{views.human:,} by people and {views.ai:,} by AI agents"
    return f"`/api`: *{views.total:,} views*, {by_whom}"


def count_views(talk: Talk, first: date, last: date) -> Counts:
    """Count the visits to /api and the pages below it, from one day to another."""
    pages = ("/api", "/api/orders")
    visits = talk.service.site.visits
    return viewed([each for each in visits if each.path in pages and first <= each.day <= last])


@pytest.fixture
def talk(talk: Talk) -> Talk:
    """Return a conversation about a site whose readers come back."""
    site = talk.service.site
    site.read("/api/orders", FIRST, LAST, people=20, agents=7)
    site.read("/api", FIRST, LAST, people=4)
    site.read("/apiary", FIRST, LAST, people=40, agents=9)
    site.read("/api/orders", MONDAY, MONDAY + 6 * DAY, people=5, agents=4)
    return talk


async def test_section_has_its_views_beside_the_visitors_of_the_site(talk: Talk) -> None:
    answer = await asked(talk, "path /api compare none")
    views = count_views(talk, FIRST, LAST)
    assert views.total > 31, "some come back"
    assert line_of(answer) == views_line(views)
    assert "Whole site: *49 visitors*" in answer
    assert "views" not in await asked(talk, "compare none")
    assert len(talk.service.site.view_calls) == 1


async def test_digest_of_a_section_has_its_views(talk: Talk) -> None:
    await subscribe(talk, "monday 09:00 UTC path /api")
    await until(talk, 9)
    [digest] = digests(talk)
    views = count_views(talk, MONDAY, MONDAY + 6 * DAY)
    assert views.total > 9, "some come back"
    assert line_of(digest) == views_line(views)


@pytest.mark.parametrize("status", [403, 404])
async def test_service_without_views_is_not_mentioned(talk: Talk, status: int) -> None:
    talk.service.says("views", status, times=2)
    for words in ("path /api compare none", "path /api last month compare none"):
        answer = await asked(talk, words)
        assert "Whole site: " in answer
        assert "views" not in answer
    assert talk.service.calls.count("views") == 1, "it is asked again in a day"


async def test_failing_views_are_left_out_with_the_reason(talk: Talk) -> None:
    talk.service.says("views", 503, times=99)
    answer = await asked(talk, "path /api compare none", seconds=60)
    assert f"{MISSING}the docs service didn't give a usable answer." in answer
    assert line_of(answer) == ""


@pytest.mark.parametrize(("pages", "calls"), [(2_500, 10), (2_501, 0)])
async def test_views_of_a_large_site_are_not_read(talk: Talk, pages: int, calls: int) -> None:
    talk.service.site.visits = [
        Visit(FIRST, number, "human", f"/api/page-{number}") for number in range(pages)
    ]
    answer = await asked(talk, "path /api compare none", seconds=60)
    assert len(talk.service.site.view_calls) == calls
    if calls:
        assert line_of(answer) == views_line(Counts(2_500, 0, 2_500))
    else:
        assert f"{MISSING}the site has so many pages that they take more than ten calls." in answer


async def test_more_pages_of_views_than_of_visitors_take_ten_calls_at_most(talk: Talk) -> None:
    site = talk.service.site
    real = site.answer_views

    def endless(first: date, end: date, limit: int, offset: int) -> dict[str, Any]:
        answer = real(first, end, limit, offset)
        number = len(site.view_calls)
        row = {"path": f"/api/{number}", "human": 1, "ai": 0, "total": 1}
        return {**answer, "views": [row], "hasMore": True}

    site.answer_views = endless  # type: ignore[method-assign]
    answer = await asked(talk, "path /api compare none", seconds=60)
    assert f"{MISSING}the site has so many pages" in answer
    assert len(site.view_calls) == 10


async def test_visitors_come_before_views(talk: Talk) -> None:
    """A third of twelve calls is four: three for the visitors, and one for the views, which take two."""
    await talk.process.starts(analytics_calls_an_hour=12)
    talk.service.site.visits = [
        Visit(FIRST, number, "human", f"/api/page-{number}") for number in range(600)
    ]
    answer = await asked(talk, "path /api compare none")
    assert "600 pages under /api" in answer
    assert f"{MISSING}one question takes a third of the hour's analytics calls at most." in answer
    assert line_of(answer) == ""
    again = await asked(talk, "path /api compare none top 3")
    assert line_of(again) == views_line(Counts(600, 0, 600))
