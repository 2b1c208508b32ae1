"""One look at all queues: it finds whatever a claim would find, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.model import DeliveryState, PromptState
from bot.store import Store
from bot.store import schema as s
from bot.store.due import Queue, due_queues
from tests.store.stock import fill

MINUTE = timedelta(minutes=1)
STOCKED = frozenset(Queue) - {Queue.REQUESTS}


async def _stock(engine: AsyncEngine) -> None:
    """A row that is due in every queue, but for requests."""
    await fill(engine, jobs=1, prompts=1, deliveries=6, snapshots=1, questions=1, digests=1)


async def _due(store: Store, after: timedelta = timedelta(0)) -> frozenset[Queue]:
    async with store.look() as tx:
        return await due_queues(tx.connection, datetime.now(UTC) + after)


async def test_nothing_is_due_in_an_empty_database(store: Store) -> None:
    assert await _due(store) == frozenset()


async def test_every_queue_with_a_row_that_is_due_is_found(store: Store, engine: AsyncEngine) -> None:
    await _stock(engine)
    assert await _due(store) == STOCKED
    async with engine.begin() as connection:
        await connection.execute(update(s.prompts).values(state=PromptState.NEW))
    assert await _due(store) == STOCKED - {Queue.PROMPTS} | {Queue.REQUESTS}


async def test_nothing_is_due_before_its_time(store: Store, engine: AsyncEngine) -> None:
    await _stock(engine)
    assert await _due(store, -MINUTE) == frozenset()


async def test_what_somebody_holds_is_not_due_until_the_lease_runs_out(
    store: Store, engine: AsyncEngine
) -> None:
    await _stock(engine)
    async with engine.begin() as connection:
        for table in (s.jobs, s.prompts, s.deliveries, s.snapshots, s.questions):
            held = {"claimed_by": "another", "claimed_until": datetime.now(UTC) + MINUTE}
            await connection.execute(update(table).values(**held))
    assert await _due(store) == frozenset()
    assert await _due(store, 2 * MINUTE) == STOCKED


async def test_what_a_dead_process_was_sending_is_due_again(store: Store, engine: AsyncEngine) -> None:
    await _stock(engine)
    async with engine.begin() as connection:
        await connection.execute(update(s.deliveries).values(state=DeliveryState.SENDING))
        await connection.execute(update(s.prompts).values(state=PromptState.SENDING))
    assert await _due(store, -MINUTE) == {Queue.DELIVERIES, Queue.PROMPTS}
