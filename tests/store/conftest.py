"""Every test of the registry runs on both databases."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

import bot.app  # noqa: F401 - declares the queues and the retention rules of all features
from bot.store import Store
from bot.store.database import Database
from bot.store.upgrade import upgrade_tables
from tests.databases import PostgresServer


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    server = PostgresServer(tmp_path_factory.mktemp("pg"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def prepared_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a SQLite file with all tables; a copy takes a tenth of the time that creating them takes."""
    file = tmp_path_factory.mktemp("sqlite") / "prepared.db"
    asyncio.run(_prepare(f"sqlite:///{file}"))
    return file


class PreparedDatabases:
    """PostgreSQL databases with all tables.

    A used database is emptied for the next test in a quarter of the time of a copy.
    """

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        url = server.new_database()
        asyncio.run(_prepare(url))
        self._template, self._shape = str(make_url(url).database), server.shape(url)
        self._left: list[str] = []

    @contextmanager
    def one(self) -> Iterator[str]:
        """The URL of a database without rows, for a test."""
        while self._left:
            if self._server.is_emptied(url := self._left.pop(), self._shape):
                break
        else:
            url = self._server.new_database(self._template)
        yield url
        self._left.append(url)


@pytest.fixture(scope="session")
def prepared_databases(postgres: PostgresServer) -> PreparedDatabases:
    """PostgreSQL databases with all tables."""
    return PreparedDatabases(postgres)


async def _prepare(url: str) -> None:
    database = Database.open(url)
    await upgrade_tables(database)
    await database.close()


@pytest.fixture
def is_prepared() -> bool:
    """Whether a fresh database has its tables. Tests of their creation begin with an empty one."""
    return True


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(
    request: pytest.FixtureRequest, tmp_path: Path, is_prepared: bool
) -> Iterator[str]:
    """The URL of a fresh database."""
    if request.param == "sqlite":
        file = tmp_path / "bot.db"
        if is_prepared:
            shutil.copyfile(request.getfixturevalue("prepared_file"), file)
        yield f"sqlite:///{file}"
    elif is_prepared:
        databases: PreparedDatabases = request.getfixturevalue("prepared_databases")
        with databases.one() as url:
            yield url
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        yield server.new_database()


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A database with all tables."""
    database = Database.open(database_url)
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
