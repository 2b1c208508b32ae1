"""The contract of claiming, on both databases."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from bot.ids import JobNumber, MessageTs
from bot.model import lifecycle
from bot.model.jobs import JobState
from bot.model.prompts import Prompt, PromptKind, PromptState
from bot.model.quota import BackOff, Use
from bot.store import Claimer, Store, Transaction
from bot.store.database import Database
from bot.store.jobs import Jobs
from bot.store.limits import AnalyticsQuota, BackOffs, Quota
from bot.store.prompts import Prompts
from bot.store.questions import Questions
from bot.store.snapshots import Snapshots
from tests.builders import (
    ANA,
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

LATER = NOW + timedelta(seconds=61)


async def due(store: Store, who: Claimer, limit: int = 10) -> list[tuple[JobNumber, int]]:
    """Claim jobs that are due; return each one's number and misses."""
    claimed = await store.write(lambda tx: Jobs(tx).claim_due(who, limit))
    return [(job.number, job.misses) for job in claimed]


async def waiting(store: Store, who: Claimer) -> Sequence[Prompt]:
    """Claim prompts that wait."""
    return await store.write(lambda tx: claim_waiting(tx, who, 10))


async def state_of(store: Store, number: JobNumber) -> JobState:
    return await store.read(lambda tx: Jobs(tx).known(number).state)


async def test_the_most_overdue_poll_is_claimed_first_and_none_of_a_project_that_is_left_out(
    store: Store,
) -> None:
    overdue = [timedelta(seconds=seconds) for seconds in (1, 3, 2)]
    for seconds, late in enumerate(overdue):
        await add_job(store, root_ts=f"1.{seconds}", service_id=f"j{seconds}", poll_at=NOW - late)
    other = await add_job(store, root_ts="1.9", project="other", service_id="j9", poll_at=NOW)
    await add_job(store, root_ts="1.8", service_id="j8", poll_at=NOW + timedelta(seconds=1))
    await add_job(store, root_ts="1.7", service_id="j7")
    who = claimer()
    left_out = await store.write(lambda tx: Jobs(tx).claim_due(who, 10, besides=[PROJECT]))
    assert [job.number for job in left_out] == [other]
    assert [await due(store, who, 1) for _ in range(4)] == [[(2, 0)], [(3, 0)], [(1, 0)], []]


async def test_a_locked_job_changes_only_afterwards(store: Store, another: Store) -> None:
    """So a follow-up is either stored before its job is refused, and falls with it, or sees that it was."""
    number, pause = await add_job(store), Pause()

    def follow_up(tx: Transaction) -> JobState:
        Jobs(tx).lock(number)
        pause()
        return Jobs(tx).known(number).state

    following_up = asyncio.create_task(store.write(follow_up))
    await pause.reached()
    refusing = asyncio.create_task(another.write(lambda tx: set_job(tx, number, state=JobState.REFUSED)))
    await asyncio.sleep(0.1)
    assert not refusing.done()
    pause.end()
    assert await following_up is JobState.WAITING
    await refusing
    assert await state_of(store, number) is JobState.REFUSED


async def test_a_claim_takes_no_more_than_it_may(store: Store, database: Database) -> None:
    """PostgreSQL plans this badly where it has no statistics yet: on tables that have just been filled."""
    await fill(database, jobs=100, prompts=90, deliveries=60, snapshots=100, questions=100)
    who = claimer(at=datetime.now(UTC))

    def claim_all(tx: Transaction) -> None:
        assert len(Jobs(tx).claim_due(who, 4)) == 4
        assert len(claim_waiting(tx, who, 4)) == 4
        assert len(Snapshots(tx).claim(who, PROJECT, 4)) == 4
        assert len(Questions(tx).claim(who, 4)) == 4
        sent = Counter(one.what.kind for one in claim_deliveries(tx, who, 4))
        assert sent.total() == 4

    await store.write(claim_all)


async def test_a_project_on_hold_is_not_polled(store: Store) -> None:
    await add_job(store, root_ts="1.1", service_id="j1", poll_at=NOW)
    await store.write(
        lambda tx: BackOffs(tx).put(PROJECT, BackOff("Unavailable", NOW, NOW + timedelta(seconds=30)))
    )
    assert await due(store, claimer()) == []
    assert len(await due(store, claimer(at=LATER))) == 1


async def test_a_first_prompt_waits_for_its_thread(store: Store) -> None:
    number = await add_job(store)
    await add_prompt(store, number, state=PromptState.WAITING)
    assert await waiting(store, claimer()) == []
    await store.write(lambda tx: set_job(tx, number, root_ts=MessageTs("1.1")))
    assert len(await waiting(store, claimer())) == 1


async def test_a_follow_up_waits_for_the_one_before_it(store: Store) -> None:
    number = await add_job(store, root_ts="1.1", service_id="j1")
    first = await add_prompt(store, number, key="a", kind=PromptKind.FOLLOW_UP, state=PromptState.WAITING)
    second = await add_prompt(store, number, key="b", kind=PromptKind.FOLLOW_UP, state=PromptState.WAITING)
    [got] = await waiting(store, claimer())
    assert got.id == first
    await store.write(lambda tx: Prompts(tx).save(got, lifecycle.prompt_refused(got)))
    [after] = await waiting(store, claimer())
    assert after.id == second


async def test_uses_are_counted_from_the_last_hour(store: Store) -> None:
    number = await add_job(store, root_ts="1.1")
    await add_prompt(store, number, key="old", sent_at=NOW - timedelta(minutes=61))
    await add_prompt(store, number, key="new", sent_at=NOW - timedelta(minutes=59))
    assert await store.read(lambda tx: Prompts(tx).uses(PROJECT, NOW)) == [
        Use(ANA, NOW - timedelta(minutes=59))
    ]


async def test_what_is_about_to_be_sent_counts_as_a_use(store: Store) -> None:
    number = await add_job(store, root_ts="1.1")
    await add_prompt(store, number, state=PromptState.WAITING)

    def claim(tx: Transaction) -> None:
        assert Prompts(tx).uses(PROJECT, NOW) == []
        assert len(claim_waiting(tx, claimer("one"), 10)) == 1
        assert Prompts(tx).uses(PROJECT, NOW) == [Use(ANA, NOW)]

    await store.write(claim)


def _lock(tx: Transaction) -> None:
    Quota(tx).lock(PROJECT)
    AnalyticsQuota(tx).lock(PROJECT)


def _take(pause: Callable[[], None], tx: Transaction) -> None:
    _lock(tx)
    pause()
    claim_waiting(tx, claimer("one"), 1)
    AnalyticsQuota(tx).take(PROJECT, 3, NOW)


def _uses(tx: Transaction) -> int:
    Quota(tx).lock(PROJECT)
    return len(Prompts(tx).uses(PROJECT, NOW))


def _calls(tx: Transaction) -> int:
    AnalyticsQuota(tx).lock(PROJECT)
    return AnalyticsQuota(tx).read(PROJECT, 10, NOW).used


@pytest.mark.parametrize("is_known", [False, True], ids=["first count", "later count"])
async def test_who_counts_and_takes_is_alone_with_the_count(
    store: Store, another: Store, is_known: bool
) -> None:
    """Several processes at the limit's edge would each see the last use, or the last call, as free."""
    number, pause = await add_job(store, root_ts="1.1"), Pause()
    await add_prompt(store, number, state=PromptState.WAITING)
    if is_known:
        await store.write(_lock)
    taking = asyncio.create_task(store.write(partial(_take, pause)))
    await pause.reached()
    counting = asyncio.gather(another.write(_uses), another.write(_calls))
    await asyncio.sleep(0.1)
    pause.end()
    await taking
    assert tuple(await counting) == (1, 3)
