"""What the registry does when its database is in trouble."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from bot.store import Store
from bot.store.database import open_engine
from bot.store.migrate import migrate
from tests.builders import HeldClock

SECRET = "Rotate the key of the Acme account"


async def test_an_error_of_the_database_does_not_quote_what_was_to_be_stored(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite+aiosqlite:///{tmp_path / 'bot.db'}")
    try:
        with pytest.raises(OperationalError, match="nowhere") as error:
            async with engine.begin() as connection:
                await connection.execute(text("INSERT INTO nowhere VALUES (:raw)"), {"raw": SECRET})
        assert SECRET not in str(error.value)
    finally:
        await engine.dispose()


async def test_that_holds_for_postgresql_too() -> None:
    engine = open_engine("postgresql+psycopg://nobody@127.0.0.1:9/none")
    assert engine.sync_engine.hide_parameters
    await engine.dispose()


async def test_a_database_that_is_away_at_the_end_does_not_spoil_an_orderly_stop(tmp_path: Path) -> None:
    path = tmp_path / "bot.db"
    engine = open_engine(f"sqlite+aiosqlite:///{path}")
    store = Store(engine)
    try:
        await migrate(engine)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TABLE questions")
        with pytest.raises(OperationalError):
            async with store.look() as tx:
                await tx.questions.any_due(HeldClock()())
        await store.release("one")
    finally:
        await engine.dispose()
