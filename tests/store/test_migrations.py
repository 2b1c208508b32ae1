"""The migrations lead to the schema that the code works with, and older versions go on working."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command, op
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection
from structlog.testing import capture_logs

from bot.store.database import Database
from bot.store.migrate import HEAD, alembic_config, current, migrate, newest
from bot.store.schema import metadata
from tests.store.migration_rule import breaks, statements

SCRIPTS = ScriptDirectory.from_config(alembic_config())
BEFORE_HEAD = SCRIPTS.get_revision(HEAD).down_revision
NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def is_migrated() -> bool:
    return False


async def test_a_migrated_database_has_exactly_the_tables_of_the_schema(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    await migrate(database)
    assert await database.read(differences) == []


async def test_a_migrated_database_has_indexes_of_the_same_rows_as_the_schema(database: Database) -> None:
    """Alembic compares their columns, but not which rows they leave out."""

    def partial(connection: Connection) -> set[str]:
        found, name = sa.inspect(connection), connection.dialect.name
        return {
            f"{index['name']}: {str(only).strip('()')}"
            for table in found.get_table_names()
            for index in found.get_indexes(table)
            if (only := index["dialect_options"].get(f"{name}_where")) is not None
        }

    indexes = (index for table in metadata.tables.values() for index in table.indexes)
    wanted = {f"{index.name}: {index.info['where']}" for index in indexes if index.info}
    await migrate(database)
    assert await database.read(partial) == wanted
    assert len(wanted) == 7


async def test_processes_that_migrate_at_once_do_not_get_in_each_others_way(database_url: str) -> None:
    databases = [Database.open(database_url) for _ in range(3)]
    await asyncio.gather(*(migrate(database) for database in databases))
    revisions = [await current(database) for database in databases]
    for database in databases:
        await database.close()
    assert revisions == [newest()] * 3


async def test_an_empty_database_is_at_no_revision(database: Database) -> None:
    assert await current(database) is None


def test_the_revision_in_the_code_is_the_newest_script() -> None:
    assert SCRIPTS.get_heads() == [HEAD]
    revisions = [script.revision for script in SCRIPTS.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)


async def test_a_database_of_a_newer_version_is_left_alone_with_a_warning(database: Database) -> None:
    await migrate(database)
    newer = sa.text("UPDATE alembic_version SET version_num = '9999'")
    await database.write(lambda connection: connection.execute(newer).close())
    with capture_logs() as logged:
        await migrate(database)
    assert await current(database) == "9999"
    assert [(line["log_level"], line["event"]) for line in logged] == [("warning", "database_is_newer")]


_START = """
import asyncio, sys
from bot.store.database import Database
from bot.store.migrate import migrate

async def start() -> None:
    database = Database.open(sys.argv[1])
    await migrate(database)
    await database.close()

asyncio.run(start())
sys.exit(any(name.split(".")[0] == "alembic" for name in sys.modules))
"""


async def test_a_start_with_nothing_to_migrate_does_not_load_alembic(tmp_path: Path) -> None:
    def start() -> int:
        command = [sys.executable, "-c", _START, f"sqlite:///{tmp_path}/bot.db"]
        return subprocess.run(command, check=False).returncode

    assert await asyncio.to_thread(start) == 1, "the first one migrates"
    assert await asyncio.to_thread(start) == 0


async def _tables_of_the_version_before(database: Database) -> sa.MetaData:
    """Bring an empty database to the revision before the newest; answers what stands there then."""
    old = sa.MetaData()

    def prepare(connection: Connection) -> None:
        command.upgrade(alembic_config(connection), str(BEFORE_HEAD))

    await database.write(prepare)
    await database.read(old.reflect)
    old.remove(old.tables["alembic_version"])
    return old


def _a_row(table: sa.Table, number: int) -> dict[str, Any]:
    """What a version that knows these columns must write, and what it may."""
    return {column.name: _value(column, number) for column in table.columns}


def _value(column: sa.Column[Any], number: int) -> Any:
    if column.foreign_keys or column.autoincrement is True:
        return number
    kind = column.type
    if isinstance(kind, sa.JSON):
        return {"text": "words"}
    values: dict[type[Any], Any] = {bool: False, int: number, str: str(number), date: NOW.date()}
    # SQLite keeps times as naive text, and the reflected column knows nothing of the zone.
    aware = getattr(kind, "timezone", False)
    values[datetime] = NOW if aware else NOW.replace(tzinfo=None)
    return values[kind.python_type]


async def test_what_the_version_before_reads_and_writes_still_works(database: Database) -> None:
    """While a deploy goes on, processes of both versions work on the database of the newer."""
    old = await _tables_of_the_version_before(database)
    before, during = 1, 2

    def write_before(connection: Connection) -> None:
        for table in old.sorted_tables:
            connection.execute(table.insert().values(_a_row(table, before)))

    def write_during(connection: Connection) -> None:
        for table in old.sorted_tables:
            key = next(iter(table.primary_key.columns))
            row = _a_row(table, during)
            connection.execute(table.insert().values(row))
            changed = {name: value for name, value in row.items() if name != key.name}
            result = connection.execute(table.update().where(key == row[key.name]).values(changed))
            assert result.rowcount == 1, table.name
            rows = connection.execute(sa.select(table).order_by(key)).mappings().all()
            assert [dict(each) for each in rows] == [_a_row(table, before), row], table.name
        for table in reversed(old.sorted_tables):
            connection.execute(table.delete())

    await database.write(write_before)
    await migrate(database)
    assert await current(database) == HEAD
    await database.write(write_during)


async def test_what_the_version_before_wrote_needs_nothing_that_it_did_not_know(database: Database) -> None:
    old = await _tables_of_the_version_before(database)
    await migrate(database)

    def write_what_is_needed(connection: Connection) -> None:
        for table in old.sorted_tables:
            needed = {
                name: value
                for name, value in _a_row(table, 1).items()
                if not table.c[name].nullable and table.c[name].server_default is None
            }
            connection.execute(table.insert().values(needed))

    await database.write(write_what_is_needed)


def test_the_newest_migration_only_adds() -> None:
    upgrade = SCRIPTS.get_revision(HEAD).module.upgrade
    assert statements(upgrade)
    assert breaks(upgrade) == []


BREAKING: dict[str, Callable[[], None]] = {
    "drops a table": lambda: op.drop_table("jobs"),
    "drops a column": lambda: op.drop_column("jobs", "text"),
    "renames a table": lambda: op.rename_table("jobs", "work"),
    "renames a column": lambda: op.alter_column("jobs", "text", new_column_name="words"),
    "forbids empty": lambda: op.alter_column("jobs", "text", nullable=False),
    "changes a type": lambda: op.alter_column("jobs", "text", type_=sa.Integer()),
    "demands a column": lambda: op.add_column("jobs", sa.Column("colour", sa.Text(), nullable=False)),
    "forbids equal rows": lambda: op.create_index("ix_jobs_text", "jobs", ["text"], unique=True),
    "drops an index": lambda: op.drop_index("ix_jobs_poll_at", table_name="jobs"),
    "forbids equal columns": lambda: op.create_unique_constraint("uq_jobs_text", "jobs", ["text"]),
    "checks": lambda: op.create_check_constraint("long", "jobs", sa.text("length(text) > 3")),
    "writes": lambda: op.execute("UPDATE jobs SET text = 'nothing'"),
}


@pytest.mark.parametrize("upgrade", BREAKING.values(), ids=BREAKING.keys())
def test_a_migration_that_would_break_the_version_before_is_noticed(upgrade: Callable[[], None]) -> None:
    assert len(breaks(upgrade)) == 1


def test_a_migration_that_only_adds_is_allowed() -> None:
    def upgrade() -> None:
        op.create_table("colours", sa.Column("name", sa.Text(), nullable=False))
        op.create_index("ix_colours_name", "colours", ["name"], unique=True)
        with op.batch_alter_table("jobs") as batch:
            batch.add_column(sa.Column("colour", sa.Text(), nullable=True))
            batch.add_column(sa.Column("size", sa.Integer(), nullable=False, server_default=sa.text("0")))
            batch.create_index("ix_jobs_colour", ["colour"])
        op.drop_index("ix_jobs_poll_at", table_name="jobs")
        op.create_index("ix_jobs_poll_at", "jobs", ["poll_at", "state"])

    assert breaks(upgrade) == []
