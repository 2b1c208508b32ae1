"""Whoever locks several rows takes them in one order, so that no two transactions wait for each other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Connection

from bot.ids import JobNumber, Refusal
from bot.jobs.decisions import stop_watching
from bot.jobs.model.pull_requests import GIVEN_UP_AFTER
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import Quota
from bot.jobs.store.tables import jobs, limits, previews, prompts
from bot.outbox.store import deliveries
from bot.ports import SlackRefused
from bot.store import Store, Transaction
from bot.store.database import Database
from tests.builders import BEN, PROJECT
from tests.store.conftest import MigratedDatabases
from tests.work.office import Office

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
async def office(migrated_databases: MigratedDatabases) -> AsyncIterator[Office]:
    with migrated_databases.one() as url:
        office = Office(Store.open(url))
        yield office
        await office.close()


async def _main_story(office: Office) -> None:
    await office.finished()
    await office.reply("Mention Python 3.11", user=BEN)
    await office.settle()
    office.docs.finish()
    await office.settle()
    await office.press("reviewed", "1")


async def _quota(office: Office) -> None:
    office.limit(1)
    for number in range(3):
        await office.ask(f"Write page {number}")
    await office.settle()
    await office.press("withdraw", "3")
    await office.pass_time(3_700)


async def _changes(office: Office) -> None:
    office.limit(1)
    await office.started()
    await office.ask("Write the second page")
    await office.settle()
    await stop_watching(office.context, await office.steers())
    await office.run_again(1)
    await office.settle()


async def _unconfirmed(office: Office) -> None:
    office.docs.answer_instead("create", httpx.ReadError("cut off"))
    await office.started()
    await office.press("send_again", "1")
    await office.settle()
    office.docs.finish()
    await office.settle()


async def _several_ends(office: Office) -> None:
    for number in range(3):
        await office.started(f"Write page {number}")
    office.docs.finish()
    await office.settle()


async def _closed_channel(office: Office) -> None:
    office.slack.trouble("post", SlackRefused(Refusal.PERMANENT, "is_archived"))
    await office.started()
    await office.started("Write another page")


async def _previews(office: Office) -> None:
    office.docs.branch = "agent/quickstart"
    await office.finished()
    await office.finished("Write another page")
    await office.press("preview", "1")
    await office.settle()
    office.clock.pass_seconds(GIVEN_UP_AFTER.total_seconds())
    await office.press("preview", "2")  # claimed together with the one that is given up
    await office.settle(30)
    office.docs.answer_instead("preview", httpx.Response(403, json={"error": "not on this plan"}))
    await office.press("preview", "1")
    await office.settle()


async def _refused_key(office: Office) -> None:
    for number in range(3):
        await office.started(f"Write page {number}")
    office.docs.says("create", 401, times=3)
    for number in range(3):
        await office.ask(f"Write chapter {number}")
    await office.settle()
    await office.pass_time(900)
    await office.pass_time(4_000)


async def _trouble(office: Office) -> None:
    for number in range(3):
        await office.started(f"Write page {number}")
    office.docs.says("get", 503, times=1_000)
    await office.settle(700)
    await office.pass_time(60)
    assert (await office.job()).trouble
    office.docs.instead.clear()
    await office.settle(60)
    await office.pass_time(60)
    assert not (await office.job()).trouble


@pytest.mark.parametrize(
    "story",
    [
        *(_main_story, _quota, _changes, _unconfirmed, _several_ends, _closed_channel, _previews),
        *(_refused_key, _trouble),
    ],
)
async def test_rows_are_locked_in_one_order(
    office: Office, story: Callable[[Office], Awaitable[None]]
) -> None:
    watch = Watch(office.store.database)
    await story(office)
    assert watch.statements > 10
    assert watch.late == []


async def test_the_watch_sees_what_is_locked_after_what_comes_behind_it(office: Office) -> None:
    await office.ask("Add a quickstart")
    await office.store.write(lambda tx: Quota(tx).lock(PROJECT))
    watch = Watch(office.store.database)

    def wrong(tx: Transaction) -> None:
        Jobs(tx).lock(JobNumber(1))
        tx.connection.exec_driver_sql("UPDATE prompts SET attempts = 1")
        Quota(tx).lock(PROJECT)

    await office.store.write(wrong)
    assert len(watch.late) == 2
