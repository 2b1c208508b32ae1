"""What the registry does when its database is in trouble."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from bot.store import DatabaseTrouble, Store
from bot.store.database import Database
from bot.store.migrate import migrate
from bot.store.questions import Questions
from bot.store.store import WrongStatement
from tests.store.conftest import MigratedDatabases

SECRET = "Rotate the key of the Acme account"


async def test_an_error_of_the_database_does_not_quote_what_was_to_be_stored(database_url: str) -> None:
    nowhere = text("INSERT INTO nowhere VALUES (:raw)")
    for database in map(Database.open, (database_url, "sqlite:///:memory:")):
        with pytest.raises(SQLAlchemyError, match="nowhere") as error:
            await database.write(lambda connection: connection.execute(nowhere, {"raw": SECRET}).close())
        assert SECRET not in str(error.value)
        await database.close()


async def test_a_wrong_statement_is_no_trouble_of_the_database_and_quotes_no_value(
    migrated_databases: MigratedDatabases,
) -> None:
    with migrated_databases.one() as url:
        store = Store.open(url)
        wrong = text("SELECT nothing FROM jobs WHERE text = :raw").bindparams(raw=SECRET)
        for run in (store.read, store.write):
            with pytest.raises(WrongStatement, match="SELECT nothing") as error:
                await run(lambda tx: tx.connection.execute(wrong).close())
            assert not isinstance(error.value, DatabaseTrouble)
            assert SECRET not in str(error.value)
        await store.close()


async def test_a_database_that_is_away_at_the_end_does_not_spoil_an_orderly_stop(tmp_path: Path) -> None:
    path = tmp_path / "bot.db"
    store = Store.open(f"sqlite:///{path}")
    await migrate(store.database)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE questions")
    with pytest.raises(OperationalError):
        await store.read(lambda tx: Questions(tx).has_key("q"))
    await store.release("one")
    await store.close()
