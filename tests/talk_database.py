"""The database of a conversation: one file, empty at the start of each test."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import create_engine, inspect
from sqlalchemy.pool import StaticPool

from bot.app import open_store
from bot.settings import Settings
from bot.store.schema import metadata
from bot.store.upgrade import upgrade
from tests.databases import prepare_database

_SHM = Path("/dev/shm")
_FOLDER = tempfile.TemporaryDirectory(prefix="talk-", dir=_SHM if _SHM.is_dir() else None)
_TEMPLATE, _DATABASE = Path(_FOLDER.name) / "template.db", Path(_FOLDER.name) / "talk.db"
DATABASE_URL = f"sqlite:///{_DATABASE}"
TEMPLATE_URL = f"sqlite:///{_TEMPLATE}"
_Result = TypeVar("_Result")


class _InPlace(Executor):
    """Runs the database's functions in the calling thread: threads cost a third more time."""

    def __init__(self, _threads: int, _name: str) -> None:
        pass

    def submit(
        self, function: Callable[..., _Result], /, *args: Any, **options: Any
    ) -> Future[_Result]:
        done = Future[_Result]()
        done.set_result(function(*args, **options))
        return done


@cache
def open_both_stores(url: str) -> list[Any]:
    """Return two stores of the database, for alternate processes: their statements stay compiled."""
    return [open_store(url, pool=_InPlace) for _ in range(2)]


async def empty_database(settings: Settings) -> None:
    """Replace the content of the last test's database by a template with all tables.

    Args:
        settings: Those with ``TEMPLATE_URL``, for the tables of the template.
    """
    if not _TEMPLATE.exists():
        await prepare_database(settings.sqlalchemy_url)
        with closing(sqlite3.connect(_TEMPLATE, isolation_level=None)) as database:
            # Whenever tests run, their conversations begin later.
            database.execute("UPDATE installation SET installed_at = '2000-01-01 00:00:00'")
    for ending in ("-wal", "-shm"):
        _DATABASE.with_name(f"{_DATABASE.name}{ending}").unlink(missing_ok=True)
    _DATABASE.touch(0o600)
    shutil.copyfile(_TEMPLATE, _DATABASE)


@cache
def columns_without_revision() -> list[str]:
    """Return the declared columns that no revision makes, as ``table.column``."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.begin() as connection:
        upgrade(connection, now=datetime.now(UTC))
        inspector = inspect(connection)
        made = {
            f"{table}.{column['name']}"
            for table in inspector.get_table_names()
            for column in inspector.get_columns(table)
        }
    engine.dispose()
    declared = [str(column) for table in metadata.tables.values() for column in table.columns]
    return [column for column in declared if column not in made]


@contextmanager
def table_put_away(table: str) -> Iterator[None]:
    """Give a table another name until the block ends."""
    renamed = f"{table}_away"
    for before, after in ((table, renamed), (renamed, table)):
        with closing(sqlite3.connect(_DATABASE, isolation_level=None)) as database:
            database.execute("PRAGMA legacy_alter_table=ON")
            database.execute(f"ALTER TABLE {before} RENAME TO {after}")
        if after == renamed:
            yield


def columns_with(text: str) -> list[str]:
    """Return the columns, as ``table.column``, with this text."""
    with closing(sqlite3.connect(_DATABASE)) as database:
        names = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        names_with: set[str] = set()
        for name in names:
            rows = database.execute(f'SELECT * FROM "{name}"')  # noqa: S608
            columns = [column[0] for column in rows.description]
            names_with |= {
                f"{name}.{columns[at]}"
                for row in rows
                for at, value in enumerate(row)
                if text in str(value)
            }
    return sorted(names_with)


def overwrite_column(column: str, value: str, *, all_rows: bool) -> None:
    """Write a value into the oldest row of ``table.column``, or into all rows."""
    table, _, name = column.partition(".")
    which = "1" if all_rows else f"rowid = (SELECT min(rowid) FROM {table})"  # noqa: S608
    with closing(sqlite3.connect(_DATABASE, isolation_level=None)) as database:
        database.execute(f"UPDATE {table} SET {name} = ? WHERE {which}", [value])  # noqa: S608
