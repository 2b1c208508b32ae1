"""The connection to the database: one set of rules for SQLite and PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from sqlite3 import OperationalError
from typing import Any

from sqlalchemy import AsyncAdaptedQueuePool, event
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

READ_ONLY = "docs_bot_read_only"
_BUSY_SECONDS = 10.0


def open_engine(url: str) -> AsyncEngine:
    """An engine for a SQLAlchemy URL (``sqlite+aiosqlite`` or ``postgresql+psycopg``).

    SQLite gets one connection: its writers queue anyway, and a queue in the process is fair and
    never reports "database is locked". A second process on the same file waits its turn.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _open_sqlite(url, parsed.database)
    return create_async_engine(url, pool_size=5, max_overflow=5, pool_pre_ping=True)


def _open_sqlite(url: str, path: str | None) -> AsyncEngine:
    if path and path != ":memory:" and not path.startswith("file:"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(
        url,
        poolclass=AsyncAdaptedQueuePool,
        pool_size=1,
        max_overflow=0,
        pool_timeout=60,
        connect_args={"timeout": _BUSY_SECONDS},
    )
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver must not begin transactions by itself: a deferred one that turns into a writer
    # fails at once with "database is locked", whatever the time-out.
    # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html#enabling-non-legacy-sqlite-transactional-modes-with-the-sqlite3-or-aiosqlite-driver
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    _switch_to_wal(cursor)
    cursor.close()


def _switch_to_wal(cursor: Any) -> None:
    """The switch does not wait for the busy time-out as all else does, so we wait ourselves.

    It happens once in a file's life, and only several processes that meet a new file can collide.
    """
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    read_only = connection.get_execution_options().get(READ_ONLY)
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection for looking only: on SQLite it does not keep writers out."""
    async with engine.connect() as connection:
        await connection.execution_options(**{READ_ONLY: True})
        yield connection
