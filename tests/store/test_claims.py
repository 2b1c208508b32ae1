"""The contract of claiming, on both databases."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.model import DeliveryKind, JobState, Priority, PromptKind, PromptState, Use
from bot.store import LeaseLost, Store
from tests.builders import ANA, NOW, PROJECT, add_job, add_prompt, claim_waiting, claimer
from tests.store.stock import fill

LATER = NOW + timedelta(seconds=61)


async def test_a_job_that_is_due_is_claimed_by_one_only(store: Store) -> None:
    number = await add_job(store, root_ts="1.1", service_id="j1", poll_at=NOW)
    async with store.transaction() as tx:
        [(job, misses)] = await tx.jobs.claim_due(claimer("one"), 10)
    async with store.transaction() as tx:
        second = await tx.jobs.claim_due(claimer("two"), 10)
    assert (job.number, misses) == (number, 0)
    assert second == []


async def test_a_locked_job_changes_only_afterwards(store: Store) -> None:
    """So a follow-up is either stored before its job is refused, and falls with it, or sees that it was."""
    number = await add_job(store)

    async def refuse() -> None:
        async with store.transaction() as tx:
            await tx.jobs.change(number, state=JobState.REFUSED)

    async with store.transaction() as tx:
        assert await tx.jobs.get_locked(number)
        refusing = asyncio.create_task(refuse())
        await asyncio.sleep(0.1)
        assert not refusing.done()
        job = await tx.jobs.known(number)
        assert job.state is JobState.WAITING
    await refusing
    async with store.transaction() as tx:
        assert (await tx.jobs.known(number)).state is JobState.REFUSED


async def test_a_claim_takes_no_more_than_it_may(store: Store, engine: AsyncEngine) -> None:
    """PostgreSQL plans this badly where it has no statistics yet: on tables that have just been filled."""
    await fill(engine, jobs=100, prompts=90, deliveries=60, snapshots=100, questions=100, digests=100)
    now = datetime.now(UTC)
    async with store.transaction() as tx:
        assert len(await tx.jobs.claim_due(claimer(at=now), 4)) == 4
        assert len(await claim_waiting(tx, claimer(at=now), 4)) == 4
        assert len(await tx.snapshots.claim(claimer(at=now), 4, Priority.AHEAD)) == 4
        assert len(await tx.questions.claim(claimer(at=now), 4)) == 4
        assert len(await tx.digests.claim(claimer(at=now), 4)) == 4
        sent = Counter(one.kind for one in await tx.outbox.claim(claimer(at=now), 4, 1.0))
        assert sent == {DeliveryKind.ROOT: 4, DeliveryKind.REACTION: 4}


async def test_a_job_that_is_not_due_is_left_alone(store: Store) -> None:
    await add_job(store, root_ts="1.1", service_id="j1", poll_at=NOW + timedelta(seconds=1))
    await add_job(store, root_ts="1.2", service_id="j2")
    async with store.transaction() as tx:
        assert await tx.jobs.claim_due(claimer(), 10) == []


async def test_a_lease_that_ran_out_frees_the_job(store: Store) -> None:
    await add_job(store, root_ts="1.1", service_id="j1", poll_at=NOW)
    async with store.transaction() as tx:
        await tx.jobs.claim_due(claimer("one"), 10)
    async with store.transaction() as tx:
        assert len(await tx.jobs.claim_due(claimer("two", LATER), 10)) == 1


async def test_who_lost_the_lease_writes_nothing(store: Store) -> None:
    number = await add_job(store, root_ts="1.1", service_id="j1", poll_at=NOW)
    async with store.transaction() as tx:
        await tx.jobs.claim_due(claimer("one"), 10)
    async with store.transaction() as tx:
        await tx.jobs.claim_due(claimer("two", LATER), 10)
    with pytest.raises(LeaseLost):
        async with store.transaction() as tx:
            await tx.jobs.change(number, owner="one", state=JobState.FAILED)
    async with store.look() as tx:
        job = await tx.jobs.get(number)
    assert job is not None
    assert job.state is JobState.WAITING


async def test_a_project_on_hold_is_not_polled(store: Store) -> None:
    await add_job(store, root_ts="1.1", service_id="j1", poll_at=NOW)
    async with store.transaction() as tx:
        await tx.back_offs.put(PROJECT, NOW + timedelta(seconds=30), 1, "Unavailable")
        assert await tx.jobs.claim_due(claimer(), 10) == []
    async with store.transaction() as tx:
        assert len(await tx.jobs.claim_due(claimer(at=LATER), 10)) == 1


async def test_many_claimers_at_once_share_the_jobs_without_overlap(store: Store) -> None:
    for index in range(60):
        await add_job(store, root_ts=f"1.{index}", service_id=f"j{index}", poll_at=NOW)
    taken: Counter[int] = Counter()

    async def work(owner: str) -> None:
        while True:
            async with store.transaction() as tx:
                got = await tx.jobs.claim_due(claimer(owner), 7)
            if not got:
                return
            taken.update(job.number for job, _ in got)

    await asyncio.gather(*(work(f"owner {n}") for n in range(4)))
    assert len(taken) == 60
    assert set(taken.values()) == {1}


async def test_a_first_prompt_waits_for_its_thread(store: Store) -> None:
    number = await add_job(store)
    await add_prompt(store, number, state=PromptState.WAITING)
    async with store.transaction() as tx:
        assert await claim_waiting(tx, claimer(), 10) == []
        await tx.jobs.change(number, root_ts="1.1")
    async with store.transaction() as tx:
        assert len(await claim_waiting(tx, claimer(), 10)) == 1


async def test_a_follow_up_waits_for_the_one_before_it(store: Store) -> None:
    number = await add_job(store, root_ts="1.1", service_id="j1")
    first = await add_prompt(store, number, key="a", kind=PromptKind.FOLLOW_UP, state=PromptState.WAITING)
    second = await add_prompt(store, number, key="b", kind=PromptKind.FOLLOW_UP, state=PromptState.WAITING)
    async with store.transaction() as tx:
        [got] = await claim_waiting(tx, claimer(), 10)
        await tx.prompts.change(got.id, state=PromptState.SENT, claimed_by=None, claimed_until=None)
    assert got.id == first
    async with store.transaction() as tx:
        [after] = await claim_waiting(tx, claimer(), 10)
    assert after.id == second


async def test_a_prompt_being_sent_is_abandoned_only_when_its_lease_ran_out(store: Store) -> None:
    number = await add_job(store, root_ts="1.1")
    await add_prompt(store, number, state=PromptState.WAITING)
    async with store.transaction() as tx:
        [prompt] = await claim_waiting(tx, claimer("one"), 10)
        await tx.prompts.change(prompt.id, state=PromptState.SENDING)
        assert await tx.prompts.claim_abandoned(claimer("two"), 10) == []
    async with store.transaction() as tx:
        assert len(await tx.prompts.claim_abandoned(claimer("two", LATER), 10)) == 1


async def test_uses_are_counted_from_the_last_hour(store: Store) -> None:
    number = await add_job(store, root_ts="1.1")
    await add_prompt(store, number, key="old", sent_at=NOW - timedelta(minutes=61))
    await add_prompt(store, number, key="new", sent_at=NOW - timedelta(minutes=59))
    async with store.look() as tx:
        assert await tx.prompts.uses(PROJECT, NOW) == [Use(ANA, NOW - timedelta(minutes=59))]


async def test_what_is_about_to_be_sent_counts_as_a_use_until_its_lease_runs_out(store: Store) -> None:
    number = await add_job(store, root_ts="1.1")
    await add_prompt(store, number, state=PromptState.WAITING)
    async with store.transaction() as tx:
        assert await tx.prompts.uses(PROJECT, NOW) == []
        assert len(await claim_waiting(tx, claimer("one"), 10)) == 1
        assert await tx.prompts.uses(PROJECT, NOW) == [Use(ANA, NOW)]
        assert await tx.prompts.uses(PROJECT, LATER) == []


async def test_who_counts_and_takes_is_alone_with_the_count(store: Store) -> None:
    """Several processes at the limit's edge would each see the last use, or the last call, as free."""
    number = await add_job(store, root_ts="1.1")
    await add_prompt(store, number, state=PromptState.WAITING)

    async def uses() -> int:
        async with store.transaction() as tx:
            await tx.quota.lock(PROJECT)
            return len(await tx.prompts.uses(PROJECT, NOW))

    async def calls() -> int:
        async with store.transaction() as tx:
            await tx.budget.lock(PROJECT)
            return (await tx.budget.look(PROJECT, 10, NOW)).used

    async with store.transaction() as tx:
        await tx.quota.lock(PROJECT)
        await tx.budget.lock(PROJECT)
        counting = asyncio.gather(uses(), calls())
        await asyncio.sleep(0.1)
        await claim_waiting(tx, claimer("one"), 1)
        await tx.budget.take(PROJECT, 3, NOW)
    assert tuple(await counting) == (1, 3)


async def test_a_lock_on_the_count_holds_where_the_project_is_known_already(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.quota.lock(PROJECT)
        await tx.budget.lock(PROJECT)
    await test_who_counts_and_takes_is_alone_with_the_count(store)
