"""Leases of every queue: one holder at a time, and no writes after losing a lease."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, Executable, Table, event, select

from bot.answers.model import InquiryState, PublicationState
from bot.answers.publication_store import Publications
from bot.answers.store import Inquiries
from bot.inbox.store import Inbox, MissedMessages
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptState
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.outbox.model import DeliveryKind, DeliveryState, delivered
from bot.outbox.store import Outbox
from bot.pulls.store.pull_requests import Previews, PullRequests
from bot.store import Claimer, LeaseLost, Store, Transaction
from bot.store.database import Database
from bot.visitors.model.questions import QuestionState
from bot.visitors.store import Questions
from tests import schema as s
from tests.builders import claim_deliveries, claimer, execute, rows_of
from tests.store.stock import fill

LEASE_SECONDS = 90.0
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
FREE: dict[str, Any] = {"claimed_by": None, "claimed_until": None}


@dataclass(frozen=True)
class Queue:
    """A queue with its functions to claim and settle a row."""

    table: Table
    claim: Callable[[Transaction, Claimer], Any]
    settle: Callable[[Transaction, Any, str], Any]
    due: dict[str, Any]
    """The values of a due row."""


def _prompt_to(step: Callable[[Prompt], Prompt]) -> Callable[[Transaction, Any, str], None]:
    return lambda tx, one, owner: Prompts(tx).save(one, step(one), owner=owner)


def _failed(job: TrackedJob) -> TrackedJob:
    return lifecycle.iteration_ended(job, JobState.FAILED, LONG_AGO, pr_link=None)


QUEUES = {
    "new prompts": Queue(
        s.prompts,
        lambda tx, who: Prompts(tx).claim_new(who, 1),
        _prompt_to(lambda prompt: lifecycle.prompt_prepared(prompt, "text")),
        {"state": PromptState.NEW},
    ),
    "abandoned prompts": Queue(
        s.prompts,
        lambda tx, who: Prompts(tx).claim_abandoned(who, 1),
        _prompt_to(lifecycle.prompt_unconfirmed),
        {"state": PromptState.SENDING},
    ),
    "polls": Queue(
        s.jobs,
        lambda tx, who: Jobs(tx).claim_due(who, 1),
        lambda tx, one, owner: Jobs(tx).save(one, _failed(one), owner=owner),
        {"state": JobState.WORKING, "poll_at": LONG_AGO},
    ),
    "pull requests": Queue(
        s.pull_requests,
        lambda tx, who: PullRequests(tx).claim_due(who, 1),
        lambda tx, one, owner: PullRequests(tx).save(one, replace(one, poll_at=None), owner=owner),
        {"poll_at": LONG_AGO},
    ),
    "previews": Queue(
        s.previews,
        lambda tx, who: Previews(tx).claim_due(who, 1),
        lambda tx, one, owner: Previews(tx).save(one, replace(one, due_at=None), owner=owner),
        {"due_at": LONG_AGO},
    ),
    "deliveries": Queue(
        s.deliveries,
        lambda tx, who: claim_deliveries(tx, who, 1),
        lambda tx, one, owner: Outbox(tx).save(one, delivered(one, LONG_AGO, None), owner=owner),
        {"state": DeliveryState.PENDING, "kind": DeliveryKind.PRIVATE},
    ),
    "questions": Queue(
        s.questions,
        lambda tx, who: Questions(tx).claim(who, 1),
        lambda tx, one, owner: Questions(tx).settle(
            replace(one, state=QuestionState.ANSWERED), owner
        ),
        {"state": QuestionState.WAITING},
    ),
    "inquiries": Queue(
        s.inquiries,
        lambda tx, who: Inquiries(tx).claim(who, 1),
        lambda tx, one, owner: Inquiries(tx).save(
            one, replace(one, state=InquiryState.ANSWERED), owner=owner
        ),
        {"state": InquiryState.ASKED, "audience": "channel"},
    ),
    "publications": Queue(
        s.publications,
        lambda tx, who: Publications(tx).claim_due(who, 1),
        lambda tx, one, owner: Publications(tx).save(
            one, replace(one, state=PublicationState.LIVE), owner=owner
        ),
        {"state": PublicationState.AWAITED},
    ),
    "missed messages": Queue(
        s.missed_messages,
        lambda tx, who: MissedMessages(tx).claim(who),
        lambda tx, one, owner: MissedMessages(tx).put_back(one, owner, datetime.now(UTC)),
        {"due_at": LONG_AGO},
    ),
    "messages": Queue(
        s.inbox,
        lambda tx, who: Inbox(tx).claim(who, 5),
        lambda tx, one, owner: Inbox(tx).save(one, owner, due_at=datetime.now(UTC)),
        {"due_at": LONG_AGO, "state": "new"},
    ),
    "held prompts": Queue(
        s.prompts,
        lambda tx, who: Prompts(tx).claim_held(who, 5),
        lambda tx, one, owner: Prompts(tx).keep_held(one, datetime.now(UTC), owner),
        {"held_until": LONG_AGO, "state": PromptState.WAITING},
    ),
}


@pytest.fixture
async def stock(store: Store, database: Database) -> Store:
    """Return a store with one row in each queue."""
    await fill(database, jobs=1, prompts=1, deliveries=6, questions=1, messages=1, looks=1)
    # One delivery of the thread is enough.
    await execute(store, s.deliveries.delete().where(s.deliveries.c.seq > 1))
    return store


async def each_queue(stock: Store) -> AsyncIterator[Queue]:
    """Yield each queue after making its row due."""
    for name, queue in QUEUES.items():
        await execute(stock, queue.table.update().values(**queue.due, **FREE))
        print(name)
        yield queue


async def take(store: Store, queue: Queue, who: Claimer) -> list[Any]:
    return list(await store.write(lambda tx: queue.claim(tx, who)))


async def settle(store: Store, queue: Queue, one: Any, owner: str) -> None:
    await store.write(lambda tx: queue.settle(tx, one, owner))


async def row(store: Store, queue: Queue) -> dict[str, Any]:
    [values] = await rows_of(store, select(queue.table))
    return dict(values)


async def test_claimed_rows_cannot_be_claimed_until_the_lease_ends(stock: Store) -> None:
    now = datetime.now(UTC)
    lapsed = now + timedelta(seconds=LEASE_SECONDS + 0.001)
    async for queue in each_queue(stock):
        assert len(await take(stock, queue, claimer("one", now, LEASE_SECONDS))) == 1
        for seconds in (0.0, LEASE_SECONDS - 0.001):
            at = now + timedelta(seconds=seconds)
            assert await take(stock, queue, claimer("two", at, LEASE_SECONDS)) == []
            assert await take(stock, queue, claimer("one", at, LEASE_SECONDS)) == [], (
                "nor by the holder"
            )
        assert len(await take(stock, queue, claimer("two", lapsed, LEASE_SECONDS))) == 1


async def test_holder_of_a_lost_lease_cannot_write(stock: Store) -> None:
    now = datetime.now(UTC)
    lapsed = now + timedelta(seconds=LEASE_SECONDS + 1)
    async for queue in each_queue(stock):
        [mine] = await take(stock, queue, claimer("slow", now, LEASE_SECONDS))
        [current] = await take(stock, queue, claimer("quick", lapsed, LEASE_SECONDS))
        between = await row(stock, queue)
        with pytest.raises(LeaseLost):
            await settle(stock, queue, mine, "slow")
        assert await row(stock, queue) == between
        await settle(stock, queue, current, "quick")
        settled = await row(stock, queue)
        assert settled["claimed_by"] is None
        with pytest.raises(LeaseLost):
            await settle(stock, queue, mine, "slow")
        assert await row(stock, queue) == settled


async def test_late_holder_can_write_if_nobody_claimed_the_row(stock: Store) -> None:
    """A single slow process must not lose its own rows."""
    async for queue in each_queue(stock):
        [mine] = await take(stock, queue, claimer("slow", datetime.now(UTC), lease_seconds=0.0))
        held = await row(stock, queue)
        await settle(stock, queue, mine, "slow")
        settled = await row(stock, queue)
        assert settled["claimed_by"] is None
        assert {**settled, **FREE} != {**held, **FREE}


async def test_stopping_process_releases_all_rows_but_uncertain_sends(stock: Store) -> None:
    with_leases = {table for table in s.metadata.tables.values() if "claimed_by" in table.c}
    assert with_leases == {queue.table for queue in QUEUES.values()}, "no queue is left out here"
    async for queue in each_queue(stock):
        assert await take(stock, queue, claimer("one", datetime.now(UTC), LEASE_SECONDS))
        assert await stock.release("one") == []
        stopped = await row(stock, queue)
        assert stopped["claimed_by"] == ("one" if stopped.get("state") == "sending" else None)


async def test_many_claimers_at_once_share_each_queue_without_overlap(
    store: Store, another: Store, database: Database
) -> None:
    await fill(database, jobs=12, prompts=36, deliveries=72, questions=12, messages=12, looks=12)
    async for queue in each_queue(store):
        key = next(iter(queue.table.primary_key.columns))
        claimed: list[Any] = []

        async def work(
            owner: str, own: Store, queue: Queue = queue, claimed: list[Any] = claimed
        ) -> None:
            taken_at = datetime.now(UTC)
            while got := await take(own, queue, claimer(owner, taken_at, LEASE_SECONDS)):
                claimed += got

        await asyncio.gather(*(work(f"owner {n}", store if n % 2 else another) for n in range(4)))
        held = await rows_of(store, select(key).where(queue.table.c.claimed_by.is_not(None)))
        assert len(claimed) == len(held) > 1


@contextmanager
def executed() -> Iterator[list[Executable]]:
    """Yield the list of executed statements."""
    statements: list[Executable] = []

    def note(_connection: Connection, statement: Executable, *_: object) -> None:
        statements.append(statement)

    event.listen(Engine, "before_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_execute", note)


async def test_claims_reuse_their_statements(stock: Store) -> None:
    """Building a statement takes several times the processor time of running it."""
    now = datetime.now(UTC)
    lapsed = now + timedelta(seconds=LEASE_SECONDS + 1)
    lapsed_again = lapsed + (lapsed - now)
    async for queue in each_queue(stock):
        with executed() as first:
            assert await take(stock, queue, claimer("one", now, LEASE_SECONDS))
            assert await take(stock, queue, claimer("one", lapsed, LEASE_SECONDS))
        with executed() as second:
            assert await take(stock, queue, claimer("one", lapsed_again, LEASE_SECONDS))
        built = {id(statement) for statement in first}
        assert second
        assert [str(statement) for statement in second if id(statement) not in built] == []
