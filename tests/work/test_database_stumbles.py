"""The database fails just when a far side has answered: what that said is not lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import httpx
import pytest
from sqlalchemy import select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError

from bot.context import WorkerContext
from bot.ids import ChannelId, DeliveryId, Message, MessageTs, UserId
from bot.jobs.catch_up import Gap
from bot.jobs.model.jobs import JobState
from bot.store.database import Database
from bot.store.schema import metadata
from bot.visitors.questions import answer_question, claim_questions
from bot.visitors.subscriptions import plan_digests
from tests.builders import CHANNEL, new_store, rows_of
from tests.fakes import FakeDocs, FakeSlack
from tests.work.drains import (
    answer_questions,
    catch_up,
    deliver_due,
    fetch_snapshots,
    poll_jobs,
    prepare_prompts,
    submit_prompts,
)
from tests.work.office import Office

Result = TypeVar("Result")
AWAY = OperationalError("COMMIT", None, Exception("the connection was cut"))
OTHER = ChannelId("C0OTHER")


class Stumbling(Database):
    """Its next writes fail with these, before they begin or once committed; None lets one through."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.before: list[Exception | None] = []
        self.after: list[Exception | None] = []

        self.every_third = False
        self._turns = {"read": 0, "write": 0}

    async def read(self, query: Callable[[Connection], Result]) -> Result:
        self._stumble("read")
        return await super().read(query)

    async def write(self, change: Callable[[Connection], Result]) -> Result:
        self._stumble("write")
        before, after = _next(self.before), _next(self.after)
        if before is not None:
            raise before
        result = await super().write(change)
        if after is not None:
            raise after
        return result

    def _stumble(self, what: str) -> None:
        """Fail the second time of three when ``every_third`` is set."""
        self._turns[what] = self._turns[what] + 1 if self.every_third else 0
        if self._turns[what] % 3 == 2:
            raise AWAY


def _next(errors: list[Exception | None]) -> Exception | None:
    return errors.pop(0) if errors else None


def well(_database: Stumbling) -> None:
    """Nothing happens."""


def away(database: Stumbling) -> None:
    """The connection is cut before the next two writes."""
    database.before = [AWAY, AWAY]


def not_confirmed(database: Stumbling) -> None:
    """The connection is cut after the next commit, so that nobody learns of it."""
    database.after = [AWAY]


Trouble = Callable[[Stumbling], None]
TROUBLES = [away, not_confirmed]


class Answering(FakeDocs):
    """When it has taken a prompt, the next writes fail like this."""

    stumbling: Stumbling
    then: Trouble

    def _create(self, request: httpx.Request) -> httpx.Response:
        self.then(self.stumbling)
        return super()._create(request)


class Posting(FakeSlack):
    """Posts take a moment; in one channel something unheard of happens at once."""

    stumbling: Stumbling
    then: Trouble

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        if channel == OTHER:
            raise RuntimeError("unheard of")
        ts = await super().post(channel, message, delivery=delivery, thread=thread)
        await asyncio.sleep(0.05)
        self.then(self.stumbling)
        return ts


@pytest.fixture
def database() -> Stumbling:
    return Stumbling.open("sqlite:///:memory:")


@pytest.fixture
async def office(database: Stumbling) -> AsyncIterator[Office]:
    docs, slack = Answering(), Posting()
    docs.stumbling = slack.stumbling = database
    docs.then = slack.then = well
    office = Office(await new_store(database), slack=slack, docs=docs)
    yield office
    await office.close()


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_prompt_that_the_service_took_is_no_doubt(office: Office, trouble: Trouble) -> None:
    assert isinstance(office.docs, Answering)
    office.docs.then = trouble
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    await submit_prompts(office.context)
    assert (await office.job()).state is JobState.WORKING
    office.docs.then = well
    await office.pass_time(100)
    assert len(office.docs.prompts) == 1


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_post_that_slack_took_is_not_searched(office: Office, trouble: Trouble) -> None:
    assert isinstance(office.slack, Posting)
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)
    office.slack.then = trouble
    await deliver_due(office.context)
    office.slack.then = well
    assert (await office.job()).root_ts == office.slack.root().ts
    await office.pass_time(100)
    assert len([post for post in office.slack.posts if post.thread is None]) == 1


async def test_redelivered_request_of_an_unconfirmed_commit_is_stored_once(
    office: Office, database: Stumbling
) -> None:
    database.after = [None, AWAY]  # The first write is what Slack said of the person.
    with pytest.raises(OperationalError):
        await office.ask("Add a quickstart", key="delivered twice")
    again = await office.ask("Add a quickstart", key="delivered twice")
    assert (again.job, again.repeated) == (1, True)
    await office.settle()
    assert len(office.docs.prompts) == 1


async def test_end_of_an_unconfirmed_commit_is_posted_once(office: Office, database: Stumbling) -> None:
    await office.ask("Add a quickstart")
    await office.settle()
    office.docs.finish()
    office.clock.pass_seconds(100)
    database.after = [None, AWAY]
    await poll_jobs(office.context)
    assert (await office.job()).state is JobState.PULL_REQUEST
    await office.pass_time(100)
    assert len(office.said()) == 1


async def test_failed_delivery_stops_no_other(office: Office) -> None:
    await office.ask("Nowhere", channel=OTHER, user=UserId("U0BEN"))
    await office.ask("Add a quickstart", channel=CHANNEL)
    await prepare_prompts(office.context)
    with pytest.raises(RuntimeError, match="unheard of"):
        await deliver_due(office.context)
    assert (await office.job(2)).root_ts is not None


async def leases(office: Office) -> list[str]:
    """The tables with rows that a process holds."""
    tables = [table for table in metadata.sorted_tables if "claimed_by" in table.c]
    found = [
        await rows_of(office.store, select(table).where(table.c.claimed_by.is_not(None))) for table in tables
    ]
    return [table.name for table, rows in zip(tables, found, strict=True) if rows]


async def asked_for_a_job(office: Office) -> None:
    await office.ask("Add a quickstart")


async def prepared(office: Office) -> None:
    await office.ask("Add a quickstart")
    await prepare_prompts(office.context)


async def ended(office: Office) -> None:
    await office.started()
    office.docs.finish()
    office.clock.pass_seconds(100)


async def unreadable(office: Office) -> None:
    await office.started()
    office.docs.answer_instead("get", httpx.Response(500))
    office.clock.pass_seconds(100)


async def asked_about_visitors(office: Office) -> None:
    await office.visitors("last week compare none")


async def unread_visitors(office: Office) -> None:
    office.docs.answer_instead("visitors", httpx.Response(500))
    await asked_about_visitors(office)


async def calls_used_up(office: Office) -> None:
    office.docs.answer_instead("visitors", httpx.Response(429))
    await asked_about_visitors(office)


async def asked_for_a_digest(office: Office) -> None:
    await office.visitors("subscribe monday 09:00 UTC")
    await office.reading(5)
    office.clock.pass_seconds(7 * 86_400)
    await plan_digests(office.context)
    office.clock.pass_seconds(1)


async def missed_something(office: Office) -> None:
    await office.finished()
    office.missed("Mention retries")
    await Gap(office.context).end()


async def catch_up_once(context: WorkerContext) -> int:
    return await catch_up(context)


@pytest.mark.parametrize(
    ("arrange", "work"),
    [
        (asked_for_a_job, prepare_prompts),
        (ended, poll_jobs),
        (unreadable, poll_jobs),
        (asked_about_visitors, fetch_snapshots),
        (unread_visitors, fetch_snapshots),
        (calls_used_up, fetch_snapshots),
        (asked_about_visitors, answer_questions),
        (asked_for_a_digest, plan_digests),
        (missed_something, catch_up_once),
        (prepared, deliver_due),
    ],
)
async def test_failing_database_leaves_no_lease_behind(
    office: Office,
    database: Stumbling,
    arrange: Callable[[Office], Awaitable[None]],
    work: Callable[[WorkerContext], Awaitable[int]],
) -> None:
    """The claim goes through, and after it every third read and write fails, from the next one on."""
    await arrange(office)
    assert await leases(office) == []
    database.every_third = True
    with suppress(OperationalError):
        await work(office.context)
    database.every_third = False
    assert await leases(office) == []


async def test_digest_withdrawn_while_it_is_answered_is_dropped(office: Office) -> None:
    await asked_for_a_digest(office)
    office.clock.pass_seconds(3_600)
    [question] = await claim_questions(office.context, 5, ())
    await office.visitors("unsubscribe")
    posted = len(office.posted())
    await answer_question(office.context, question)
    await office.settle()
    assert len(office.posted()) == posted
