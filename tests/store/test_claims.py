"""The contract of claiming, on both databases."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from bot.ids import JobNumber
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptState
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import AnalyticsQuota
from bot.jobs.store.prompts import Prompts
from bot.store import Store, Transaction
from bot.store.database import Database
from bot.visitors.store import Questions
from tests.builders import (
    NOW,
    PROJECT,
    add_job,
    add_prompt,
    claim_deliveries,
    claim_waiting,
    claimer,
    set_job,
)
from tests.pause import Pause
from tests.store.stock import fill


async def state_of(store: Store, number: JobNumber) -> JobState:
    return await store.read(lambda tx: Jobs(tx).get_or_raise(number).state)


async def test_transaction_that_writes_is_alone(store: Store, another: Store) -> None:
    """A follow-up is stored before its job is refused, and ends with it, or finds the job refused."""
    number, pause = await add_job(store), Pause()

    def follow_up(tx: Transaction) -> JobState:
        pause()
        return Jobs(tx).get_or_raise(number).state

    following_up = asyncio.create_task(store.write(follow_up))
    await pause.reached()
    refusing = asyncio.create_task(
        another.write(lambda tx: set_job(tx, number, state=JobState.REFUSED))
    )
    await asyncio.sleep(0.1)
    assert not refusing.done()
    pause.end()
    assert await following_up is JobState.WAITING
    await refusing
    assert await state_of(store, number) is JobState.REFUSED


async def test_claim_takes_no_more_rows_than_its_limit(store: Store, database: Database) -> None:
    """PostgreSQL plans claims badly without statistics: on tables that have just been filled."""
    await fill(database, jobs=100, prompts=90, deliveries=60, questions=100)
    who = claimer(at=datetime.now(UTC))

    def claim_all(tx: Transaction) -> None:
        assert len(Jobs(tx).claim_due(who, 4)) == 4
        assert len(claim_waiting(tx, who, 4)) == 4
        assert len(Questions(tx).claim(who, 4)) == 4
        sent = Counter(one.what.kind for one in claim_deliveries(tx, who, 4))
        assert sent.total() == 4

    await store.write(claim_all)


def _take(pause: Callable[[], None], tx: Transaction) -> None:
    pause()
    claim_waiting(tx, claimer("one"), 1)
    AnalyticsQuota(tx).take(PROJECT, 3, NOW)


def _uses(tx: Transaction) -> int:
    return len(Prompts(tx).uses(PROJECT, NOW))


def _calls(tx: Transaction) -> int:
    return AnalyticsQuota(tx).read(PROJECT, 10, NOW).used


async def test_count_and_use_of_a_limit_are_one_step(store: Store, another: Store) -> None:
    """Otherwise several processes would use the last free place."""
    number, pause = await add_job(store, status_ts="1.1"), Pause()
    await add_prompt(store, number, state=PromptState.WAITING)
    taking = asyncio.create_task(store.write(partial(_take, pause)))
    await pause.reached()
    counting = asyncio.gather(another.write(_uses), another.write(_calls))
    await asyncio.sleep(0.1)
    pause.end()
    await taking
    assert tuple(await counting) == (1, 3)
