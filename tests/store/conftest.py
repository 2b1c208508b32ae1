"""Every test of the registry runs on both databases."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

import bot.app  # noqa: F401 - declares the queues and the retention rules of all subjects
from bot.store import Store
from bot.store.database import Database
from bot.store.stamp import create_tables
from tests.databases import PostgresServer


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    server = PostgresServer(tmp_path_factory.mktemp("pg"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a SQLite file with the newest schema; a copy takes a tenth of the time of all migrations."""
    file = tmp_path_factory.mktemp("sqlite") / "migrated.db"
    asyncio.run(_migrate(f"sqlite:///{file}"))
    return file


class MigratedDatabases:
    """PostgreSQL databases with the newest schema.

    A used database is emptied for the next test in a quarter of the time of a copy.
    """

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        url = server.new_database()
        asyncio.run(_migrate(url))
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
def migrated_databases(postgres: PostgresServer) -> MigratedDatabases:
    """PostgreSQL databases with the newest schema."""
    return MigratedDatabases(postgres)


async def _migrate(url: str) -> None:
    database = Database.open(url)
    await create_tables(database)
    await database.close()


@pytest.fixture
def is_migrated() -> bool:
    """Whether a fresh database has the newest schema. Tests of the migrations begin with an empty one."""
    return True


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path, is_migrated: bool) -> Iterator[str]:
    """The URL of a fresh database."""
    if request.param == "sqlite":
        file = tmp_path / "bot.db"
        if is_migrated:
            shutil.copyfile(request.getfixturevalue("migrated_file"), file)
        yield f"sqlite:///{file}"
    elif is_migrated:
        databases: MigratedDatabases = request.getfixturevalue("migrated_databases")
        with databases.one() as url:
            yield url
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        yield server.new_database()


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A database with the newest schema."""
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
