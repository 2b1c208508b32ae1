"""Every test of the registry runs on both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from bot.store import Store
from bot.store.database import Database
from bot.store.migrate import migrate
from tests.databases import PostgresServer


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    server = PostgresServer(tmp_path_factory.mktemp("pg"))
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a fresh, empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'bot.db'}"
    new_database: Callable[[], str] = request.getfixturevalue("postgres").new_database
    return new_database()


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A database with the newest schema."""
    database = Database.open(database_url)
    await migrate(database)
    yield database
    await database.close()


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)


@pytest.fixture
async def another(database_url: str) -> AsyncIterator[Store]:
    """A store on the same database, as another process has it."""
    another = Store.open(database_url)
    yield another
    await another.close()
