"""Readings: the same rules on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest

from bot.store import Store
from bot.visitors.model.gaps import Source
from bot.visitors.model.periods import Period
from bot.visitors.model.readings import Counts, Reading
from bot.visitors.store import Readings
from tests.builders import NOW, PROJECT

WEEK = Period(date(2026, 10, 26), date(2026, 11, 2))
SITE = Counts(110, 90, 190)


async def put(store: Store, *, is_final: bool = True, at: datetime = NOW) -> Reading:
    """Store a reading that was taken at a time."""
    new = Reading(
        PROJECT, Source.VISITORS, WEEK, at, is_final, totals=SITE, is_complete=True, read_at=at
    )
    pages = {"/a": SITE, "/\u00e9": Counts(1, 0, 1)}
    return await store.write(lambda tx: Readings(tx).put(replace(new, pages=pages)))


async def stored(store: Store, *readings: Reading) -> tuple[Reading, ...]:
    return await store.read(lambda tx: Readings(tx).of([one.id for one in readings if one.id]))


async def test_reading_is_stored_and_read_on(store: Store) -> None:
    reading = await put(store)
    assert await stored(store, reading) == (reading,)
    more = replace(reading, next_offset=250, problem="unwell")
    await store.write(lambda tx: Readings(tx).put(more))
    assert await stored(store, reading) == (more,)


@pytest.mark.parametrize(("minutes", "is_fresh"), [(9, True), (11, False)])
async def test_reading_of_an_open_period_is_fresh_for_minutes(
    store: Store, minutes: int, is_fresh: bool
) -> None:
    await put(store, is_final=False)
    at, place = NOW + timedelta(minutes=minutes), (PROJECT, Source.VISITORS, WEEK)
    reading = await store.read(lambda tx: Readings(tx).find(*place, at, is_final=False))
    assert (reading is not None) == is_fresh


@pytest.mark.parametrize(("days", "count"), [(0, 2), (8, 2), (9, 1), (200, 1), (201, 0)])
async def test_pages_go_after_their_period_and_totals_stay(
    store: Store, days: int, count: int
) -> None:
    """``days``: how long ago the period ended. ``count``: how many of two readings keep their pages."""
    old = [await put(store), await put(store, is_final=False)]
    today = WEEK.end + timedelta(days=days)
    dropped = await store.write(lambda tx: Readings(tx).drop_old_pages(today, 50))
    assert dropped == 2 - count
    assert [one.totals for one in await stored(store, *old)] == [SITE, SITE]
    assert sum(one.pages is not None for one in await stored(store, *old)) == count


async def test_pages_go_a_few_at_a_time(store: Store) -> None:
    for _ in range(3):
        await put(store)
    today = WEEK.end + timedelta(days=201)
    dropped = [
        await store.write(lambda tx: Readings(tx).drop_old_pages(today, 2)) for _ in range(3)
    ]
    assert dropped == [2, 1, 0]
