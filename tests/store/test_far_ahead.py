"""Times beyond the range of their column, from a clock that ran ahead, count as passed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from sqlalchemy import update

from bot.jobs.model.quota import BackOff
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import BackOffs
from bot.store import Store
from bot.store.database import Database, ServerClock
from bot.store.queues import QUEUE_TABLES, QueueTable, find_due
from bot.store.schema import Due
from tests.builders import PROJECT, claimer, execute
from tests.store.conftest import PreparedDatabases
from tests.store.stock import LEASED, fill

MINUTE = timedelta(minutes=1)
STOCKED = [
    line
    for line in QUEUE_TABLES
    if line.due is not None and line.queue not in ("requests", "digests", "abandoned")
]


async def due(store: Store, now: datetime) -> frozenset[str]:
    return (await store.read(lambda tx: find_due(tx.connection, now))).queues


async def stock(database: Database) -> None:
    await fill(database, jobs=1, prompts=1, deliveries=6, questions=1, messages=1, looks=1)


@pytest.mark.parametrize("line", STOCKED, ids=lambda line: f"{line.queue} {line.state or ''}")
async def test_row_is_due_when_its_time_is_too_far_ahead(
    store: Store, database: Database, line: QueueTable
) -> None:
    await stock(database)
    now, column = datetime.now(UTC), line.due
    assert column is not None
    longest = cast("Due", column.type).longest
    values: dict[str, str] = {} if line.state is None else {"state": line.state}
    await execute(store, update(line.table).values({column.key: now + longest - MINUTE, **values}))
    assert line.queue not in await due(store, now)
    await execute(store, update(line.table).values({column.key: now + longest + MINUTE}))
    assert line.queue in await due(store, now)


async def test_lease_that_ends_too_far_ahead_is_over(store: Store, database: Database) -> None:
    await stock(database)
    now = datetime.now(UTC)
    free = await due(store, now)
    for until, expected in ((now + 4 * MINUTE, frozenset()), (now + 6 * MINUTE, free)):
        for table in LEASED:
            await execute(store, update(table).values(claimed_by="another", claimed_until=until))
        assert await due(store, now) == expected
    assert await store.write(lambda tx: Jobs(tx).claim_due(claimer(at=now), 1))


async def test_back_off_that_ends_too_far_ahead_holds_no_poll(
    store: Store, database: Database
) -> None:
    await stock(database)
    now = datetime.now(UTC)
    for hours, polls in ((1, 0), (2, 1)):
        back_off = BackOff("Unavailable", now, now + timedelta(hours=hours))
        assert back_off.lasts(now) is (polls == 0)
        await store.write(lambda tx, put=back_off: BackOffs(tx).put(PROJECT, put))  # type: ignore[misc]
        assert len(await store.write(lambda tx: Jobs(tx).claim_due(claimer(at=now), 1))) == polls


async def test_next_due_time_is_found_in_any_queue(store: Store, database: Database) -> None:
    await stock(database)
    now = datetime.now(UTC).replace(microsecond=0)
    columns = list(dict.fromkeys(line.due for line in STOCKED if line.due is not None))
    for column in columns:
        await execute(store, update(column.table).values({column: now + 9 * MINUTE}))
    for count, column in enumerate(columns, 1):
        at = now + 9 * MINUTE - count * MINUTE / 2
        await execute(store, update(column.table).values({column: at}))
        due_next = await store.read(lambda tx: find_due(tx.connection, now))
        assert (due_next.queues, due_next.next_at) == (frozenset(), at)


async def test_clock_of_the_server_is_read_and_goes_on(
    prepared_databases: PreparedDatabases,
) -> None:
    with prepared_databases.one() as url:
        database = Database.open(url)
        clock = ServerClock(database)
        await clock.read()
        first = clock()
        assert abs(first - datetime.now(UTC)) < timedelta(seconds=30)
        assert clock() > first
        await database.close()
