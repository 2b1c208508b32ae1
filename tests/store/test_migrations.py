"""An empty database and one of 0.2.0 get the schema of the code. Older databases are refused."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection
from structlog.testing import capture_logs

from bot.store.database import Database
from bot.store.migrate import FIRST, HEAD, alembic_config, migrate_schema, schema_revision
from bot.store.schema import metadata
from bot.store.sqlite_files import UnusableDatabase
from tests.builders import mark_revision
from tests.databases import PostgresServer, connected

SCRIPTS = ScriptDirectory.from_config(alembic_config())
_OLD = Path(__file__).parent.parent / "data" / "0.2.0"
_REVISION = sa.text("SELECT version_num FROM alembic_version")


@pytest.fixture
def is_migrated() -> bool:
    return False


def fill_as_0_2_0(connection: Connection) -> None:
    """Create the tables of 0.2.0 with rows that it wrote; times are in UTC."""
    name = connection.dialect.name
    if name == "postgresql":
        connection.exec_driver_sql("SET LOCAL TIME ZONE 'UTC'")
    for file in (f"{name}.sql", "rows.sql"):
        for statement in (_OLD / file).read_text("utf-8").split(";\n"):
            if statement:
                connection.exec_driver_sql(statement)


def _empty(_connection: Connection) -> None:
    """Leave a database empty."""


@pytest.fixture(params=[_empty, fill_as_0_2_0])
async def migrated(database: Database, request: pytest.FixtureRequest) -> Database:
    """A migrated database that was empty, or of 0.2.0."""
    await database.write(request.param)
    await migrate_schema(database)
    return database


async def test_a_migrated_database_has_exactly_the_tables_of_the_schema(migrated: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    assert await migrated.read(differences) == []


async def test_a_migrated_database_has_indexes_of_the_same_rows_as_the_schema(migrated: Database) -> None:
    """Alembic compares their columns, but not which rows they leave out."""

    def partial_indexes(connection: Connection) -> set[str]:
        found, name = sa.inspect(connection), connection.dialect.name
        return {
            f"{index['name']}: {re.sub(r'::text|[()]', '', str(only))}"
            for table in found.get_table_names()
            for index in found.get_indexes(table)
            if (only := index["dialect_options"].get(f"{name}_where")) is not None
        }

    indexes = (index for table in metadata.tables.values() for index in table.indexes)
    wanted = {f"{index.name}: {index.info['where']}" for index in indexes if index.info}
    assert await migrated.read(partial_indexes) == wanted
    assert len(wanted) == 13


async def test_a_database_of_0_2_0_keeps_every_row(database: Database) -> None:
    def rows(connection: Connection) -> dict[str, int]:
        """Read every row by its columns' types."""
        return {
            name: len(connection.execute(sa.select(table)).all()) for name, table in metadata.tables.items()
        }

    def rows_before(connection: Connection) -> dict[str, int]:
        fill_as_0_2_0(connection)
        names = sa.inspect(connection).get_table_names()
        counts = {name: sa.select(sa.func.count()).select_from(sa.table(name)) for name in names}
        return {name: connection.execute(count).scalar_one() for name, count in counts.items()}

    before = await database.write(rows_before)
    await migrate_schema(database)
    # The snapshots of 0.2.0's questions are listed by them; it knew no inquiries.
    new = {"question_snapshots": 34, "inquiries": 0}
    assert await database.read(rows) == {name: before.get(name) or new[name] for name in metadata.tables}
    assert min(before.values()) > 0, "each table of 0.2.0 has a row"


async def test_processes_that_migrate_at_once_do_not_get_in_each_others_way(database_url: str) -> None:
    databases = [Database.open(database_url) for _ in range(3)]
    await asyncio.gather(*(migrate_schema(database) for database in databases))
    revisions = [await schema_revision(database) for database in databases]
    for database in databases:
        await database.close()
    assert revisions == [HEAD] * 3


async def test_an_empty_database_is_at_no_revision(database: Database) -> None:
    assert await schema_revision(database) is None


def test_the_revisions_in_the_code_are_the_first_and_the_newest_script() -> None:
    assert (SCRIPTS.get_bases(), SCRIPTS.get_heads()) == ([FIRST], [HEAD])
    revisions = [script.revision for script in SCRIPTS.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)


async def test_a_database_of_a_newer_version_is_left_alone_with_a_warning(database: Database) -> None:
    await migrate_schema(database)
    await mark_revision(database, "9999")
    with capture_logs() as logged:
        await migrate_schema(database)
    assert await schema_revision(database) == "9999"
    assert [(line["log_level"], line["event"]) for line in logged] == [("warning", "database_is_newer")]


@pytest.mark.parametrize("revision", ["0001", "1000_edited_until_0.2.0"])
async def test_a_database_of_before_0_2_0_is_refused_and_left_as_it_is(
    database: Database, revision: str
) -> None:
    await migrate_schema(database)
    await mark_revision(database, revision)
    advice = "made by a version before 0.2.0, .*: move the SQLite file .* or empty the PostgreSQL database"
    for step in (migrate_schema, schema_revision):
        with pytest.raises(UnusableDatabase, match=advice):
            await step(database)
    kept = await database.read(lambda connection: connection.execute(_REVISION).scalar_one())
    assert kept == revision


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_a_postgresql_of_another_encoding_is_refused(postgres: PostgresServer, encoding: str) -> None:
    database = Database.open(postgres.new_database("template0", encoding))
    try:
        with pytest.raises(UnusableDatabase, match=f"has the encoding {encoding}, .*ENCODING 'UTF8'"):
            await migrate_schema(database)
    finally:
        await database.close()


async def test_a_migration_that_fails_tells_its_cause(postgres: PostgresServer) -> None:
    url = postgres.new_database()
    with connected(url) as connection:
        connection.execute("REVOKE CREATE ON SCHEMA public FROM public")
        connection.execute("CREATE ROLE reader LOGIN")
    database = Database.open(url.replace("postgres:@", "reader:@"))
    try:
        cause = r"permission denied for schema public\): let its user create"
        with pytest.raises(UnusableDatabase, match=cause):
            await migrate_schema(database)
    finally:
        await database.close()


_START = """
import asyncio, sys
from bot.store.database import Database
from bot.store.migrate import migrate_schema

async def start() -> None:
    database = Database.open(sys.argv[1])
    await migrate_schema(database)
    await database.close()

asyncio.run(start())
sys.exit(any(name.split(".")[0] == "alembic" for name in sys.modules))
"""


async def test_a_start_with_nothing_to_migrate_does_not_load_alembic(tmp_path: Path) -> None:
    def start() -> int:
        command = [sys.executable, "-c", _START, f"sqlite:///{tmp_path}/bot.db"]
        return subprocess.run(command, check=False).returncode

    assert [await asyncio.to_thread(start) for _ in range(2)] == [0, 0]
