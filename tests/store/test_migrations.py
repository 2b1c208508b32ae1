"""An empty database gets the schema of the code. Databases of other versions are refused."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.engine import Connection

from bot.store.database import Database
from bot.store.migrate import HEAD, migrate_schema, schema_revision
from bot.store.schema import metadata
from tests.command_line import SETTINGS, as_anybody, docs_bot
from tests.databases import PostgresServer, connected


@pytest.fixture
def is_migrated() -> bool:
    return False


@pytest.fixture
async def migrated(database: Database) -> Database:
    """A database with the tables of the schema."""
    await migrate_schema(database)
    return database


async def test_migrated_database_has_the_tables_of_the_schema(migrated: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    assert await migrated.read(differences) == []


async def test_migrated_database_has_the_partial_indexes_of_the_schema(migrated: Database) -> None:
    """Alembic compares their columns, but not which rows they leave out."""

    def partial_indexes(connection: Connection) -> set[str]:
        inspector, name = sa.inspect(connection), connection.dialect.name
        return {
            f"{index['name']}: {re.sub(r'::text|[()]', '', str(only))}"
            for table in inspector.get_table_names()
            for index in inspector.get_indexes(table)
            if (only := index["dialect_options"].get(f"{name}_where")) is not None
        }

    indexes = (index for table in metadata.tables.values() for index in table.indexes)
    expected = {f"{index.name}: {index.info['where']}" for index in indexes if index.info}
    assert await migrated.read(partial_indexes) == expected
    assert len(expected) == 14


async def test_several_processes_migrate_at_once(database_url: str) -> None:
    databases = [Database.open(database_url) for _ in range(3)]
    await asyncio.gather(*(migrate_schema(database) for database in databases))
    revisions = [await schema_revision(database) for database in databases]
    for database in databases:
        await database.close()
    assert revisions == [HEAD] * 3


def mark(url: str, revision: str) -> None:
    """Make a migrated database look as if another version of the bot had made it."""
    statement = f"UPDATE alembic_version SET version_num = '{revision}'"  # noqa: S608
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
            database.execute(statement)
    else:
        with connected(url) as server:
            server.execute(statement.encode())


def migrate_by_command(url: str) -> tuple[int, str]:
    """Run `docs-bot migrate`; return the exit code and the output."""
    ran = docs_bot("migrate", **SETTINGS, LOG_FORMAT="json", DATABASE_URL=url.replace("+psycopg", ""))
    return ran.exit_code, ran.output


def test_database_of_another_version_is_refused_with_its_remedy(database_url: str) -> None:
    migrate_by_command(database_url)
    mark(database_url, "9999")
    advice = "made by another version, .*: move the SQLite file .* or empty the PostgreSQL database"
    for _ in range(2):
        code, output = migrate_by_command(database_url)
        assert (code, bool(re.search(advice, output))) == (69, True), output


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_postgresql_of_another_encoding_is_refused(postgres: PostgresServer, encoding: str) -> None:
    code, output = migrate_by_command(postgres.new_database("template0", encoding))
    assert code == 69
    assert re.search(f"has the encoding {encoding}, .*ENCODING 'UTF8'", output)


def test_failed_migration_has_its_cause(postgres: PostgresServer) -> None:
    url = postgres.new_database()
    with connected(url) as connection:
        connection.execute("REVOKE CREATE ON SCHEMA public FROM public")
        connection.execute("CREATE ROLE reader LOGIN")
    code, output = migrate_by_command(url.replace("postgres:@", "reader:@"))
    assert (code, "permission denied for schema public): let its user create" in output) == (69, True), output


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_new_file_is_for_its_user_alone(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        migrate_by_command(f"sqlite:///{tmp_path}/var/bot.db")
    finally:
        os.umask(before)
    assert rights(tmp_path / "var") == 0o700
    assert rights(tmp_path / "var" / "bot.db") == 0o600


def test_readable_file_is_closed_to_others_and_its_folder_is_left(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/bot.db"
    tmp_path.chmod(0o755)
    migrate_by_command(url)
    (tmp_path / "bot.db").chmod(0o644)
    assert '"event": "database_made_private"' in migrate_by_command(url)[1]
    assert (rights(tmp_path / "bot.db"), rights(tmp_path)) == (0o600, 0o755)
    assert "database_made_private" not in migrate_by_command(url)[1]


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.skipif(sys.platform != "linux", reason="rights of root are taken away as Linux does")
@pytest.mark.parametrize("place", ["folder", "file", "new folder"])
def test_read_only_place_is_reported_in_one_line(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "var"
    folder.mkdir()
    file = folder / "bot.db"
    if place == "file":
        file.touch(mode=0o444)
    else:
        folder.chmod(0o555)
    if place == "new folder":
        file = folder / "deeper" / "bot.db"
    env = {"DATABASE_URL": f"sqlite:///{file}", "PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd()}
    command = [sys.executable, "-m", "bot", "jobs"]
    ran = subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, timeout=30, preexec_fn=as_anybody
    )
    assert (ran.returncode, "DATABASE_URL" in ran.stderr, len(ran.stderr.splitlines())) == (69, True, 1)


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bot.db").write_text("words and no database" * 100)
    code, output = migrate_by_command(f"sqlite:///{tmp_path}/bot.db")
    assert (code, "not a database" in output) == (69, True)
