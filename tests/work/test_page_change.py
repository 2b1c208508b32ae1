"""A job that began at a page: four weeks after the review its thread gets the page's visitors, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.commands.form_state import FormState
from bot.work.visitors.fetch import fetch_snapshots
from bot.work.visitors.page_change import compare_pages
from tests.builders import CHANNEL
from tests.work.office import Office

DAY = 86_400


async def began_at_a_page(office: Office, path: str = "/guides/start") -> None:
    """A job from the form of a page, which ends with a pull request."""
    await office.submits("ask", replace(FormState(CHANNEL), page=path), prompt="Improve the page")
    await office.settle()
    office.docs.finish()
    await office.settle()


async def numbers_come(office: Office) -> None:
    for _ in range(8):
        await office.works(compare_pages)
        await office.works(fetch_snapshots)
        office.clock.pass_seconds(700)
    await office.settle(1.0)


async def test_the_page_is_compared_once_in_equal_windows_around_the_review(office: Office) -> None:
    await began_at_a_page(office)
    await office.press("reviewed", "1")
    office.clock.pass_seconds(29 * DAY)
    assert await office.works(compare_pages) == 0
    office.clock.pass_seconds(2 * DAY)
    await numbers_come(office)
    assert len(office.said()) == 2
    told = office.said()[-1]
    assert "`/guides/start`, four weeks before and after the pull request of Job 1" in told
    assert "small numbers" in told
    assert office.docs.calls.count("visitors") >= 2
    office.clock.pass_seconds(5 * DAY)
    assert await office.works(compare_pages) == 0


@pytest.mark.parametrize("how", ["not needed", "follow-up", "no page"])
async def test_nothing_is_compared_without_a_page_a_review_or_when_the_job_goes_on(
    office: Office, how: str
) -> None:
    await (office.finished() if how == "no page" else began_at_a_page(office))
    await office.press("not_needed" if how == "not needed" else "reviewed", "1")
    if how == "follow-up":
        await office.reply("Mention Python 3.11 too")
        await office.settle()
    office.clock.pass_seconds(31 * DAY)
    assert await office.works(compare_pages) == 0


async def test_numbers_that_never_come_are_given_up(office: Office) -> None:
    await began_at_a_page(office)
    await office.press("reviewed", "1")
    office.clock.pass_seconds(60 * DAY)
    assert await office.works(compare_pages) == 1
    assert await office.works(compare_pages) == 0
    assert len(office.said()) == 1
