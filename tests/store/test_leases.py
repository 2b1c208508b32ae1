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
    Need,
    PromptState,
    QuestionState,
    SnapshotState,
)
from bot.store import Claimer, LeaseLost, Registry, Tables
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
    claim: Callable[[Tables, Claimer], Awaitable[Any]]
    settle: Callable[[Tables, Any, str], Awaitable[Any]]
    due: dict[str, Any]


async def _store(tables: Tables, snapshot: Any, owner: str) -> None:
    page = ReadPage(Counts(2, 1, 3), [("/a", Counts(2, 1, 3))], datetime.now(UTC))
    await tables.snapshots.store(snapshot, page, owner=owner, next_offset=250, is_last=True)


def _prompt_to(state: PromptState) -> Callable[[Tables, Any, str], Awaitable[None]]:
    return lambda tables, one, owner: tables.prompts.change(one.id, owner=owner, state=state, **FREE)


QUEUES = {
    "new prompts": Queue(
        s.prompts,
        lambda tables, who: tables.prompts.claim_new(who, 1),
        _prompt_to(PromptState.WAITING),
        {"state": PromptState.NEW},
    ),
    "prompts": Queue(
        s.prompts,
        lambda tables, who: claim_waiting(tables, who, 1),
        _prompt_to(PromptState.SENDING),
        {"state": PromptState.WAITING},
    ),
    "abandoned prompts": Queue(
        s.prompts,
        lambda tables, who: tables.prompts.claim_abandoned(who, 1),
        _prompt_to(PromptState.IN_DOUBT),
        {"state": PromptState.SENDING},
    ),
    "polls": Queue(
        s.jobs,
        lambda tables, who: tables.jobs.claim_due(who, 1),
        lambda tables, one, owner: tables.jobs.change(
            one[0].number, owner=owner, state=JobState.FAILED, poll_at=None, **FREE
        ),
        {"state": JobState.WORKING, "poll_at": LONG_AGO},
    ),
    "deliveries": Queue(
        s.deliveries,
        lambda tables, who: tables.deliveries.claim(who, 1, 0.0),
        lambda tables, one, owner: tables.deliveries.settle(
            one.id, owner=owner, now=datetime.now(UTC), state=DeliveryState.SENT
        ),
        {"state": DeliveryState.PENDING, "kind": DeliveryKind.PRIVATE},
    ),
    "snapshots": Queue(
        s.snapshots,
        lambda tables, who: tables.snapshots.claim(who, 1, Need.AHEAD),
        _store,
        {"state": SnapshotState.WANTED},
    ),
    "snapshots that fail": Queue(
        s.snapshots,
        lambda tables, who: tables.snapshots.claim(who, 1, Need.AHEAD),
        lambda tables, one, owner: tables.snapshots.settle(one.id, owner=owner, state=SnapshotState.FAILED),
        {"state": SnapshotState.WANTED},
    ),
    "questions": Queue(
        s.questions,
        lambda tables, who: tables.questions.claim(who, 1),
        lambda tables, one, owner: tables.questions.change(
            one.id, owner=owner, state=QuestionState.ANSWERED, **FREE
        ),
        {"state": QuestionState.WAITING},
    ),
    "digests": Queue(
        s.digests,
        lambda tables, who: tables.digests.claim(who, 1),
        lambda tables, one, owner: tables.digests.settle(one.id, owner=owner, state=DigestState.TOLD),
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


async def take(registry: Registry, queue: Queue, who: Claimer) -> list[Any]:
    async with registry.transaction() as tables:
        return list(await queue.claim(tables, who))


async def row(registry: Registry, queue: Queue) -> dict[str, Any]:
    async with registry.look() as tables:
        return dict((await tables.connection.execute(select(queue.table))).mappings().one())


async def test_what_is_held_is_taken_by_nobody_until_the_lease_runs_out(
    registry: Registry, stock: AsyncEngine
) -> None:
    now = datetime.now(UTC)
    lapsed = now + timedelta(seconds=LEASE_SECONDS + 0.001)
    async for queue in each_queue(stock):
        assert len(await take(registry, queue, claimer("one", now, LEASE_SECONDS))) == 1
        for seconds in (0.0, LEASE_SECONDS - 0.001):
            at = now + timedelta(seconds=seconds)
            assert await take(registry, queue, claimer("two", at, LEASE_SECONDS)) == []
            assert await take(registry, queue, claimer("one", at, LEASE_SECONDS)) == [], "nor by the holder"
        assert len(await take(registry, queue, claimer("two", lapsed, LEASE_SECONDS))) == 1


async def test_who_was_slower_than_the_lease_writes_nothing_over_who_took_it(
    registry: Registry, stock: AsyncEngine
) -> None:
    now = datetime.now(UTC)
    lapsed = now + timedelta(seconds=LEASE_SECONDS + 1)

    async def settle(queue: Queue, one: Any, owner: str) -> None:
        async with registry.transaction() as tables:
            await queue.settle(tables, one, owner)

    async for queue in each_queue(stock):
        [mine] = await take(registry, queue, claimer("slow", now, LEASE_SECONDS))
        [taken] = await take(registry, queue, claimer("quick", lapsed, LEASE_SECONDS))
        between = await row(registry, queue)
        with pytest.raises(LeaseLost):
            await settle(queue, mine, "slow")
        assert await row(registry, queue) == between
        await settle(queue, taken, "quick")
        settled = await row(registry, queue)
        assert settled["claimed_by"] is None
        with pytest.raises(LeaseLost):
            await settle(queue, mine, "slow")
        assert await row(registry, queue) == settled


async def test_who_was_slow_and_was_not_overtaken_has_the_word(
    registry: Registry, stock: AsyncEngine
) -> None:
    """A single process is never in its own way, however slow a round was."""
    async for queue in each_queue(stock):
        [mine] = await take(registry, queue, claimer("slow", datetime.now(UTC), lease_seconds=0.0))
        held = await row(registry, queue)
        async with registry.transaction() as tables:
            await queue.settle(tables, mine, "slow")
        settled = await row(registry, queue)
        assert settled["claimed_by"] is None
        assert settled["state"] != held["state"]


async def test_many_jobs_are_put_back_without_those_that_somebody_else_took(
    registry: Registry, engine: AsyncEngine
) -> None:
    await fill(engine, jobs=3, prompts=1, deliveries=6, snapshots=1, questions=1, digests=1)
    now = datetime.now(UTC)
    async with registry.transaction() as tables:
        mine = [job.number for job, _ in await tables.jobs.claim_due(claimer("slow", now), 3)]
    later, next_look_at = now + timedelta(seconds=61), now + timedelta(hours=1)
    async with registry.transaction() as tables:
        [(taken, _)] = await tables.jobs.claim_due(claimer("quick", later), 1)
        await tables.jobs.reschedule([(number, next_look_at) for number in mine], "slow")
    async with registry.look() as tables:
        held = select(s.jobs.c.number).where(s.jobs.c.claimed_by == "quick", s.jobs.c.poll_at < later)
        assert list((await tables.connection.execute(held)).scalars()) == [taken.number]
        put_back = select(s.jobs.c.number).where(s.jobs.c.claimed_by.is_(None))
        left = [number for number in mine if number != taken.number]
        assert sorted((await tables.connection.execute(put_back)).scalars()) == left
