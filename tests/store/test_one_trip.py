"""SQLite through one visit of its thread for each statement behaves as through four."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.store.database import open_engine, reading


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    engine = open_engine(f"sqlite+aiosqlite:///{tmp_path / 'bot.db'}")
    async with engine.begin() as connection:
        await connection.execute(text("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE)"))
    yield engine
    await engine.dispose()


async def _names(connection: AsyncConnection) -> list[str]:
    rows = await connection.execute(text("SELECT name FROM things ORDER BY id"))
    return [row.name for row in rows]


async def test_rows_counts_and_keys_come_back(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        added = await connection.execute(text("INSERT INTO things (name) VALUES ('a') RETURNING id"))
        assert added.scalar_one() == 1
        many = [{"name": name} for name in "bcd"]
        await connection.execute(text("INSERT INTO things (name) VALUES (:name)"), many)
        changed = await connection.execute(text("UPDATE things SET name = name || '!' WHERE id > 2"))
        assert changed.rowcount == 2
        gone = await connection.execute(text("DELETE FROM things WHERE id > 9"))
        assert gone.rowcount == 0
    async with reading(engine) as connection:
        assert await _names(connection) == ["a", "b", "c!", "d!"]


async def _run_all(engine: AsyncEngine, *statements: str) -> None:
    async with engine.begin() as connection:
        for statement in statements:
            await connection.execute(text(statement))


async def test_what_fails_is_told_and_undone(engine: AsyncEngine) -> None:
    twice = "INSERT INTO things (name) VALUES ('a')"
    with pytest.raises(IntegrityError):
        await _run_all(engine, twice, twice)
    with pytest.raises(OperationalError):
        await _run_all(engine, twice, "SELECT * FROM nowhere")
    async with reading(engine) as connection:
        assert await _names(connection) == []


async def test_who_stops_waiting_leaves_a_connection_that_works_and_nothing_written(
    engine: AsyncEngine,
) -> None:
    async def write() -> None:
        async with engine.begin() as connection:
            await connection.execute(text("INSERT INTO things (name) VALUES ('a')"))
            await asyncio.Event().wait()

    for _ in range(5):
        task = asyncio.create_task(write())
        await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with reading(engine) as connection:
        assert await _names(connection) == []


async def test_the_driver_is_visited_once_for_a_statement(engine: AsyncEngine) -> None:
    async with reading(engine) as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        cursor = driver.cursor()
        await cursor.execute("SELECT 1 AS one UNION SELECT 2")
        assert (cursor.description[0][0], await cursor.fetchall()) == ("one", [(1,), (2,)])
        with pytest.raises(sqlite3.OperationalError):
            await cursor.execute("nonsense")
        await cursor.close()
