"""The sweep sets times to now that a clock wrote while it was ahead."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from sqlalchemy import update

from bot.jobs.model.prompts import PromptState
from bot.jobs.model.quota import BackOff
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import BackOffs, Quota
from bot.jobs.store.tables import prompts
from bot.outbox.model import DeliveryState
from bot.outbox.store import Outbox, deliveries
from bot.store import Store
from bot.store.database import Database, ServerClock
from bot.store.due_times import DueTimes
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


async def sweep(store: Store, now: datetime) -> int:
    is_needed = await store.read(lambda tx: DueTimes(tx).are_too_far_ahead(now))
    swept = await store.write(lambda tx: DueTimes(tx).sweep(now))
    assert is_needed is (swept > 0)
    return swept


async def due(store: Store, now: datetime) -> frozenset[str]:
    return (await store.read(lambda tx: find_due(tx.connection, now))).queues


async def stock(database: Database) -> None:
    await fill(database, jobs=1, prompts=1, deliveries=6, questions=1, messages=1, looks=1)


@pytest.mark.parametrize("line", STOCKED, ids=lambda line: f"{line.queue} {line.state or ''}")
async def test_row_is_due_after_the_sweep_when_its_time_is_too_far_ahead(
    store: Store, database: Database, line: QueueTable
) -> None:
    await stock(database)
    now = datetime.now(UTC)
    column = line.due
    assert column is not None
    longest = cast("Due", column.type).longest
    values: dict[str, str] = {} if line.state is None else {"state": line.state}
    await execute(store, update(line.table).values({column.key: now + longest - MINUTE, **values}))
    assert await sweep(store, now) == 0
    assert line.queue not in await due(store, now)
    await execute(store, update(line.table).values({column.key: now + longest + MINUTE}))
    assert line.queue not in await due(store, now)
    assert await sweep(store, now) > 0
    assert line.queue in await due(store, now)


async def test_lease_that_ends_too_far_ahead_is_over_after_the_sweep(
    store: Store, database: Database
) -> None:
    await stock(database)
    now = datetime.now(UTC)
    free = await due(store, now)
    for until, expected in ((now + 4 * MINUTE, frozenset()), (now + 6 * MINUTE, free)):
        for table in LEASED:
            await execute(store, update(table).values(claimed_by="another", claimed_until=until))
        assert await due(store, now) == frozenset()
        await sweep(store, now)
        assert await due(store, now) == expected
    assert await store.write(lambda tx: Jobs(tx).claim_due(claimer(at=now), 1))


async def test_prompt_that_was_being_sent_is_free_after_the_sweep(
    store: Store, database: Database
) -> None:
    await stock(database)
    now = datetime.now(UTC)
    await execute(
        store,
        update(prompts).values(
            state=PromptState.SENDING, claimed_by="another", claimed_until=now + 6 * MINUTE
        ),
    )
    assert "abandoned" not in await due(store, now)
    await sweep(store, now)
    assert "abandoned" in await due(store, now)


async def test_delivery_that_was_being_sent_is_ready_after_the_sweep(
    store: Store, database: Database
) -> None:
    """A process whose clock was ahead wrote its time and took it, and was killed."""
    await stock(database)
    now = datetime.now(UTC)
    ahead = now + timedelta(hours=9)
    await execute(
        store,
        update(deliveries).values(
            state=DeliveryState.SENDING, due_at=ahead, claimed_by="another", claimed_until=ahead
        ),
    )
    assert not await store.read(lambda tx: Outbox(tx).ready(now, set()))
    await sweep(store, now)
    assert await store.read(lambda tx: Outbox(tx).ready(now, set()))


async def test_back_off_that_ends_too_far_ahead_holds_no_poll_after_the_sweep(
    store: Store, database: Database
) -> None:
    await stock(database)
    now = datetime.now(UTC)
    for hours, polls in ((1, 0), (2, 1)):
        back_off = BackOff("Unavailable", now, now + timedelta(hours=hours))
        await store.write(lambda tx, put=back_off: BackOffs(tx).put(PROJECT, put))  # type: ignore[misc]
        assert await store.write(lambda tx: Jobs(tx).claim_due(claimer(at=now), 1)) == []
        assert await sweep(store, now) == polls
        assert len(await store.write(lambda tx: Jobs(tx).claim_due(claimer(at=now), 1))) == polls


async def test_limit_that_ends_too_far_ahead_is_over_after_the_sweep(store: Store) -> None:
    now = datetime.now(UTC)
    await store.write(lambda tx: Quota(tx).mark_exhausted(PROJECT, now + timedelta(hours=2)))
    assert await store.read(lambda tx: Quota(tx).exhausted_until(PROJECT, now))
    await sweep(store, now)
    assert await store.read(lambda tx: Quota(tx).exhausted_until(PROJECT, now)) is None


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
