"""Errors and conflicts of the database."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import TextClause, text
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from bot.ids import ChannelId, ProjectId
from bot.store import DatabaseTrouble, Store, Transaction
from bot.store.channels import Channels
from bot.store.database import Database
from bot.store.migrate import migrate_schema
from bot.store.store import WrongStatement
from bot.visitors.store import Questions
from tests.limits import HANG_SECONDS
from tests.store.conftest import MigratedDatabases

SECRET = "Rotate the key of the Acme account"


async def test_database_error_contains_no_stored_values(database_url: str) -> None:
    nowhere = text("INSERT INTO nowhere VALUES (:raw)")
    for database in map(Database.open, (database_url, "sqlite:///:memory:")):
        with pytest.raises(SQLAlchemyError, match="nowhere") as error:
            await database.write(lambda connection: connection.execute(nowhere, {"raw": SECRET}).close())
        assert SECRET not in str(error.value)
        await database.close()


async def test_wrong_statement_is_no_database_trouble(migrated_databases: MigratedDatabases) -> None:
    with migrated_databases.one() as url:
        store = Store.open(url)
        wrong = text("SELECT nothing FROM jobs WHERE text = :raw").bindparams(raw=SECRET)
        for run in (store.read, store.write):
            with pytest.raises(WrongStatement, match="SELECT nothing") as error:
                await run(lambda tx: tx.connection.execute(wrong).close())
            assert not isinstance(error.value, DatabaseTrouble)
            assert SECRET not in str(error.value)
        await store.close()


async def test_process_stops_without_error_when_the_database_fails(tmp_path: Path) -> None:
    path = tmp_path / "bot.db"
    store = Store.open(f"sqlite:///{path}")
    await migrate_schema(store.database)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE questions")
    with pytest.raises(OperationalError):
        await store.read(lambda tx: Questions(tx).has_key("q"))
    await store.release("one")
    await store.close()


def _conflict(code: str) -> TextClause:
    return text(f"DO $$ BEGIN RAISE SQLSTATE '{code}'; END $$")


@pytest.mark.parametrize("code", ["40001", "40P01"])
async def test_conflicting_change_is_repeated_three_times(
    migrated_databases: MigratedDatabases, code: str
) -> None:
    with migrated_databases.one() as url:
        store, runs = Store.open(url), list[int]()

        def change(tx: Transaction, conflicts: int) -> int:
            runs.append(conflicts)
            if len(runs) <= conflicts:
                tx.connection.execute(_conflict(code))
            return len(runs)

        assert await store.write(partial(change, conflicts=3)) == 4
        runs.clear()
        with pytest.raises(DatabaseTrouble):
            await store.write(partial(change, conflicts=4))
        assert len(runs) == 4
        await store.close()


async def test_both_changes_of_a_deadlock_succeed(migrated_databases: MigratedDatabases) -> None:
    with migrated_databases.one() as url:
        store, both_hold = Store.open(url), threading.Barrier(2)
        numbers = "INSERT INTO channels (id, by_mention) VALUES ('C1', false), ('C2', false)"
        await store.write(lambda tx: tx.connection.execute(text(numbers)).close())

        def choose(tx: Transaction, channels: Sequence[ChannelId]) -> None:
            for channel in channels:
                Channels(tx).choose_project(channel, ProjectId(channels[0]))
                with suppress(threading.BrokenBarrierError):
                    both_hold.wait(HANG_SECONDS)
                both_hold.abort()  # the change that is repeated waits for nobody

        orders = [ChannelId("C1"), ChannelId("C2")], [ChannelId("C2"), ChannelId("C1")]
        await asyncio.gather(*(store.write(partial(choose, channels=order)) for order in orders))
        chosen = await store.read(lambda tx: [Channels(tx).project(channel) for channel in orders[0]])
        assert chosen in (["C1", "C1"], ["C2", "C2"])
        await store.close()
