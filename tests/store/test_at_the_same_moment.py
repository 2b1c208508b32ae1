"""Several processes at the same moment: told once, and nobody waits for whom waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from functools import partial

import httpx
import pytest

from bot.ids import ChannelId, JobNumber, UserId
from bot.jobs.decisions import withdraw
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import Prompt, PromptState
from bot.jobs.store.prompts import Prompts
from bot.slack.client import to_refusal
from bot.store import Store, Transaction
from tests.builders import ANA, BEN, HeldClock
from tests.work.drains import deliver_due, prepare_prompts, submit_prompts
from tests.work.office import Office

ADMIN = UserId("U0ADA")


class Ticking(HeldClock):
    """No two looks at it see the same time, as with real ones."""

    def __call__(self) -> datetime:
        self.pass_seconds(0.001)
        return super().__call__()


@pytest.fixture
async def office(store: Store) -> AsyncIterator[Office]:
    office = Office(store)
    yield office
    await office.context.docs.aclose()


async def open_threads(office: Office, count: int) -> None:
    """So many jobs whose root stands, in turn of two people."""
    for number in range(count):
        await office.ask(f"p{number}", user=BEN if number % 2 else ANA)
    for _ in range(count):
        await prepare_prompts(office.context)
        await deliver_due(office.context)
        office.clock.pass_seconds(1.1)


async def test_one_text_asked_twice_at_once_is_one_job(office: Office) -> None:
    asked = await asyncio.gather(*(office.ask("Add a quickstart") for _ in range(5)))
    assert {each.job for each in asked} == {asked[0].job}
    assert sum(each.same for each in asked) == 4


async def test_a_key_that_is_refused_for_many_prompts_at_once_is_told_to_admins_once(office: Office) -> None:
    office.access_policy(admins=frozenset({ADMIN}))
    await open_threads(office, 8)
    office.docs.answer_instead("create", *[httpx.Response(401, json={"error": "no"})] * 8)
    await submit_prompts(replace(office.context, clock=Ticking()))
    await deliver_due(office.context)
    assert [user for user, _, _ in office.slack.direct] == [ADMIN]


async def test_all_who_wait_can_withdraw_while_places_are_given(office: Office) -> None:
    office.limit(1)
    await open_threads(office, 9)
    await submit_prompts(office.context)
    waiting = [number for number in range(1, 10) if (await office.job(number)).state is JobState.WAITING]
    assert len(waiting) == 8
    office.clock.pass_seconds(3600)
    office.limit(0)
    done = await asyncio.gather(
        *[withdraw(office.context, await office.steers(number)) for number in waiting],
        submit_prompts(office.context),
        submit_prompts(replace(office.context, owner="two", under_way={})),
    )
    assert all(done[:8])
    states = {(await office.job(number)).state for number in waiting}
    assert states == {JobState.WITHDRAWN}


async def test_a_use_that_a_refusal_gives_back_is_for_who_waits(office: Office) -> None:
    office.limit(1)
    office.docs.answer_instead("create", httpx.Response(400, json={"error": "because"}))
    await open_threads(office, 2)
    await submit_prompts(office.context)
    await submit_prompts(office.context)
    assert [text for _, text in office.docs.prompts] == ["p1"]


def starting(number: int, tx: Transaction) -> Prompt | None:
    return Prompts(tx).starting(JobNumber(number))


async def test_a_face_that_slack_refuses_and_its_job_that_is_withdrawn_get_along(office: Office) -> None:
    numbers = range(1, 9)
    for number in numbers:
        await office.ask(f"p{number}", channel=ChannelId(f"C{number}"))
    for _ in numbers:
        await prepare_prompts(office.context)
    office.slack.trouble("post", *[to_refusal("thread_not_found")] * len(numbers))
    withdrawing = [withdraw(office.context, await office.steers(number)) for number in numbers]
    _, *withdrawn = await asyncio.gather(deliver_due(office.context), *withdrawing)
    for number, is_withdrawn in zip(numbers, withdrawn, strict=True):
        job = await office.job(number)
        prompt = await office.store.read(partial(starting, number))
        assert prompt is not None
        ends = (JobState.WITHDRAWN, PromptState.WITHDRAWN), (JobState.REFUSED, PromptState.REFUSED)
        assert (job.state, prompt.state) == ends[0 if is_withdrawn else 1]
