"""Frequent statements use an index of jobs, prompts and deliveries."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from sqlalchemy import Connection, Engine, event

from bot.ids import UserId
from bot.store import Store
from bot.store.database import Database
from bot.store.retention import Retention, RowCounts, forget_person
from bot.store.schema import metadata
from sandbox.workspace.state import BOT_USER
from tests.services import LINK
from tests.store.finished import add_finished
from tests.talk import START, Talk

MENTION = f"<@{BOT_USER}>"
MANY = 100_000
LARGE = {"jobs", "prompts", "deliveries", "pull_requests", "audit"}
"""The tables that have a row for each job, or more."""
SMALL_INDEXES = {
    index.name for table in metadata.tables.values() for index in table.indexes if index.info
}
"""The indexes of some rows only."""
Statements = dict[str, Any]


@contextmanager
def recorded_statements() -> Iterator[Statements]:
    """Collect every statement but INSERT with its first parameters until the block ends."""
    statements: Statements = {}

    def record(
        _connection: Connection, _cursor: Any, statement: str, values: Any, *_more: Any
    ) -> None:
        if (
            statement.startswith(("SELECT", "WITH", "UPDATE", "DELETE"))
            and "pg_catalog" not in statement
        ):
            statements.setdefault(statement, values)

    event.listen(Engine, "before_cursor_execute", record)
    yield statements
    event.remove(Engine, "before_cursor_execute", record)


async def talk_of_all_sorts(talk: Talk, url: str) -> None:
    """Use every feature of the bot in a channel and as a person with many finished jobs."""
    talk.opens_channel("7")
    person = talk.newcomer("7")
    talk.room("7").members.append(person.id)
    await talk.process.starts(
        database_url=url.replace("postgresql+psycopg", "postgres"), github_token="token"
    )
    lists = "jobs", "jobs open", "jobs mine", "jobs mine open", "jobs review", "jobs mine review"
    for text in (*lists, "jobs find frogs", "status 77", "help", "usage"):
        await person.types(f"/docs-agent {text}", "7")
    await person.opens_home()
    for again in range(2):
        await person.asks("Add a page about frogs", "7")
        await talk.time.passes()
        await person.replies("Also mention toads", channel="7")
        await person.types("/docs-followup", "7")
        await talk.time.passes(minutes=again)
    mention = await person.says(f"{MENTION} add a page about newts", "7")
    await talk.time.passes()
    await person.edits(mention, f"{MENTION} add a page about newts and efts")
    await talk.ends(pr_link=LINK)
    await talk.time.passes(minutes=5)
    await person.presses("Next")
    for text in ("digest now", "last week", "subscribe monday 09:00"):
        await person.types(f"/docs-visitors {text}", "7")
    talk.service.says("get", 500, times=3)
    await person.asks("Add a page about salamanders", "7")
    await talk.time.passes(minutes=2)
    talk.time.is_set(days=6, hours=23)
    await talk.time.passes(minutes=90)
    await talk.metrics()
    talk.github.merge(talk.time.at)
    await talk.time.passes(minutes=30)
    await talk.process.stops()
    talk.everything()


def read_by_sqlite(connection: Connection, statement: str, values: Any) -> set[str]:
    """Return the tables, or the indexes of all rows, that a statement reads whole."""
    names = dict(re.findall(r"(?:FROM|JOIN|,) (\w+) AS (\w+)", statement))
    tables = {alias: table for table, alias in names.items()}
    plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
    matches = [re.match(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?", row[3]) for row in plan]
    scans = [(tables.get(match[1], match[1]), match[2]) for match in matches if match]
    return {table for table, index in scans if table in LARGE and index not in SMALL_INDEXES}


def read_by_postgresql(connection: Connection, statement: str, values: Any) -> set[str]:
    """Return the tables that a statement reads whole, or by an index of all rows without a condition."""
    driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    # ClientCursor puts the values into the statement, for which the server plans at the first execution.
    with psycopg.ClientCursor(driver) as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)
        [[[whole]]] = cursor.fetchall()
    nodes, scans = [whole["Plan"]], set[str]()
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", ())
        by_index = "Index Cond" in node or node.get("Index Name") in SMALL_INDEXES
        if node["Node Type"] == "Seq Scan" or (
            node["Node Type"].startswith("Index") and not by_index
        ):
            scans.add(node["Relation Name"])
    return scans & LARGE


@pytest.mark.slow
async def test_frequent_statements_read_no_table_whole(
    database: Database, database_url: str, talk: Talk
) -> None:
    await database.write(
        lambda connection: add_finished(connection, MANY, START + timedelta(days=1))
    )
    with recorded_statements() as statements:
        await talk_of_all_sorts(talk, database_url)
    if database.is_postgresql:
        with psycopg.connect(
            database_url.replace("+psycopg", "", 1), autocommit=True
        ) as connection:
            connection.execute("ANALYZE")
    read = read_by_postgresql if database.is_postgresql else read_by_sqlite

    def whole(connection: Connection) -> dict[str, set[str]]:
        scanned = {
            statement: read(connection, statement, values)
            for statement, values in statements.items()
        }
        return {
            " ".join(statement.split()): tables for statement, tables in scanned.items() if tables
        }

    def texts(connection: Connection) -> set[str]:
        selects = (
            query for query in statements if query.startswith("SELECT") and " jobs.text" in query
        )
        counts = {
            query: len(connection.exec_driver_sql(query, statements[query]).all())
            for query in selects
        }
        return {query for query, count in counts.items() if count > 1_000}

    assert len(statements) > 130
    assert await database.read(whole) == {}
    assert await database.write(texts) == set()


async def test_person_is_forgotten_by_short_transactions(
    prepared_file: Path, tmp_path: Path
) -> None:
    """Writes of the bot wait for each transaction of the command that forgets a person."""
    store = Store.open(f"sqlite:///{shutil.copyfile(prepared_file, tmp_path / 'bot.db')}")
    changed = [0]

    def commit(connection: Connection) -> None:
        driver = cast("sqlite3.Connection", connection.connection.driver_connection)
        changed.append(driver.total_changes - sum(changed))

    event.listen(Engine, "commit", commit)
    await store.database.write(lambda connection: add_finished(connection, 300, START, people=2))
    filled = len(changed)
    with recorded_statements() as statements:
        forgotten, remaining = await forget_person(store, UserId("U1"))
    event.remove(Engine, "commit", commit)
    counted = {"jobs": 150, "prompts": 150, "pull requests": 150, "audit rows": 150}
    assert (forgotten, remaining) == (RowCounts(counted), RowCounts())
    assert max(changed[filled:]) <= 50 * 5
    with recorded_statements() as reading:
        await store.read(
            lambda tx: (
                Retention(tx).find_person(UserId("U1")),
                Retention(tx).under_way(UserId("U1")),
            )
        )
    writes = {query: values for query, values in statements.items() if query not in reading}
    assert len(writes) > 5

    def whole(connection: Connection) -> dict[str, set[str]]:
        return {
            query: read_by_sqlite(connection, query, values) for query, values in writes.items()
        }

    assert set().union(*(await store.database.read(whole)).values()) == set()
    await store.close()
