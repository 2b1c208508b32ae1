"""The database fails just when a far side has answered: what that said is not lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from bot.model import ChannelId, DeliveryId, JobState, Message, MessageTs, UserId
from bot.store import Store, Transaction
from bot.store.database import open_engine
from bot.store.schema import metadata
from bot.work.jobs.poll import poll_jobs
from bot.work.jobs.prepare import prepare_prompts
from bot.work.jobs.submit import submit_prompts
from bot.work.outbox.deliver import deliver_due
from tests.builders import CHANNEL
from tests.fakes import FakeDocs, FakeSlack
from tests.work.office import Office

AWAY = OperationalError("COMMIT", None, Exception("the connection was cut"))
OTHER = ChannelId("C0OTHER")


class Stumbling(Store):
    """Its next transactions fail with these; None lets one through."""

    def __init__(self) -> None:
        super().__init__(open_engine("sqlite+aiosqlite:///:memory:"))
        self.next: list[Exception | None] = []

    async def create(self) -> None:
        """Make the tables."""
        async with self._engine.begin() as connection:
            await connection.run_sync(metadata.create_all)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        if self.next and (error := self.next.pop(0)) is not None:
            raise error
        async with super().transaction() as tx:
            yield tx


class Answering(FakeDocs):
    """When it has taken a prompt, the database is away for a moment."""

    stumbling: Stumbling

    def _create(self, request: httpx.Request) -> httpx.Response:
        self.stumbling.next = [AWAY, AWAY]
        return super()._create(request)


class Posting(FakeSlack):
    """Posts take a moment; in one channel something unheard of happens at once."""

    stumbling: Stumbling
    then: list[Exception | None]

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        if channel == OTHER:
            raise RuntimeError("unheard of")
        ts = await super().post(channel, message, delivery=delivery, thread=thread)
        await asyncio.sleep(0.05)
        self.stumbling.next, self.then = self.then, []
        return ts


@pytest.fixture
async def store() -> AsyncIterator[Stumbling]:
    store = Stumbling()
    await store.create()
    yield store
    await store.close()


@pytest.fixture
async def office(store: Stumbling) -> AsyncIterator[Office]:
    docs, slack = Answering(), Posting()
    docs.stumbling = slack.stumbling = store
    slack.then = []
    office = Office(store, slack=slack, docs=docs)
    yield office
    await office.context.docs.aclose()


async def test_a_prompt_that_the_service_took_is_no_doubt(office: Office) -> None:
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    await submit_prompts(office.context)
    assert (await office.job()).state is JobState.WORKING
    assert len(office.docs.prompts) == 1


async def test_a_post_that_slack_took_is_not_looked_for(office: Office) -> None:
    assert isinstance(office.slack, Posting)
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)
    office.slack.then = [AWAY, AWAY]
    await deliver_due(office.context)
    assert (await office.job()).root_ts == office.slack.root().ts


async def test_what_fails_for_one_delivery_does_not_cut_off_another(office: Office) -> None:
    await office.ask("Nowhere", channel=OTHER, user=UserId("U0BEN"))
    await office.ask("Add a quickstart", channel=CHANNEL)
    await prepare_prompts(office.context)
    with pytest.raises(RuntimeError, match="unheard of"):
        await deliver_due(office.context)
    assert (await office.job(2)).root_ts is not None


async def test_an_end_is_told_though_another_look_cannot_be_written(office: Office, store: Stumbling) -> None:
    for number in range(2):
        await office.ask(f"p{number}")
    await office.settle()
    office.docs.finish()
    office.docs.answer_instead("get", httpx.Response(500, text="unwell"))
    office.clock.pass_seconds(100)
    store.next = [None, RuntimeError("unheard of")]
    with pytest.raises(RuntimeError, match="unheard of"):
        await poll_jobs(office.context)
    assert (await office.job(2)).state is JobState.PULL_REQUEST
