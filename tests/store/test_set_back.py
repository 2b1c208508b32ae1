"""A clock that was ahead and is set back: what lies ahead is moved back by as much, whatever the column."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from sqlalchemy import Table, select, update

from bot.model import lifecycle
from bot.model.ids import MessageTs
from bot.model.outbox import DeliveryState
from bot.model.questions import SubscriptionState, Weekday
from bot.model.quota import BackOff
from bot.store import Store
from bot.store import schema as s
from bot.store.columns import UtcDateTime
from bot.store.database import Database
from bot.store.heartbeats import TOLERATED
from bot.store.queues import Queue, find_due
from tests.builders import PROJECT, claimer, execute, origin, rows_of
from tests.store.stock import LEASED, fill

HOUR = timedelta(hours=1)
PLANNED = {"remind_at", "next_run_at"}


async def _beat(store: Store, at: datetime, process: str = "one") -> None:
    await store.write(lambda tx: tx.heartbeats.beat(process, at))


async def _due(store: Store, at: datetime) -> frozenset[Queue]:
    return (await store.read(lambda tx: find_due(tx.connection, at))).queues


async def _stock(store: Store, database: Database) -> None:
    await fill(database, jobs=1, prompts=1, deliveries=6, snapshots=1, questions=1, unread=1, looks=1)
    now = datetime.now(UTC)
    await store.write(lambda tx: tx.quota.mark_exhausted(PROJECT, now))
    await store.write(lambda tx: tx.budget.mark_exhausted(PROJECT, now))
    await store.write(lambda tx: tx.budget.take(PROJECT, 1, now))
    await store.write(lambda tx: tx.back_offs.put(PROJECT, BackOff("Unavailable", now, now)))
    await store.write(lambda tx: tx.paces.lock_methods(now, 60.0))


def _times(table: Table) -> list[str]:
    return [
        column.key for column in table.c if isinstance(column.type, UtcDateTime) and column.key not in PLANNED
    ]


async def test_every_time_that_lies_ahead_is_moved_back_by_as_much(store: Store, database: Database) -> None:
    await _stock(store, database)
    now = datetime.now(UTC)
    ahead = [each for each in s.metadata.sorted_tables if _times(each) and each.name != "audit"]
    for table in ahead:
        await execute(store, update(table).values(dict.fromkeys(_times(table), now + 2 * HOUR)))
    await _beat(store, now + 2 * HOUR)
    moved = await store.write(lambda tx: tx.heartbeats.move_back(now))
    assert moved == 2 * HOUR
    found = {
        (table.name, name): row[name]
        for table in ahead
        for row in await rows_of(store, select(table))
        for name in _times(table)
    }
    assert {place for place, at in found.items() if at and at > now} == set()
    assert len({table for table, _ in found}) >= len(LEASED) + 5


async def test_what_was_due_when_the_clock_was_ahead_is_due_at_once_when_it_is_set_back(
    store: Store, database: Database
) -> None:
    await _stock(store, database)
    now = datetime.now(UTC)
    due, held = now + HOUR, {"claimed_by": "killed", "claimed_until": now + HOUR + timedelta(seconds=5)}
    for table in LEASED:
        name = {s.jobs: "poll_at", s.pull_requests: "look_at"}.get(table, "due_at")
        await execute(store, update(table).values({name: due, **held}))
    await _beat(store, due)
    assert await _due(store, now) == {Queue.AHEAD}
    await store.write(lambda tx: tx.heartbeats.move_back(now))
    later = now + timedelta(seconds=10)
    assert await _due(store, later) == frozenset(Queue) - {Queue.REQUESTS, Queue.DIGESTS, Queue.AHEAD}


async def test_times_that_lie_ahead_for_good_reason_stay(store: Store, database: Database) -> None:
    await _stock(store, database)
    now = datetime.now(UTC)
    await execute(store, update(s.jobs).values(poll_at=now + 3 * HOUR, claimed_until=now + HOUR / 60))
    before = await rows_of(store, select(s.jobs))
    await _beat(store, now + TOLERATED)
    assert Queue.AHEAD not in await _due(store, now)
    assert await store.write(lambda tx: tx.heartbeats.move_back(now)) is None
    assert await rows_of(store, select(s.jobs)) == before


async def test_a_lease_taken_since_the_clock_was_set_back_is_not_cut_short(
    store: Store, database: Database
) -> None:
    await _stock(store, database)
    now = datetime.now(UTC)
    until = now + timedelta(seconds=90)
    await execute(store, update(s.prompts).values(claimed_by="one", claimed_until=until))
    await _beat(store, now + HOUR)
    await store.write(lambda tx: tx.heartbeats.move_back(now))
    assert [row["claimed_until"] for row in await rows_of(store, select(s.prompts))] == [until]


async def test_of_several_processes_that_see_the_clock_set_back_one_moves_the_times(
    store: Store, another: Store
) -> None:
    now = datetime.now(UTC)
    await _beat(store, now + HOUR, "one")
    await _beat(another, now + HOUR - timedelta(seconds=20), "two")
    assert await store.write(lambda tx: tx.heartbeats.move_back(now)) == HOUR
    assert await another.write(lambda tx: tx.heartbeats.move_back(now)) is None


async def test_a_clock_set_back_while_the_bot_is_stopped_is_noticed_at_its_next_start(store: Store) -> None:
    now = datetime.now(UTC)
    await _beat(store, now + HOUR, "one")
    await store.release("one")
    await _beat(store, now, "two")
    assert await _due(store, now) == {Queue.AHEAD}


async def test_a_process_that_goes_on_does_not_hide_that_the_clock_was_set_back(store: Store) -> None:
    now = datetime.now(UTC)
    await _beat(store, now + HOUR)
    await _beat(store, now)
    await store.try_writing("one", now)
    assert await store.write(lambda tx: tx.heartbeats.move_back(now)) == HOUR
    await _beat(store, now + timedelta(seconds=20))
    alive = await store.read(lambda tx: tx.heartbeats.last(now))
    assert alive == {"one": now + timedelta(seconds=20)}


@pytest.mark.parametrize("weeks", [0, 1, 5, 200])
async def test_a_subscription_planned_by_a_clock_far_ahead_comes_at_its_time_within_a_week(
    store: Store, weeks: int
) -> None:
    now = datetime.now(UTC)
    run_at = now + timedelta(days=3)
    wanted: dict[str, Any] = {"section": None, "weekday": Weekday.MONDAY, "at": time(9), "zone": "UTC"}
    await store.write(lambda tx: tx.subscriptions.put(origin("a"), project=PROJECT, now=now, **wanted))
    active: dict[str, Any] = {"state": SubscriptionState.ACTIVE}
    await execute(
        store, update(s.subscriptions).values(next_run_at=run_at + weeks * timedelta(days=7), **active)
    )
    await _beat(store, now + weeks * timedelta(days=7) + HOUR)
    await store.write(lambda tx: tx.heartbeats.move_back(now))
    assert {row["next_run_at"] for row in await rows_of(store, select(s.subscriptions))} == {run_at}


async def test_a_delivery_under_way_while_times_are_moved_back_is_settled_once(
    store: Store, database: Database
) -> None:
    await _stock(store, database)
    now = datetime.now(UTC)
    ahead = now + HOUR
    await _beat(store, ahead)
    under_way = await store.write(lambda tx: tx.outbox.claim(claimer("one", ahead), 1, 1.0))
    await store.write(lambda tx: tx.heartbeats.move_back(now))
    step = lifecycle.delivered(now, MessageTs("1.1"))
    await store.write(lambda tx: tx.outbox.settle(under_way[0], step, owner="one"))
    assert await store.write(lambda tx: tx.outbox.state_of(under_way[0].what.key)) is DeliveryState.SENT
