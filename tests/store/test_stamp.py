"""An empty database gets the tables of this version and their stamp. Other databases are refused."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Boolean, Column, ForeignKey, Integer, MetaData, Table
from sqlalchemy.engine import Connection

from bot.store.database import Database
from bot.store.schema import Id, if_set, metadata
from bot.store.sqlite_files import UnusableDatabase
from bot.store.stamp import create_tables, describe, has_tables
from tests.command_line import as_anybody, docs_bot, make_tables
from tests.databases import PostgresServer, connected

Change = Callable[[MetaData], object]


@pytest.fixture
def is_prepared() -> bool:
    return False


async def test_new_database_has_the_partial_indexes_of_the_schema(database: Database) -> None:
    def partial_indexes(connection: Connection) -> set[str]:
        inspector, name = sa.inspect(connection), connection.dialect.name
        return {
            f"{index['name']}: {re.sub(r'::text|[()]', '', str(only))}"
            for table in inspector.get_table_names()
            for index in inspector.get_indexes(table)
            if (only := index["dialect_options"].get(f"{name}_where")) is not None
        }

    await create_tables(database)
    indexes = (index for table in metadata.tables.values() for index in table.indexes)
    expected = {f"{index.name}: {index.info['where']}" for index in indexes if index.info}
    assert await database.read(partial_indexes) == expected != set()


async def test_several_processes_create_the_tables_at_once(database_url: str) -> None:
    databases = [Database.open(database_url) for _ in range(3)]
    await asyncio.gather(*(create_tables(database) for database in databases))
    assert [await database.read(has_tables) for database in databases] == [True] * 3
    for database in databases:
        await database.close()


def people(some: MetaData) -> None:
    Table("people", some, Column("id", Integer, primary_key=True), Column("name", Id(40)))


def pages(some: MetaData) -> None:
    Table(
        "pages",
        some,
        Column("id", Integer, primary_key=True),
        Column("path", Id(40), nullable=False, unique=True),
        Column("author", Integer, ForeignKey("people.id")),
        Column("is_read", Boolean, nullable=False, server_default="false"),
        if_set("ix_pages_author", "author"),
    )


def declared(*declarations: Callable[[MetaData], None]) -> MetaData:
    some = MetaData()
    for declare in declarations:
        declare(some)
    return some


def _column(some: MetaData, name: str = "path") -> Column[object]:
    return some.tables["pages"].columns[name]


def _index_all_rows(some: MetaData) -> None:
    [index] = some.tables["pages"].indexes
    index.info.clear()


CHANGES: dict[str, Change] = {
    "a table": lambda some: Table("more", some, Column("id", Integer, primary_key=True)),
    "a column": lambda some: some.tables["pages"].append_column(Column("more", Integer)),
    "a type": lambda some: setattr(_column(some), "type", Id(80)),
    "nullability": lambda some: setattr(_column(some), "nullable", True),
    "a default": lambda some: setattr(_column(some, "is_read"), "server_default", None),
    "a key": lambda some: setattr(_column(some), "primary_key", True),
    "a reference": lambda some: _column(some, "author").foreign_keys.clear(),
    "a unique column": lambda some: some.tables["pages"].append_constraint(
        sa.UniqueConstraint("author")
    ),
    "an index": lambda some: if_set("ix_more", "path")._set_parent(some.tables["pages"]),
    "the rows of an index": _index_all_rows,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_stamp_changes_with_the_tables(change: Change) -> None:
    changed = declared(people, pages)
    change(changed)
    assert describe(changed) != describe(declared(people, pages))


def test_stamp_ignores_the_order_in_which_tables_are_declared() -> None:
    assert describe(declared(pages, people)) == describe(declared(people, pages))


def execute(url: str, *statements: str) -> None:
    """Execute statements in a database, beside the bot."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
            for statement in statements:
                database.execute(statement)
    else:
        with connected(url) as server:
            for statement in statements:
                server.execute(statement.encode())


def list_jobs(url: str) -> tuple[int, str]:
    """Run `docs-bot jobs`; return the exit code and the output."""
    ran = docs_bot("jobs", DATABASE_URL=url.replace("+psycopg", ""))
    return ran.exit_code, ran.output.strip()


OTHERS = {
    "another stamp": ["UPDATE stamp SET hash = '9999'"],
    "no stamp": ["DROP TABLE stamp"],
    "an empty table of stamps": ["DELETE FROM stamp"],
    "a stamp of before": [
        "DROP TABLE stamp",
        "CREATE TABLE alembic_version (version_num varchar(32))",
        "INSERT INTO alembic_version VALUES ('1005')",
    ],
}


@pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS)
def test_database_of_another_version_is_refused_with_its_remedy(
    database_url: str, statements: list[str]
) -> None:
    make_tables(database_url)
    execute(database_url, *statements)
    remedy = "name an empty database in DATABASE_URL"
    if database_url.startswith("sqlite"):
        remedy = "move its file and those beside it to another folder"
    refusal = (
        "The database was made by another version of the bot, whose tables differ: "
        f"go on with that version, or {remedy}, and this one starts anew."
    )
    for _ in range(2):
        with pytest.raises(UnusableDatabase, match=re.escape(refusal)):
            make_tables(database_url)
    assert list_jobs(database_url) == (69, refusal)


def test_moved_file_makes_room_for_a_new_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/bot.db"
    make_tables(url)
    execute(url, *OTHERS["another stamp"])
    assert list_jobs(url)[0] == 69
    (tmp_path / "before").mkdir()
    for file in tmp_path.glob("bot.db*"):
        file.rename(tmp_path / "before" / file.name)
    make_tables(url)
    assert list_jobs(url) == (0, "No jobs.")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_postgresql_of_another_encoding_is_refused(postgres: PostgresServer, encoding: str) -> None:
    url = postgres.new_database("template0", encoding)
    refusal = f"has the encoding {encoding}, .*ENCODING 'UTF8'"
    with pytest.raises(UnusableDatabase, match=refusal):
        make_tables(url)
    code, output = list_jobs(url)
    assert code == 69
    assert re.search(refusal, output)


def test_tables_that_cannot_be_created_have_the_cause(postgres: PostgresServer) -> None:
    url = postgres.new_database()
    with connected(url) as connection:
        connection.execute("REVOKE CREATE ON SCHEMA public FROM public")
        connection.execute("CREATE ROLE reader LOGIN")
    refusal = r"permission denied for schema public\): let the user of DATABASE_URL create tables\."
    with pytest.raises(UnusableDatabase, match=refusal):
        make_tables(url.replace("postgres:@", "reader:@"))


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_new_file_is_for_its_user_alone(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        make_tables(f"sqlite:///{tmp_path}/var/bot.db")
    finally:
        os.umask(before)
    assert rights(tmp_path / "var") == 0o700
    assert rights(tmp_path / "var" / "bot.db") == 0o600


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
    env = {
        "DATABASE_URL": f"sqlite:///{file}",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.getcwd(),
    }
    command = [sys.executable, "-m", "bot", "jobs"]
    ran = subprocess.run(
        command,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        preexec_fn=as_anybody,
    )
    assert (ran.returncode, "DATABASE_URL" in ran.stderr, len(ran.stderr.splitlines())) == (
        69,
        True,
        1,
    )


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bot.db").write_text("words and no database" * 100)
    code, output = list_jobs(f"sqlite:///{tmp_path}/bot.db")
    assert (code, "not a database" in output) == (69, True)
    assert "DATABASE_URL names another file" in output
