"""SQLite's thread visited once for each statement.

aiosqlite has a thread for each connection, and SQLAlchemy visits it four times for one statement: for a
cursor, to execute, to fetch, to close. Each visit costs more than the statement itself, so here all four
happen in one (https://docs.sqlalchemy.org/en/21/core/engines.html#sqlalchemy.create_engine.params.connect_args).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Self

import aiosqlite

Fetched = tuple[Sequence[Any], Any, int, int | None]
"""Rows, description, row count, last row id."""


class OneTripCursor:
    """What SQLAlchemy asks of a cursor; all rows are there as soon as it has executed."""

    arraysize = 1

    def __init__(self, connection: OneTripConnection) -> None:
        self._connection = connection
        self._rows: Sequence[Any] = ()
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, statement: str, parameters: Any = ()) -> OneTripCursor:
        """Execute and fetch."""
        return self._keep(await self._connection.in_thread(_execute, statement, parameters))

    async def executemany(self, statement: str, many: Iterable[Any]) -> OneTripCursor:
        """The same statement with each of the parameters."""
        return self._keep(await self._connection.in_thread(_execute_many, statement, many))

    async def fetchall(self) -> Sequence[Any]:
        """What the statement brought."""
        return self._rows

    async def close(self) -> None:
        """Nothing is left open."""

    def _keep(self, fetched: Fetched) -> OneTripCursor:
        self._rows, self.description, self.rowcount, self.lastrowid = fetched
        return self


class OneTripConnection(aiosqlite.Connection):
    """A connection whose cursors visit its thread once."""

    def cursor(self) -> OneTripCursor:  # type: ignore[override]
        """A cursor; nothing happens until it executes."""
        return OneTripCursor(self)

    async def in_thread(self, run: Any, *arguments: Any) -> Fetched:
        """Run a function with the driver's own connection in this connection's thread."""
        fetched: Fetched = await self._execute(run, self._conn, *arguments)  # type: ignore[no-untyped-call]
        return fetched


def connect(path: str, **options: Any) -> OneTripConnection:
    """To be awaited, as aiosqlite's ``connect``; its thread keeps no process alive."""
    connection = OneTripConnection(partial(sqlite3.connect, path, **options), 64)
    connection._thread.daemon = True
    return connection


def _execute(connection: sqlite3.Connection, statement: str, parameters: Any) -> Fetched:
    cursor = connection.cursor()
    try:
        cursor.execute(statement, parameters)
        return _fetched(cursor)
    finally:
        cursor.close()


def _execute_many(connection: sqlite3.Connection, statement: str, many: Iterable[Any]) -> Fetched:
    cursor = connection.cursor()
    try:
        cursor.executemany(statement, many)
        return _fetched(cursor)
    finally:
        cursor.close()


def _fetched(cursor: sqlite3.Cursor) -> Fetched:
    # The count of a statement that returns rows is known once they have been fetched.
    rows = cursor.fetchall() if cursor.description else ()
    return rows, cursor.description, cursor.rowcount, cursor.lastrowid
