"""Whoever locks several rows takes them in one order, so that no two transactions wait for each other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Connection

from bot.ids import JobNumber
from bot.jobs.model.pull_requests import GIVEN_UP_AFTER
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import Quota
from bot.jobs.store.tables import jobs, limits, previews, prompts
from bot.outbox.store import deliveries
from bot.store import Store, Transaction
from bot.store.database import Database
from tests.builders import PROJECT
from tests.store.conftest import MigratedDatabases
from tests.talk import Talk
from tests.talk_database import locked

_ORDER = (limits.c.project, prompts.c.id, jobs.c.number, previews.c.job, deliveries.c.id)
"""The keys of the tables whose rows are locked in this order; jobs among themselves by number."""
_LOCKED = " UNION ALL ".join(
    f"SELECT {place}, {key.name if key is jobs.c.number else 0}, {key.name}::text"  # noqa: S608
    f" FROM {key.table.name} WHERE own IN (xmin, xmax)"
    for place, key in enumerate(_ORDER)
).replace("own", "(SELECT pg_current_xact_id_if_assigned()::xid)")
"""The rows that the transaction has written or locked: it is their xmin or xmax.

https://www.postgresql.org/docs/current/ddl-system-columns.html
"""


class Watch:
    """The statements that waited for a row which their transaction should have locked earlier."""

    def __init__(self, database: Database) -> None:
        self.late: list[str] = []
        self.statements = 0
        event.listen(database._writer, "after_cursor_execute", self._look)

    def _look(
        self, connection: Connection, _cursor: Any, statement: str, _values: Any, _context: Any, _many: bool
    ) -> None:
        if statement == _LOCKED or connection.get_execution_options().get("postgresql_readonly"):
            return
        held: set[tuple[int, int, str]] = connection.info.setdefault(connection.get_transaction(), set())
        now = {(place, number, key) for place, number, key in connection.exec_driver_sql(_LOCKED)}
        new = now - held
        self.statements += bool(new)
        # Nobody waits for a row that only its own transaction sees, nor to claim one.
        waited = not statement.startswith("INSERT") and "SKIP LOCKED" not in statement
        if waited and held and new and min(each[:2] for each in new) < max(each[:2] for each in held):
            self.late.append(f"{' '.join(statement.split())[:120]} … with {max(held)} held")
        held |= new


@pytest.fixture
async def talk(talk: Talk, migrated_databases: MigratedDatabases) -> AsyncIterator[Talk]:
    """A conversation on PostgreSQL."""
    with migrated_databases.one() as url:
        talk.process.settings["DATABASE_URL"] = url.replace("+psycopg", "")
        yield talk
        await talk.process.close()


async def _main_story(talk: Talk) -> None:
    await talk.finished()
    await talk.ben.replies("Mention Python 3.11")
    await talk.time.passes(20)
    await talk.ends()
    await talk.ana.presses("Reviewed")


async def _quota(talk: Talk) -> None:
    for number in range(3):
        await talk.ana.asks(f"Write page {number}")
    await talk.time.passes()
    await talk.ana.presses("Withdraw")
    await talk.time.passes(3_700)


async def _changes(talk: Talk) -> None:
    await talk.started()
    await talk.started("Write the second page")
    await talk.ana.replies("stop")
    await talk.time.passes()
    await talk.ana.presses("Keep quiet about it")
    await talk.time.passes(3_700)
    await talk.ends("failed")
    await talk.ana.presses("Run again")
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()


async def _unconfirmed(talk: Talk) -> None:
    talk.service.answer_instead("create", httpx.ReadError("cut off"))
    await talk.started()
    await talk.ana.presses("Send again")
    await talk.time.passes()
    await talk.ends()


async def _several_ends(talk: Talk) -> None:
    for number in range(3):
        await talk.started(f"Write page {number}")
    async with locked(talk.process.settings):
        await talk.ends()
    assert ["Pull request ready" in talk.status(nth) for nth in (1, 2, 3)] == [False, True, True]
    await talk.time.passes(60)


async def _closed_channel(talk: Talk) -> None:
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.started()
    await talk.started("Write another page")


async def _previews(talk: Talk) -> None:
    talk.service.branch = "agent/quickstart"
    await talk.finished()
    await talk.finished("Write another page")
    [first], [second] = talk.replies(1), talk.replies(2)
    await talk.ana.presses("Preview", on=first)
    await talk.time.passes(1)
    talk.time.is_set(seconds=GIVEN_UP_AFTER.total_seconds())
    await talk.ana.presses("Preview", on=second)  # claimed together with the one that is given up
    await talk.time.passes(30)
    talk.service.says("preview", 403)
    await talk.ana.presses("Preview", on=first)
    await talk.time.passes()


async def _refused_key(talk: Talk) -> None:
    for number in range(3):
        await talk.started(f"Write page {number}")
    talk.service.says("create", 401, times=3)
    for number in range(3):
        await talk.ana.asks(f"Write chapter {number}")
    await talk.time.passes(900)
    await talk.time.passes(4_000)
    assert talk.errors() == {"key_refused"}


async def _trouble(talk: Talk) -> None:
    for number in range(3):
        await talk.started(f"Write page {number}")
    talk.service.says("get", 503, times=1_000)
    async with locked(talk.process.settings):
        await talk.time.passes(800)
    assert "hasn't given a usable answer" in talk.status(2)
    talk.service.instead.clear()
    await talk.time.passes(120)


async def _digests(talk: Talk) -> None:
    for channel in ("docs", "general"):
        await talk.ana.types("/docs-visitors subscribe monday 09:00 UTC", channel)
    await talk.time.passes(60)
    posts = len(talk.channel("general"))
    async with locked(talk.process.settings, "subscriptions WHERE channel = 'C01DOCS'"):
        await talk.time.passes(days=7)
    assert len(talk.channel("general")) == posts + 1


def database_of(talk: Talk) -> Database:
    assert talk.process.bot is not None
    return talk.process.bot._context.store.database


@pytest.mark.parametrize(
    "story",
    [
        *(_main_story, _quota, _changes, _unconfirmed, _several_ends, _closed_channel, _previews),
        *(_refused_key, _trouble, _digests),
    ],
)
async def test_no_transaction_waits_for_another(talk: Talk, story: Callable[[Talk], Awaitable[None]]) -> None:
    await talk.process.starts(uses_an_hour=1 if story in (_quota, _changes) else 100)
    watch = Watch(database_of(talk))
    await story(talk)
    assert watch.statements > 10
    assert watch.late == []
    talk.everything()


async def test_the_watch_sees_what_is_locked_after_what_comes_behind_it(talk: Talk) -> None:
    await talk.ana.asks("Add a quickstart")
    store = Store(database_of(talk))
    await store.write(lambda tx: Quota(tx).lock(PROJECT))
    watch = Watch(store.database)

    def wrong(tx: Transaction) -> None:
        Jobs(tx).lock(JobNumber(1))
        tx.connection.exec_driver_sql("UPDATE prompts SET attempts = 1")
        Quota(tx).lock(PROJECT)

    await store.write(wrong)
    assert len(watch.late) == 2
