"""The contract of claiming, on both databases."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.model import DeliveryKind, JobState, Need, PromptKind, PromptState, Use
from bot.store import LeaseLost, Registry
from tests.builders import ANA, NOW, PROJECT, add_job, add_prompt, claim_waiting, claimer
from tests.store.stock import fill

LATER = NOW + timedelta(seconds=61)


async def test_a_job_that_is_due_is_claimed_by_one_only(registry: Registry) -> None:
    number = await add_job(registry, root_ts="1.1", service_id="j1", poll_at=NOW)
    async with registry.transaction() as tables:
        [(job, misses)] = await tables.jobs.claim_due(claimer("one"), 10)
    async with registry.transaction() as tables:
        second = await tables.jobs.claim_due(claimer("two"), 10)
    assert (job.number, misses) == (number, 0)
    assert second == []


async def test_a_locked_job_changes_only_afterwards(registry: Registry) -> None:
    """So a follow-up is either stored before its job is refused, and falls with it, or sees that it was."""
    number = await add_job(registry)

    async def refuse() -> None:
        async with registry.transaction() as tables:
            await tables.jobs.change(number, state=JobState.REFUSED)

    async with registry.transaction() as tables:
        assert await tables.jobs.get_locked(number)
        refusing = asyncio.create_task(refuse())
        await asyncio.sleep(0.1)
        assert not refusing.done()
        job = await tables.jobs.known(number)
        assert job.state is JobState.WAITING
    await refusing
    async with registry.transaction() as tables:
        assert (await tables.jobs.known(number)).state is JobState.REFUSED


async def test_a_claim_takes_no_more_than_it_may(registry: Registry, engine: AsyncEngine) -> None:
    """PostgreSQL plans this badly where it has no statistics yet: on tables that have just been filled."""
    await fill(engine, jobs=100, prompts=90, deliveries=60, snapshots=100, questions=100, digests=100)
    now = datetime.now(UTC)
    async with registry.transaction() as tables:
        assert len(await tables.jobs.claim_due(claimer(at=now), 4)) == 4
        assert len(await claim_waiting(tables, claimer(at=now), 4)) == 4
        assert len(await tables.snapshots.claim(claimer(at=now), 4, Need.AHEAD)) == 4
        assert len(await tables.questions.claim(claimer(at=now), 4)) == 4
        assert len(await tables.digests.claim(claimer(at=now), 4)) == 4
        sent = Counter(one.kind for one in await tables.deliveries.claim(claimer(at=now), 4, 1.0))
        assert sent == {DeliveryKind.ROOT: 4, DeliveryKind.REACTION: 4}


async def test_a_job_that_is_not_due_is_left_alone(registry: Registry) -> None:
    await add_job(registry, root_ts="1.1", service_id="j1", poll_at=NOW + timedelta(seconds=1))
    await add_job(registry, root_ts="1.2", service_id="j2")
    async with registry.transaction() as tables:
        assert await tables.jobs.claim_due(claimer(), 10) == []


async def test_a_lease_that_ran_out_frees_the_job(registry: Registry) -> None:
    await add_job(registry, root_ts="1.1", service_id="j1", poll_at=NOW)
    async with registry.transaction() as tables:
        await tables.jobs.claim_due(claimer("one"), 10)
    async with registry.transaction() as tables:
        assert len(await tables.jobs.claim_due(claimer("two", LATER), 10)) == 1


async def test_who_lost_the_lease_writes_nothing(registry: Registry) -> None:
    number = await add_job(registry, root_ts="1.1", service_id="j1", poll_at=NOW)
    async with registry.transaction() as tables:
        await tables.jobs.claim_due(claimer("one"), 10)
    async with registry.transaction() as tables:
        await tables.jobs.claim_due(claimer("two", LATER), 10)
    with pytest.raises(LeaseLost):
        async with registry.transaction() as tables:
            await tables.jobs.change(number, owner="one", state=JobState.FAILED)
    async with registry.look() as tables:
        job = await tables.jobs.get(number)
    assert job is not None
    assert job.state is JobState.WAITING


async def test_a_project_on_hold_is_not_polled(registry: Registry) -> None:
    await add_job(registry, root_ts="1.1", service_id="j1", poll_at=NOW)
    async with registry.transaction() as tables:
        await tables.holds.put(PROJECT, NOW + timedelta(seconds=30), 1, "Unavailable")
        assert await tables.jobs.claim_due(claimer(), 10) == []
    async with registry.transaction() as tables:
        assert len(await tables.jobs.claim_due(claimer(at=LATER), 10)) == 1


async def test_many_claimers_at_once_share_the_jobs_without_overlap(registry: Registry) -> None:
    for index in range(60):
        await add_job(registry, root_ts=f"1.{index}", service_id=f"j{index}", poll_at=NOW)
    taken: Counter[int] = Counter()

    async def work(owner: str) -> None:
        while True:
            async with registry.transaction() as tables:
                got = await tables.jobs.claim_due(claimer(owner), 7)
            if not got:
                return
            taken.update(job.number for job, _ in got)

    await asyncio.gather(*(work(f"owner {n}") for n in range(4)))
    assert len(taken) == 60
    assert set(taken.values()) == {1}


async def test_a_first_prompt_waits_for_its_thread(registry: Registry) -> None:
    number = await add_job(registry)
    await add_prompt(registry, number, state=PromptState.WAITING)
    async with registry.transaction() as tables:
        assert await claim_waiting(tables, claimer(), 10) == []
        await tables.jobs.change(number, root_ts="1.1")
    async with registry.transaction() as tables:
        assert len(await claim_waiting(tables, claimer(), 10)) == 1


async def test_a_follow_up_waits_for_the_one_before_it(registry: Registry) -> None:
    number = await add_job(registry, root_ts="1.1", service_id="j1")
    first = await add_prompt(registry, number, key="a", kind=PromptKind.FOLLOW_UP, state=PromptState.WAITING)
    second = await add_prompt(registry, number, key="b", kind=PromptKind.FOLLOW_UP, state=PromptState.WAITING)
    async with registry.transaction() as tables:
        [got] = await claim_waiting(tables, claimer(), 10)
        await tables.prompts.change(got.id, state=PromptState.SENT, claimed_by=None, claimed_until=None)
    assert got.id == first
    async with registry.transaction() as tables:
        [after] = await claim_waiting(tables, claimer(), 10)
    assert after.id == second


async def test_a_prompt_being_sent_is_abandoned_only_when_its_lease_ran_out(registry: Registry) -> None:
    number = await add_job(registry, root_ts="1.1")
    await add_prompt(registry, number, state=PromptState.WAITING)
    async with registry.transaction() as tables:
        [prompt] = await claim_waiting(tables, claimer("one"), 10)
        await tables.prompts.change(prompt.id, state=PromptState.SENDING)
        assert await tables.prompts.claim_abandoned(claimer("two"), 10) == []
    async with registry.transaction() as tables:
        assert len(await tables.prompts.claim_abandoned(claimer("two", LATER), 10)) == 1


async def test_uses_are_counted_from_the_last_hour(registry: Registry) -> None:
    number = await add_job(registry, root_ts="1.1")
    await add_prompt(registry, number, key="old", sent_at=NOW - timedelta(minutes=61))
    await add_prompt(registry, number, key="new", sent_at=NOW - timedelta(minutes=59))
    async with registry.look() as tables:
        assert await tables.prompts.uses(PROJECT, NOW) == [Use(ANA, NOW - timedelta(minutes=59))]


async def test_what_is_about_to_be_sent_counts_as_a_use_until_its_lease_runs_out(registry: Registry) -> None:
    number = await add_job(registry, root_ts="1.1")
    await add_prompt(registry, number, state=PromptState.WAITING)
    async with registry.transaction() as tables:
        assert await tables.prompts.uses(PROJECT, NOW) == []
        assert len(await claim_waiting(tables, claimer("one"), 10)) == 1
        assert await tables.prompts.uses(PROJECT, NOW) == [Use(ANA, NOW)]
        assert await tables.prompts.uses(PROJECT, LATER) == []


async def test_who_counts_and_takes_is_alone_with_the_count(registry: Registry) -> None:
    """Several processes at the limit's edge would each see the last use, or the last call, as free."""
    number = await add_job(registry, root_ts="1.1")
    await add_prompt(registry, number, state=PromptState.WAITING)

    async def uses() -> int:
        async with registry.transaction() as tables:
            await tables.limits.lock(PROJECT)
            return len(await tables.prompts.uses(PROJECT, NOW))

    async def calls() -> int:
        async with registry.transaction() as tables:
            await tables.budget.lock(PROJECT)
            return (await tables.budget.look(PROJECT, 10, NOW)).used

    async with registry.transaction() as tables:
        await tables.limits.lock(PROJECT)
        await tables.budget.lock(PROJECT)
        counting = asyncio.gather(uses(), calls())
        await asyncio.sleep(0.1)
        await claim_waiting(tables, claimer("one"), 1)
        await tables.budget.take(PROJECT, 3, NOW)
    assert tuple(await counting) == (1, 3)


async def test_a_lock_on_the_count_holds_where_the_project_is_known_already(registry: Registry) -> None:
    async with registry.transaction() as tables:
        await tables.limits.lock(PROJECT)
        await tables.budget.lock(PROJECT)
    await test_who_counts_and_takes_is_alone_with_the_count(registry)
