"""One statement about all queues finds what a claim would find, and when more comes due."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from sqlalchemy import update

from bot.jobs.model.prompts import PromptState
from bot.store import Store
from bot.store.database import Database
from bot.store.queues import QUEUE_TABLES, DueQueues, find_due
from bot.visitors.model import Weekday
from bot.visitors.periods import WeeklyTime
from bot.visitors.store import Subscriptions
from tests import schema as s
from tests.builders import NOW, PROJECT, execute, origin
from tests.store.stock import LEASED, fill

MINUTE = timedelta(minutes=1)
WEEKLY = WeeklyTime(Weekday.MONDAY, time(9), "UTC")
STOCKED = frozenset(table.queue for table in QUEUE_TABLES) - {"requests", "abandoned", "digests"}


async def _stock(database: Database) -> None:
    """A row that is due in every queue, but for requests and subscriptions."""
    await fill(database, jobs=1, prompts=1, deliveries=6, snapshots=1, questions=1, unread=1, looks=1)


async def _find(store: Store, at: datetime) -> DueQueues:
    return await store.read(lambda tx: find_due(tx.connection, at))


async def _due(store: Store, after: timedelta = timedelta(0)) -> frozenset[str]:
    return (await _find(store, datetime.now(UTC) + after)).queues


async def test_each_queue_is_due_from_the_time_of_a_row(store: Store, database: Database) -> None:
    await _stock(database)
    assert await _due(store, -MINUTE) == frozenset()
    assert await _due(store) == STOCKED
    await execute(store, update(s.prompts).values(state=PromptState.NEW))
    await store.write(lambda tx: Subscriptions(tx).put(origin(), PROJECT, None, WEEKLY, NOW, NOW))
    assert await _due(store) == STOCKED - {"prompts"} | {"requests", "digests"}


async def test_what_somebody_holds_is_not_due_until_the_lease_runs_out(
    store: Store, database: Database
) -> None:
    await _stock(database)
    held = {"claimed_by": "another", "claimed_until": datetime.now(UTC) + MINUTE}
    for table in LEASED:
        await execute(store, update(table).values(**held))
    assert await _due(store) == frozenset()
    assert await _due(store, 2 * MINUTE) == STOCKED


async def test_what_comes_due_next_is_found_in_any_queue(store: Store, database: Database) -> None:
    await _stock(database)
    now = datetime.now(UTC).replace(microsecond=0)
    columns = [s.jobs.c.poll_at, *(table.c.due_at for table in (s.prompts, s.deliveries, s.snapshots))]
    columns += [
        s.questions.c.due_at,
        s.inquiries.c.due_at,
        s.conversations.c.due_at,
        s.pull_requests.c.look_at,
        s.previews.c.due_at,
    ]
    for column in columns:
        await execute(store, update(column.table).values({column: now + 10 * MINUTE}))
    assert await _find(store, now) == DueQueues(frozenset(), now + 10 * MINUTE)
    for minutes, column in enumerate(reversed(columns), 1):
        at = now + (10 - minutes) * MINUTE
        await execute(store, update(column.table).values({column: at}))
        assert await _find(store, now) == DueQueues(frozenset(), at)
