"""The migrations lead to the schema that the code works with. What was made before the first is refused."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection
from structlog.testing import capture_logs

from bot.store.database import Database, UnusableDatabase
from bot.store.migrate import FIRST, HEAD, alembic_config, current, migrate
from bot.store.schema import metadata
from tests.builders import mark_revision

SCRIPTS = ScriptDirectory.from_config(alembic_config())
DAY = timedelta(days=1)
_REVISION = sa.text("SELECT version_num FROM alembic_version")


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
    assert len(wanted) == 9


async def test_processes_that_migrate_at_once_do_not_get_in_each_others_way(database_url: str) -> None:
    databases = [Database.open(database_url) for _ in range(3)]
    await asyncio.gather(*(migrate(database) for database in databases))
    revisions = [await current(database) for database in databases]
    for database in databases:
        await database.close()
    assert revisions == [HEAD] * 3


async def test_an_empty_database_is_at_no_revision(database: Database) -> None:
    assert await current(database) is None


def test_the_revisions_in_the_code_are_the_first_and_the_newest_script() -> None:
    assert (SCRIPTS.get_bases(), SCRIPTS.get_heads()) == ([FIRST], [HEAD])
    revisions = [script.revision for script in SCRIPTS.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)


async def test_a_database_of_a_newer_version_is_left_alone_with_a_warning(database: Database) -> None:
    await migrate(database)
    await mark_revision(database, "9999")
    with capture_logs() as logged:
        await migrate(database)
    assert await current(database) == "9999"
    assert [(line["log_level"], line["event"]) for line in logged] == [("warning", "database_is_newer")]


@pytest.mark.parametrize("revision", ["0001", "1000_edited_until_0.2.0"])
async def test_a_database_of_before_the_first_release_is_refused_and_left_as_it_is(
    database: Database, revision: str
) -> None:
    await migrate(database)
    await mark_revision(database, revision)
    advice = "made before the first release, .*: move the SQLite file .* or empty the PostgreSQL database"
    for step in (migrate, current):
        with pytest.raises(UnusableDatabase, match=advice):
            await step(database)
    kept = await database.read(lambda connection: connection.execute(_REVISION).scalar_one())
    assert kept == revision


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

    assert [await asyncio.to_thread(start) for _ in range(2)] == [0, 0]
