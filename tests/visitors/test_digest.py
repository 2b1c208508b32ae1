"""The weekly digest's share of the hour's calls."""

from __future__ import annotations

from tests.talk import Talk
from tests.work import readers
from tests.work.readers import DAY, MONDAY, WEEK


async def test_digest_is_read_ahead_and_leaves_people_their_share(talk: Talk) -> None:
    await talk.process.starts(analytics_calls_an_hour=10)
    talk.service.site.fill(2_500, MONDAY, MONDAY + 6 * DAY)
    await readers.subscribe(talk)
    await readers.until(talk, 9, 3, 55)
    assert len(talk.service.calls) == 7
    assert "didn't" not in await readers.asked(talk, "2026-09-01 compare none")
    await readers.until(talk, 9)
    [digest] = readers.digests(talk)
    assert " · 2,500 pages" in await readers.all_numbers(talk, digest)


async def test_week_that_has_just_ended_is_read_once(talk: Talk) -> None:
    """East of UTC a digest may come before its week is settled, which must not restart the reading."""
    await talk.process.starts(analytics_calls_an_hour=10)
    site = talk.service.site
    site.read("/page-0", MONDAY - 21 * DAY, MONDAY - DAY, people=21)
    site.fill(2_250, MONDAY, MONDAY + 6 * DAY)
    await readers.subscribe(talk, "monday 09:00 Asia/Tokyo")
    await talk.process.stops()
    talk.time.is_set(hours=6 * 24 + 15)
    await talk.process.starts()
    await talk.time.passes(minutes=140)
    [digest] = readers.digests(talk)
    numbers = await readers.all_numbers(talk, digest)
    assert " · 2,250 pages" in numbers
    [curve] = [line for line in numbers.splitlines() if "visitors by week" in line]
    assert "2–8 Nov " in curve
    assert len([call for call in site.calls if call[0] == MONDAY and call[2] > 1]) == 9


async def test_requested_digest_leaves_out_a_chart_beyond_the_budget(talk: Talk) -> None:
    await talk.process.starts(analytics_calls_an_hour=4)
    talk.service.site.fill(5, WEEK - 7 * DAY, MONDAY - DAY)
    await readers.asked(talk, "last week")
    await talk.ben.types("/docs-visitors digest now")
    await talk.time.passes(30)
    [digest] = readers.digests(talk)
    assert "leaves out" not in digest
    assert "leaves out" in await readers.all_numbers(talk, digest)
    talk.ben.reads()
