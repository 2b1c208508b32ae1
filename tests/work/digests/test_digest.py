"""What the weekly digest takes of the hour's calls, which smaller pages show."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import httpx
from sqlalchemy import select

from bot.model.misses import Source
from bot.store.schema import snapshots
from tests.builders import BEN, rows_of
from tests.work.office import Office
from tests.work.weekly import DAY, MONDAY, WEEK, digests, subscribed, until


async def test_a_coming_digest_is_read_ahead_and_leaves_people_their_share(office: Office) -> None:
    office.docs.site.fill(1_000, MONDAY, MONDAY + 6 * DAY)
    office.budget(10, page_size=100)
    await subscribed(office)
    await until(office, datetime(2026, 11, 9, 4, 0, tzinfo=UTC))
    await office.reading(10)
    assert len(office.docs.calls) == 7
    await office.visitors("2026-09-01 compare none")
    await office.reading(5)
    assert len(office.answers()) == 1
    for hour in range(5, 9):
        await until(office, datetime(2026, 11, 9, hour, 1, tzinfo=UTC))
    await until(office, datetime(2026, 11, 9, 9, 2, tzinfo=UTC))
    await office.reading(10, step_seconds=30)
    [digest] = digests(office)
    assert " · 1,000 pages" in digest


async def failures(office: Office) -> Counter[int]:
    """How many calls about visitors have failed, by snapshot."""
    of_visitors = select(snapshots.c.id, snapshots.c.attempts).where(snapshots.c.source == Source.VISITORS)
    rows = await rows_of(office.store, of_visitors)
    return Counter({row["id"]: row["attempts"] for row in rows})


async def test_a_week_that_fails_while_it_is_read_ahead_costs_few_calls_until_it_is_well(
    office: Office,
) -> None:
    office.docs.site.fill(5, MONDAY, MONDAY + 6 * DAY)
    await subscribed(office)
    await office.visitors("subscribe monday 09:30 UTC path /page-1")
    office.docs.answer_instead("visitors", *(httpx.Response(503) for _ in range(2_000)))
    office.clock.at, begun_at = (datetime(2026, 11, 9, 3, 0, tzinfo=UTC),) * 2
    an_hour = []
    for hour in range(8):
        before = await failures(office)
        while office.clock() < begun_at + timedelta(hours=hour + 1):
            await office.reading(1, step_seconds=60)
        an_hour.append(dict(await failures(office) - before))
    assert max(count for counts in an_hour for count in counts.values()) <= 6, an_hour
    used = 2_000 - len(office.docs.instead["visitors"])
    assert used == sum(count for counts in an_hour for count in counts.values()), "each call is counted"
    office.docs.instead.clear()
    await office.reading(40, step_seconds=60)
    assert len(digests(office)) == 2


async def test_when_the_budget_ends_the_digest_comes_with_what_was_read(office: Office) -> None:
    office.docs.site.fill(900, MONDAY, MONDAY + 6 * DAY)
    office.budget(1, page_size=100)
    await subscribed(office)
    office.clock.at = datetime(2026, 11, 9, 9, 0, tzinfo=UTC)
    await office.reading(50, step_seconds=300)
    [digest] = digests(office)
    assert "Only the first" in digest


async def test_a_week_that_ended_a_moment_ago_is_read_once_however_long_that_takes(office: Office) -> None:
    """East of UTC a digest may come before the week counts as settled; its numbers are not begun anew."""
    office.docs.site.read("/page-0", MONDAY - 21 * DAY, MONDAY - DAY, people=21)
    office.docs.site.fill(900, MONDAY, MONDAY + 6 * DAY)
    office.budget(10, page_size=100)
    await subscribed(office, "monday 09:00 Asia/Tokyo")
    office.clock.at = datetime(2026, 11, 9, 0, 0, tzinfo=UTC)
    await office.reading(70, step_seconds=120)
    [digest] = digests(office)
    assert " · 900 pages" in digest
    [curve] = [line for line in digest.splitlines() if "visitors by week" in line]
    assert "2–8 Nov " in curve
    whole = [call for call in office.docs.site.calls if call[0] == MONDAY and call[2] > 1]
    assert len(whole) == 9


async def test_a_digest_now_does_not_wait_for_a_curve_that_the_budget_has_no_room_for(
    office: Office,
) -> None:
    office.docs.site.fill(5, WEEK - 7 * DAY, MONDAY - DAY)
    office.budget(4)
    await office.visitors("last week")
    await office.reading(5)
    await office.visitors("digest now", user=BEN)
    began_at = office.clock.at
    while not digests(office) and office.clock.at < began_at + timedelta(minutes=5):
        await office.reading(1)
    assert office.clock.at < began_at + timedelta(seconds=30)
    assert "leaves out" in digests(office)[0]
