"""Questions about visitors keep within the hourly budget for any response of the service."""

from __future__ import annotations

import httpx
import pytest

from tests.talk import Talk
from tests.work.readers import DAY, FIRST, LAST, START, asked


@pytest.mark.parametrize(
    ("pages", "left_out"),
    [
        (1_500, "compared with"),
        (2_000, "none is called new or gone"),
        (3_250, "Not compared: 19–25 Oct 2026 couldn't be read: one question takes a third"),
    ],
)
async def test_comparison_is_dropped_beyond_a_third_of_the_hour(
    talk: Talk, pages: int, left_out: str
) -> None:
    await talk.process.starts(analytics_calls_an_hour=60)
    talk.service.site.fill(pages, START, LAST)
    answer = await asked(talk)
    assert f" · {pages:,} pages" in answer
    assert left_out in answer
    assert len(talk.service.site.calls) <= 20


async def test_repeated_question_reads_on(talk: Talk) -> None:
    await talk.process.starts(analytics_calls_an_hour=60)
    talk.service.site.fill(7_500, START, LAST)
    await talk.ben.types("/docs-visitors")
    answer = await asked(talk)
    first = (
        "The pages after the first 5,000 couldn't be read: one question takes a third of the hour's "
        "analytics calls at most. Ask again, and I'll go on where I stopped."
    )
    assert first in answer
    assert first in talk.ben.reads()[-1]
    assert len(talk.service.site.calls) == 20, "both questions share the calls"
    assert " · 7,500 pages" in await asked(talk)
    whole = [call[3] for call in talk.service.site.calls if call[:2] == (FIRST, LAST + DAY)]
    assert whole == [*range(0, 7_500, 250)]


async def test_people_who_ask_at_once_share_a_third_of_the_hour(talk: Talk) -> None:
    await talk.process.starts(analytics_calls_an_hour=60)
    talk.service.site.fill(7_500, FIRST, LAST)
    people = [talk.ana, talk.ben, talk.chika]
    for person in people:
        await person.types("/docs-visitors compare none")
    await talk.time.passes(20)
    answers = [person.reads()[-1] for person in people]
    assert all("The pages after the first 5,000 couldn't be read" in answer for answer in answers)
    assert len(talk.service.site.calls) == 20


async def test_answer_without_calls_left_has_the_next_time(talk: Talk) -> None:
    await talk.process.starts(analytics_calls_an_hour=1)
    talk.service.site.fill(300, START, LAST)
    answer = await asked(talk, "compare none")
    assert "The pages after the first 250 couldn't be read: " in answer
    assert "Ask again after <!date^" in answer
    answer = await asked(talk, "last month compare none")
    assert "couldn't be read: all analytics calls of this hour are used. Ask again after" in answer
    assert len(talk.service.site.calls) == 1


async def test_answer_waits_for_a_429(talk: Talk) -> None:
    talk.service.site.fill(3, FIRST, LAST)
    talk.service.says("visitors", 429, seconds=10)
    await talk.ana.types("/docs-visitors compare none")
    await talk.time.passes(9)
    assert talk.service.site.calls == []
    await talk.time.passes(10)
    assert "AI's share" in talk.ana.reads()[-1]


async def test_failed_call_is_repeated(talk: Talk) -> None:
    talk.service.site.fill(3, FIRST, LAST)
    talk.service.answer_instead(
        "visitors",
        httpx.Response(502, text="<html>"),
        httpx.ReadTimeout("late"),
        httpx.Response(500),
    )
    assert "AI's share" in await asked(talk, "compare none", seconds=60)


async def test_failing_service_is_reported_and_asked_again_at_once(talk: Talk) -> None:
    talk.service.site.fill(3, FIRST, LAST)
    talk.service.says("visitors", 503, times=4)
    assert "didn't give a usable answer" in await asked(talk, "compare none", seconds=60)
    assert "AI's share" in await asked(talk, "compare none", seconds=10)


async def test_endless_pages_of_the_service_are_cut_off(talk: Talk) -> None:
    same = {**talk.service.site.answer(FIRST, LAST, 1, 0), "hasMore": True}
    same["visitors"] = [{"path": "/a", "human": 1, "ai": 0, "total": 1}]
    talk.service.answer_instead("visitors", *(httpx.Response(200, json=same) for _ in range(50)))
    assert "says there is more but shows nothing new" in await asked(talk, "compare none")
    assert len(talk.service.instead["visitors"]) > 40
