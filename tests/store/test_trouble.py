"""Errors of the database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from bot.store import DatabaseTrouble, Store
from bot.store.database import Database
from bot.store.store import WrongStatement
from bot.store.upgrade import upgrade_tables
from bot.visitors.store import Questions
from tests.store.conftest import PreparedDatabases

SECRET = "Rotate the key of the Acme account"


async def test_database_error_contains_no_stored_values(database_url: str) -> None:
    nowhere = text("INSERT INTO nowhere VALUES (:raw)")
    for database in map(Database.open, (database_url, "sqlite:///:memory:")):
        with pytest.raises(SQLAlchemyError, match="nowhere") as error:
            await database.write(
                lambda connection: connection.execute(nowhere, {"raw": SECRET}).close()
            )
        assert SECRET not in str(error.value)
        await database.close()


async def test_wrong_statement_is_no_database_trouble(
    prepared_databases: PreparedDatabases,
) -> None:
    with prepared_databases.one() as url:
        store = Store.open(url)
        wrong = text("SELECT nothing FROM jobs WHERE text = :raw").bindparams(raw=SECRET)
        for run in (store.read, store.write):
            with pytest.raises(WrongStatement, match="SELECT nothing") as error:
                await run(lambda tx: tx.connection.execute(wrong).close())
            assert not isinstance(error.value, DatabaseTrouble)
            assert SECRET not in str(error.value)
        await store.close()


async def test_second_row_with_a_unique_key_is_no_database_trouble(store: Store) -> None:
    row = text("INSERT INTO channels (id, is_mention_only) VALUES (:raw, false)").bindparams(
        raw=SECRET
    )
    await store.write(lambda tx: tx.connection.execute(row).close())
    with pytest.raises(WrongStatement, match="INSERT INTO channels") as error:
        await store.write(lambda tx: tx.connection.execute(row).close())
    assert SECRET not in str(error.value)


async def test_process_stops_without_error_when_the_database_fails(tmp_path: Path) -> None:
    path = tmp_path / "bot.db"
    store = Store.open(f"sqlite:///{path}")
    await upgrade_tables(store.database)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE questions")
    with pytest.raises(OperationalError):
        await store.read(lambda tx: Questions(tx).has_key("q"))
    await store.release("one")
    await store.close()
