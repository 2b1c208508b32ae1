"""The database fails just when Slack or the docs service has answered: the answer is not lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import pytest
from sqlalchemy import select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError

from bot.app import open_store
from bot.store import Store, Transaction
from bot.store.database import Database
from bot.store.schema import metadata
from bot.visitors.model.questions import Question
from tests.builders import rows_of
from tests.limits import HANG_SECONDS
from tests.talk import Talk
from tests.talk_database import DATABASE_URL
from tests.work.readers import digests, subscribe, until

Result = TypeVar("Result")
Trouble = Mapping[str, Sequence[Exception | None]]
"""The errors of writes before they begin and after their commits; None lets one through."""
AWAY = OperationalError("COMMIT", None, Exception("the connection was cut"))


class Stumbling(Database):
    """A database whose writes fail on request, before they begin or once committed."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.when: Callable[[], bool] | None = None
        """The moment from which the writes in ``before`` and ``after`` fail."""
        self.before: list[Exception | None] = []
        self.after: list[Exception | None] = []
        self.fails_after_claims = False
        """Whether the write after each claim fails before it begins, once."""
        self._has_claimed = False

    async def write(self, change: Callable[[Connection], Result]) -> Result:
        if self.fails_after_claims and self._has_claimed:
            self._has_claimed = False
            raise AWAY
        is_time = self.when is not None and self.when()
        if is_time and self.before and (error := self.before.pop(0)):
            raise error
        result = await super().write(change)
        self._has_claimed = bool(result)  # a claim returns rows
        if is_time and self.after and (error := self.after.pop(0)):
            raise error
        return result


@pytest.fixture
def database(talk: Talk) -> Stumbling:
    database = Stumbling.open(DATABASE_URL)
    talk.process.store = Store(database)
    return database


away: Trouble = {"before": [AWAY, AWAY]}
"""The connection is cut before two writes."""
not_confirmed: Trouble = {"after": [AWAY]}
"""The connection is cut after a commit, so that its caller does not learn of it."""
TROUBLES = pytest.mark.parametrize("trouble", [away, not_confirmed], ids=["away", "not confirmed"])


def fail(database: Stumbling, when: Callable[[], bool], trouble: Trouble) -> None:
    """Let the next writes fail from this moment on."""
    database.when = when
    database.before, database.after = (
        list(trouble.get("before", ())),
        list(trouble.get("after", ())),
    )


@TROUBLES
async def test_prompt_that_the_service_took_is_no_doubt(
    talk: Talk, database: Stumbling, trouble: Trouble
) -> None:
    fail(database, lambda: bool(talk.service.prompts), trouble)
    await talk.started()
    assert (database.before, database.after) == ([], [])
    assert "Working on it" in talk.status()
    await talk.time.passes(100)
    assert talk.agent_got() == ["Add a quickstart"]
    assert talk.replies() == []


@TROUBLES
async def test_post_that_slack_took_is_not_searched(
    talk: Talk, database: Stumbling, trouble: Trouble
) -> None:
    fail(database, lambda: "chat.postMessage" in talk.slack.calls, trouble)
    await talk.started()
    await talk.time.passes(100)
    assert (database.before, database.after) == ([], [])
    assert len(talk.channel()) == 1
    assert "conversations.history" not in talk.slack.calls


async def test_redelivered_message_of_an_unconfirmed_commit_is_stored_once(
    talk: Talk, database: Stumbling
) -> None:
    await talk.process.starts()
    await talk.works()
    fail(database, lambda: bool(talk.slack.line.sent), {"after": [AWAY]})
    await talk.ana.says("@docs-agent Add a page on keys")
    assert database.after == []
    await talk.time.passes(100)
    assert talk.agent_got() == ["Add a page on keys"]
    assert talk.errors() == {"event_not_stored"}
    talk.everything()


async def test_end_of_an_unconfirmed_commit_is_posted_once(talk: Talk, database: Stumbling) -> None:
    await talk.started()
    polls = talk.service.polls
    fail(database, lambda: talk.service.polls > polls, not_confirmed)
    await talk.ends()
    assert database.after == []
    await talk.time.passes(100)
    [end] = talk.replies()
    assert "is done" in end
    talk.status()


async def leases(database: Stumbling) -> list[str]:
    """Return the tables with rows that a process holds."""
    tables = [table for table in metadata.sorted_tables if "claimed_by" in table.c]
    held = [
        await rows_of(Store(database), select(table).where(table.c.claimed_by.is_not(None)))
        for table in tables
    ]
    return [table.name for table, rows in zip(tables, held, strict=True) if rows]


async def asked_for_a_job(talk: Talk) -> None:
    await talk.ana.asks("Add a quickstart")


async def ended(talk: Talk) -> None:
    await talk.started()
    talk.service.finish()
    talk.time.is_set(seconds=100)


async def unreadable(talk: Talk) -> None:
    await talk.started()
    talk.service.says("get", 500)
    talk.time.is_set(seconds=100)


async def asked_about_visitors(talk: Talk) -> None:
    await talk.ana.types("/docs-visitors last week compare none")


async def unread_visitors(talk: Talk) -> None:
    talk.service.says("visitors", 500)
    await asked_about_visitors(talk)


async def calls_used_up(talk: Talk) -> None:
    talk.service.says("visitors", 429)
    await asked_about_visitors(talk)


async def digest_is_due(talk: Talk) -> None:
    await subscribe(talk)
    talk.time.is_set(days=7)


async def missed_something(talk: Talk) -> None:
    await talk.finished()
    talk.process.dies()
    await talk.ana.replies("Mention retries")
    talk.time.is_set(minutes=10)
    await talk.process.starts()


@pytest.mark.parametrize(
    "arrange",
    [
        asked_for_a_job,
        ended,
        unreadable,
        asked_about_visitors,
        unread_visitors,
        calls_used_up,
        digest_is_due,
        missed_something,
    ],
)
async def test_failed_write_after_a_claim_leaves_no_lease_behind(
    talk: Talk, database: Stumbling, arrange: Callable[[Talk], Awaitable[None]]
) -> None:
    await arrange(talk)
    assert await leases(database) == []
    database.fails_after_claims = True
    for _ in range(8):
        with suppress(OperationalError):
            await talk.works()
        assert await leases(database) == []
        talk.time.is_set(seconds=1)
    talk.errors()
    talk.everything()


class HoldingStore(Store):
    """Holds its process once, when it has claimed a question."""

    def __init__(self) -> None:
        super().__init__(open_store(DATABASE_URL).database)
        self.has_claimed, self.resumes = asyncio.Event(), asyncio.Event()

    async def write(self, change: Callable[[Transaction], Result]) -> Result:
        result = await super().write(change)
        if isinstance(result, Sequence) and any(isinstance(row, Question) for row in result):
            self.has_claimed.set()
            await self.resumes.wait()
        return result


async def test_digest_withdrawn_while_it_is_answered_is_dropped(talk: Talk) -> None:
    await subscribe(talk)
    await talk.process.stops()
    talk.process.store = store = HoldingStore()
    await talk.process.starts()
    working = asyncio.create_task(until(talk, 9))
    async with asyncio.timeout(HANG_SECONDS):
        await store.has_claimed.wait()
    await talk.ana.types("/docs-visitors unsubscribe")
    store.resumes.set()
    await working
    talk.ana.reads()
    assert digests(talk) == []
