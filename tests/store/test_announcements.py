"""Work that one process writes is announced to the workers of another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import event, text

from bot.store import Store
from bot.store.database import Database
from bot.store.heartbeats import Announcer, Listener
from bot.store.migrate import migrate
from tests.builders import add_job
from tests.databases import PostgresServer
from tests.limits import HANG_SECONDS


@asynccontextmanager
async def listening(database: Database) -> AsyncIterator[asyncio.Event]:
    """An event that is set whenever another process may have written work."""
    received = asyncio.Event()
    listener = Listener(database, received.set)
    listener.start()
    yield received
    listener.stop()


async def announced(store: Store, announcer: Announcer, received: asyncio.Event) -> None:
    """Write and announce until it has been heard: who listens may not have begun yet."""
    async with asyncio.timeout(HANG_SECONDS):
        while not received.is_set():
            await add_job(store)
            announcer.wake()
            await asyncio.sleep(0.05)


ON_POSTGRES = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@ON_POSTGRES
async def test_what_another_process_writes_is_heard(store: Store, another: Store) -> None:
    async with listening(store.database) as received:
        await announced(another, Announcer(another.database), received)
        received.clear()
        await announced(another, Announcer(another.database), received)


async def test_a_listener_whose_connection_is_cut_listens_again(postgres: PostgresServer) -> None:
    store = Store.open(postgres.new_database())
    await migrate(store.database)
    async with listening(store.database) as received:
        await announced(store, Announcer(store.database), received)
        # Those of the tests before end a second later.
        others = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        )
        cut = await store.database.write(lambda connection: len(connection.execute(text(others)).all()))
        assert cut == 1
        received.clear()
        await announced(store, Announcer(store.database), received)
    await store.close()


async def test_nothing_is_announced_over_a_database_that_is_closed(postgres: PostgresServer) -> None:
    database, opened = Database.open(postgres.new_database(), connections=1), list[object]()
    event.listen(database._writer, "connect", lambda connection, _record: opened.append(connection))
    announcer = Announcer(database)
    announcer.wake()
    await asyncio.sleep(0)
    announcer.wake()
    await database.close()
    assert announcer._task is not None
    await announcer._task
    assert len(opened) == 1


async def test_announcements_that_come_at_once_share_one(postgres: PostgresServer) -> None:
    database = Database.open(postgres.new_database(), connections=1)
    announcer, received = Announcer(database), 0

    def count() -> None:
        nonlocal received
        received += 1

    listener = Listener(database, count)
    listener.start()
    async with asyncio.timeout(HANG_SECONDS):
        while not received:
            announcer.wake()
            await asyncio.sleep(0.05)
    before = received
    for _ in range(100):
        announcer.wake()
    async with asyncio.timeout(HANG_SECONDS):
        while received == before:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    assert received - before <= 3
    listener.stop()
    await database.close()
