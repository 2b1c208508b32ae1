"""A lease, for every queue: nobody takes what is held; who was too slow writes nothing over who took it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Table, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.model import (
    Counts,
    DeliveryKind,
    DeliveryState,
    DigestState,
    JobState,
    Priority,
    PromptState,
    QuestionState,
    SnapshotState,
)
from bot.store import Claimer, LeaseLost, Store, Transaction
from bot.store import schema as s
from bot.store.snapshots import ReadPage
from tests.builders import claim_waiting, claimer
from tests.store.stock import fill

LEASE_SECONDS = 90.0
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
FREE: dict[str, Any] = {"claimed_by": None, "claimed_until": None}


@dataclass(frozen=True)
class Queue:
    """How a queue is claimed and settled, as the work does it; ``due`` is how a row stands that is due."""

    table: Table
    claim: Callable[[Transaction, Claimer], Awaitable[Any]]
    settle: Callable[[Transaction, Any, str], Awaitable[Any]]
    due: dict[str, Any]


async def _store(tx: Transaction, snapshot: Any, owner: str) -> None:
    page = ReadPage(Counts(2, 1, 3), [("/a", Counts(2, 1, 3))], datetime.now(UTC))
    await tx.snapshots.store(snapshot, page, owner=owner, next_offset=250, is_last=True)


def _prompt_to(state: PromptState) -> Callable[[Transaction, Any, str], Awaitable[None]]:
    return lambda tx, one, owner: tx.prompts.change(one.id, owner=owner, state=state, **FREE)


QUEUES = {
    "new prompts": Queue(
        s.prompts,
        lambda tx, who: tx.prompts.claim_new(who, 1),
        _prompt_to(PromptState.WAITING),
        {"state": PromptState.NEW},
    ),
    "prompts": Queue(
        s.prompts,
        lambda tx, who: claim_waiting(tx, who, 1),
        _prompt_to(PromptState.SENDING),
        {"state": PromptState.WAITING},
    ),
    "abandoned prompts": Queue(
        s.prompts,
        lambda tx, who: tx.prompts.claim_abandoned(who, 1),
        _prompt_to(PromptState.UNCONFIRMED),
        {"state": PromptState.SENDING},
    ),
    "polls": Queue(
        s.jobs,
        lambda tx, who: tx.jobs.claim_due(who, 1),
        lambda tx, one, owner: tx.jobs.change(
            one[0].number, owner=owner, state=JobState.FAILED, poll_at=None, **FREE
        ),
        {"state": JobState.WORKING, "poll_at": LONG_AGO},
    ),
    "deliveries": Queue(
        s.deliveries,
        lambda tx, who: tx.outbox.claim(who, 1, 0.0),
        lambda tx, one, owner: tx.outbox.settle(
            one.id, owner=owner, now=datetime.now(UTC), state=DeliveryState.SENT
        ),
        {"state": DeliveryState.PENDING, "kind": DeliveryKind.PRIVATE},
    ),
    "snapshots": Queue(
        s.snapshots,
        lambda tx, who: tx.snapshots.claim(who, 1, Priority.AHEAD),
        _store,
        {"state": SnapshotState.REQUESTED},
    ),
    "snapshots that fail": Queue(
        s.snapshots,
        lambda tx, who: tx.snapshots.claim(who, 1, Priority.AHEAD),
        lambda tx, one, owner: tx.snapshots.settle(one.id, owner=owner, state=SnapshotState.FAILED),
        {"state": SnapshotState.REQUESTED},
    ),
    "questions": Queue(
        s.questions,
        lambda tx, who: tx.questions.claim(who, 1),
        lambda tx, one, owner: tx.questions.change(one.id, owner=owner, state=QuestionState.ANSWERED, **FREE),
        {"state": QuestionState.WAITING},
    ),
    "digests": Queue(
        s.digests,
        lambda tx, who: tx.digests.claim(who, 1),
        lambda tx, one, owner: tx.digests.settle(one.id, owner=owner, state=DigestState.TOLD),
        {"state": DigestState.GATHERING},
    ),
}


@pytest.fixture
async def stock(engine: AsyncEngine) -> AsyncEngine:
    """A database with one row in each queue."""
    await fill(engine, jobs=1, prompts=1, deliveries=6, snapshots=1, questions=1, digests=1)
    async with engine.begin() as connection:
        # Of the thread one delivery is enough.
        await connection.execute(s.deliveries.delete().where(s.deliveries.c.seq > 1))
    return engine


async def each_queue(stock: AsyncEngine) -> AsyncIterator[Queue]:
    """One after the other, with its row due."""
    for name, queue in QUEUES.items():
        async with stock.begin() as connection:
            await connection.execute(queue.table.update().values(**queue.due, **FREE))
        print(name)
        yield queue


async def take(store: Store, queue: Queue, who: Claimer) -> list[Any]:
    async with store.transaction() as tx:
        return list(await queue.claim(tx, who))


async def row(store: Store, queue: Queue) -> dict[str, Any]:
    async with store.look() as tx:
        return dict((await tx.connection.execute(select(queue.table))).mappings().one())


async def test_what_is_held_is_taken_by_nobody_until_the_lease_runs_out(
    store: Store, stock: AsyncEngine
) -> None:
    now = datetime.now(UTC)
    lapsed = now + timedelta(seconds=LEASE_SECONDS + 0.001)
    async for queue in each_queue(stock):
        assert len(await take(store, queue, claimer("one", now, LEASE_SECONDS))) == 1
        for seconds in (0.0, LEASE_SECONDS - 0.001):
            at = now + timedelta(seconds=seconds)
            assert await take(store, queue, claimer("two", at, LEASE_SECONDS)) == []
            assert await take(store, queue, claimer("one", at, LEASE_SECONDS)) == [], "nor by the holder"
        assert len(await take(store, queue, claimer("two", lapsed, LEASE_SECONDS))) == 1


async def test_who_was_slower_than_the_lease_writes_nothing_over_who_took_it(
    store: Store, stock: AsyncEngine
) -> None:
    now = datetime.now(UTC)
    lapsed = now + timedelta(seconds=LEASE_SECONDS + 1)

    async def settle(queue: Queue, one: Any, owner: str) -> None:
        async with store.transaction() as tx:
            await queue.settle(tx, one, owner)

    async for queue in each_queue(stock):
        [mine] = await take(store, queue, claimer("slow", now, LEASE_SECONDS))
        [taken] = await take(store, queue, claimer("quick", lapsed, LEASE_SECONDS))
        between = await row(store, queue)
        with pytest.raises(LeaseLost):
            await settle(queue, mine, "slow")
        assert await row(store, queue) == between
        await settle(queue, taken, "quick")
        settled = await row(store, queue)
        assert settled["claimed_by"] is None
        with pytest.raises(LeaseLost):
            await settle(queue, mine, "slow")
        assert await row(store, queue) == settled


async def test_who_was_slow_and_was_not_overtaken_has_the_word(store: Store, stock: AsyncEngine) -> None:
    """A single process is never in its own way, however slow a round was."""
    async for queue in each_queue(stock):
        [mine] = await take(store, queue, claimer("slow", datetime.now(UTC), lease_seconds=0.0))
        held = await row(store, queue)
        async with store.transaction() as tx:
            await queue.settle(tx, mine, "slow")
        settled = await row(store, queue)
        assert settled["claimed_by"] is None
        assert settled["state"] != held["state"]


async def test_many_jobs_are_put_back_without_those_that_somebody_else_took(
    store: Store, engine: AsyncEngine
) -> None:
    await fill(engine, jobs=3, prompts=1, deliveries=6, snapshots=1, questions=1, digests=1)
    now = datetime.now(UTC)
    async with store.transaction() as tx:
        mine = [job.number for job, _ in await tx.jobs.claim_due(claimer("slow", now), 3)]
    later, next_look_at = now + timedelta(seconds=61), now + timedelta(hours=1)
    async with store.transaction() as tx:
        [(taken, _)] = await tx.jobs.claim_due(claimer("quick", later), 1)
        await tx.jobs.reschedule([(number, next_look_at) for number in mine], "slow")
    async with store.look() as tx:
        held = select(s.jobs.c.number).where(s.jobs.c.claimed_by == "quick", s.jobs.c.poll_at < later)
        assert list((await tx.connection.execute(held)).scalars()) == [taken.number]
        put_back = select(s.jobs.c.number).where(s.jobs.c.claimed_by.is_(None))
        left = [number for number in mine if number != taken.number]
        assert sorted((await tx.connection.execute(put_back)).scalars()) == left
