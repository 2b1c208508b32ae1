"""The databases of runs, their PostgreSQL, and faults that lock them or make them unreachable."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from tests.databases import PostgresServer
from tests.torture.plan import Plan


@asynccontextmanager
async def postgres(folder: Path, *, is_needed: bool = True) -> AsyncIterator[str]:
    """Start a PostgreSQL server and yield its address; an empty text if no plan needs one."""
    if not is_needed:
        yield ""
        return
    server = await asyncio.to_thread(PostgresServer, folder)
    try:
        yield (await asyncio.to_thread(server.new_database)).replace("+psycopg", "", 1)
    finally:
        await asyncio.to_thread(server.stop)


def database_for(plan: Plan, folder: Path, postgres: str) -> str:
    """Create the database of a run and return its URL; ``postgres`` is the URL of the server."""
    if plan.database == "sqlite":
        return f"sqlite:///{folder / 'docs-bot.db'}"
    name = f"torture_{uuid.uuid4().hex[:16]}"
    _order(postgres, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    parts = urlsplit(postgres)
    return urlunsplit(parts._replace(scheme="postgres", path=f"/{name}"))


def drop(url: str, postgres: str) -> None:
    """Drop the database of a run, if it is in PostgreSQL."""
    if url.startswith("postgres"):
        name = sql.Identifier(_name(url))
        _order(postgres, sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))


def _name(url: str) -> str:
    return urlsplit(url).path.lstrip("/")


def _order(postgres: str, statement: sql.Composed) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(statement)


async def lock(url: str, seconds: float) -> None:
    """Hold SQLite's write lock for some seconds, as another process would."""

    def hold() -> sqlite3.Connection:
        connection = sqlite3.connect(
            url.removeprefix("sqlite:///"), timeout=5, check_same_thread=False
        )
        connection.isolation_level = None
        connection.execute("BEGIN IMMEDIATE")
        return connection

    connection = await asyncio.to_thread(hold)
    with closing(connection):
        await asyncio.sleep(seconds)
        connection.execute("ROLLBACK")


async def go_away(url: str, postgres: str, seconds: float) -> None:
    """End all connections to a PostgreSQL database and refuse new ones for some seconds."""
    name = _name(url)
    allow = sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS {}")
    await asyncio.to_thread(_order, postgres, allow.format(sql.Identifier(name), sql.SQL("false")))
    ends = sql.SQL("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = {}")
    await asyncio.to_thread(_order, postgres, ends.format(sql.Literal(name)))
    try:
        await asyncio.sleep(seconds)
    finally:
        await asyncio.to_thread(
            _order, postgres, allow.format(sql.Identifier(name), sql.SQL("true"))
        )
