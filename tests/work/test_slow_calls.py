"""A call that hangs delays nobody else, and what a process has under way it does not begin again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from time import monotonic

import httpx
import pytest

from bot.ids import ChannelId, MessageTs, ServiceJobId, UserId
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptState
from tests.builders import ANA, BEN, CHANNEL, new_store
from tests.fakes import FakeDocs, FakeSlack
from tests.work.drains import deliver_due, drain, prepare_prompts, working
from tests.work.office import Office

LEASE = timedelta(seconds=91)


@dataclass
class SlowSlack(FakeSlack):
    """Slack, in which the first post into a channel hangs until it may end."""

    hangs_in: ChannelId = CHANNEL
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)

    async def post(self, channel: ChannelId, *message: object, **about: object) -> MessageTs:
        if channel == self.hangs_in and not self.begun.is_set():
            self.begun.set()
            await self.may_end.wait()
        return await super().post(channel, *message, **about)  # type: ignore[arg-type]


class SlowDocs(FakeDocs):
    """A service, in which the first create hangs until it may end."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()

    async def handle(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST" and not self.begun.is_set():
            self.begun.set()
            answer = await super().handle(request)
            await self.may_end.wait()
            return answer
        return await super().handle(request)


@pytest.fixture
def slack() -> SlowSlack:
    return SlowSlack()


@pytest.fixture
def docs() -> SlowDocs:
    return SlowDocs()


@pytest.fixture
async def office(slack: SlowSlack, docs: SlowDocs) -> AsyncIterator[Office]:
    office = Office(await new_store(), slack=slack, docs=docs)
    yield office
    await office.close()


async def test_a_post_that_hangs_delays_no_other_post_by_a_second(office: Office, slack: SlowSlack) -> None:
    await office.ask("Add a page")
    async with working(office.context, "prepare", "deliver"):
        await slack.begun.wait()
        for number in range(11):
            channel, user = ChannelId(f"C0{number}"), UserId(f"U0{number}")
            began = monotonic()
            await office.ask("Add a page", channel=channel, user=user)
            while not [post for post in slack.posts if post.channel == channel]:
                office.context.wake()
                await asyncio.sleep(0.005)
            assert monotonic() - began < 1
        assert not [post for post in slack.posts if post.channel == CHANNEL]


async def test_a_create_that_hangs_delays_no_other_prompt(office: Office, docs: SlowDocs) -> None:
    slow = office.context.messenger
    assert isinstance(slow, SlowSlack)
    slow.begun.set()
    for user in (ANA, BEN):
        await office.ask(f"Add a page of {user}", user=user)
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    office.clock.pass_seconds(2)
    await deliver_due(office.context)
    async with working(office.context, "submit"):
        await docs.begun.wait()
        began = monotonic()
        await office.ask("Add a third page", user=UserId("U0THIRD"), channel=ChannelId("C0THIRD"))
        await prepare_prompts(office.context)
        await deliver_due(office.context)
        while len(docs.prompts) < 3:
            await asyncio.sleep(0.005)
        assert monotonic() - began < 1
        assert (await office.job(1)).state is JobState.WAITING


async def test_a_post_is_not_repeated_when_the_clock_steps_ahead_meanwhile(
    office: Office, slack: SlowSlack
) -> None:
    await office.ask("Add a page")
    async with working(office.context, "prepare", "deliver"):
        await slack.begun.wait()
        office.clock.pass_seconds(LEASE.total_seconds())
        await asyncio.sleep(0.3)
        assert slack.posts == []
        slack.may_end.set()
        while (await office.job()).root_ts is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
    assert len(slack.posts) == 1


async def test_a_create_is_not_called_abandoned_when_the_clock_steps_ahead_meanwhile(
    office: Office, slack: SlowSlack, docs: SlowDocs
) -> None:
    slack.begun.set()
    await office.ask("Add a page")
    async with working(office.context, "prepare", "deliver", "submit", "abandoned"):
        await docs.begun.wait()
        office.clock.pass_seconds(LEASE.total_seconds())
        await asyncio.sleep(0.3)
        docs.may_end.set()
        while (await office.job()).state is not JobState.WORKING:
            await asyncio.sleep(0.01)
    assert len(docs.jobs) == 1


async def test_the_answer_to_a_create_counts_although_another_process_called_it_abandoned(
    office: Office, slack: SlowSlack, docs: SlowDocs
) -> None:
    """The other process's clock is ahead by more than a lease."""
    slack.begun.set()
    await office.ask("Add a page")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    sending = asyncio.create_task(drain(office.context, "submit", runs=1))
    await docs.begun.wait()
    ahead = replace(office.context, owner="two", under_way={}, clock=lambda: office.clock() + LEASE)
    assert await drain(ahead, "abandoned") == 1
    assert (await office.job()).state is JobState.UNCONFIRMED
    office.clock.pass_seconds(LEASE.total_seconds())
    await deliver_due(office.context)
    [question] = office.said()
    assert "Did Job 1 start?" in question
    docs.may_end.set()
    await sending
    job = await office.job()
    assert (job.state, job.service_id) == (JobState.WORKING, ServiceJobId("job-1"))
    assert (await office.steers()).prompt.state is PromptState.SENT
    await office.settle()
    edited = slack.edits[slack.replies()[0].ts][-1].text
    assert "has started" in edited
    assert len(docs.jobs) == 1
