"""Databases get this version's tables at a start: empty ones, and those of an earlier version."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.engine import Connection

from bot.jobs.store.jobs import Jobs
from bot.store import Store
from bot.store.database import Database
from bot.store.schema import metadata
from bot.store.sqlite_files import UnusableDatabase
from bot.store.upgrade import (
    REVISIONS,
    VERSION_TABLE,
    Tables,
    find_tables,
    list_revisions,
    upgrade_tables,
)
from tests.builders import add_job
from tests.command_line import as_anybody, docs_bot, make_tables
from tests.databases import PostgresServer, connected
from tests.store.new_revision import declare_partial_indexes, next_number, write_revision

RELEASED = {"0001": "fdc76a5556f7dd1d"}
"""The revisions of releases, with the digests of their files."""


@pytest.fixture
def is_prepared() -> bool:
    return False


def _plain(condition: str) -> str:
    """Return a condition without types and brackets, and `= ANY (ARRAY[…])` of PostgreSQL as IN."""
    bare = re.sub(r"::text|::character varying|[()\[\]]", "", condition)
    return bare.replace("= ANY ARRAY", "IN ")


async def test_new_database_has_the_partial_indexes_of_the_schema(database: Database) -> None:
    def partial_indexes(connection: Connection) -> set[str]:
        inspector, name = sa.inspect(connection), connection.dialect.name
        return {
            f"{index['name']}: {_plain(str(only))}"
            for table in inspector.get_table_names()
            for index in inspector.get_indexes(table)
            if (only := index["dialect_options"].get(f"{name}_where")) is not None
        }

    await upgrade_tables(database)
    indexes = (index for table in metadata.tables.values() for index in table.indexes)
    expected = {f"{index.name}: {_plain(index.info['where'])}" for index in indexes if index.info}
    assert await database.read(partial_indexes) == expected != set()


async def test_several_processes_create_the_tables_at_once(database_url: str) -> None:
    databases = [Database.open(database_url) for _ in range(3)]
    await asyncio.gather(*(upgrade_tables(database) for database in databases))
    assert [await database.read(find_tables) for database in databases] == [Tables.CURRENT] * 3
    for database in databases:
        await database.close()


NEXT = """
import os
import signal

import sqlalchemy as sa
from alembic import op

revision = {number!r}
down_revision = {before!r}


def upgrade() -> None:
    op.add_column("jobs", sa.Column("pinned_at", sa.DateTime(timezone=True), nullable=True))
    if os.environ.get("KILL_THE_UPGRADE"):
        os.kill(os.getpid(), signal.SIGKILL)
    op.create_table("pins", sa.Column("id", sa.Integer(), primary_key=True))
"""
"""A later version's revision, which only adds."""


def add_next_revision(folder: Path) -> Path:
    """Write the revision of a later version into a folder; return its file."""
    number = next_number(folder)
    file = folder / "versions" / f"r{number}.py"
    file.write_text(NEXT.format(number=number, before=list_revisions(folder)[-1]))
    return file


KILLED_UPGRADE = """
import asyncio, sys
import bot.app
from pathlib import Path
from bot.store.database import Database
from bot.store.upgrade import upgrade_tables
asyncio.run(upgrade_tables(Database.open(sys.argv[1]), folder=Path(sys.argv[2])))
"""


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """Return the revisions of a later version."""
    folder = tmp_path / "revisions"
    shutil.copytree(REVISIONS, folder)
    add_next_revision(folder)
    return folder


async def differences(database: Database) -> list[Any]:
    """Return what Alembic finds to differ between a database and the declared tables."""
    declare_partial_indexes()

    def compare(connection: Connection) -> list[Any]:
        options = {"version_table": VERSION_TABLE, "compare_server_default": True}
        return list(
            compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
        )

    return await database.read(compare)


async def test_revisions_make_the_declared_tables(database: Database) -> None:
    await upgrade_tables(database)
    assert await differences(database) == [], 'run: make revision NAME="what you have changed"'


@pytest.mark.parametrize(("revision", "digest"), RELEASED.items(), ids=RELEASED)
def test_released_revision_stays_as_it_is(revision: str, digest: str) -> None:
    """A database of a release does not run it again, and would lack what is added to it."""
    written = (REVISIONS / "versions" / f"r{revision}.py").read_bytes()
    found = blake2b(written, digest_size=8).hexdigest()
    assert found == digest, 'it is released, write another one: make revision NAME="add pins"'


async def test_revisions_number_rows_as_declared(tmp_path: Path) -> None:
    """Alembic compares no `AUTOINCREMENT`, without which SQLite gives a number twice."""
    database = Database.open(f"sqlite:///{tmp_path}/bot.db")
    await upgrade_tables(database)

    def counted(connection: Connection) -> set[str]:
        made = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'"
        )
        return set(made.scalars())

    declared = {
        table.name
        for table in metadata.tables.values()
        if table.dialect_options["sqlite"]["autoincrement"]
    }
    assert await database.read(counted) == declared
    await database.close()


async def test_later_version_upgrades_and_the_one_before_goes_on(
    database: Database, later: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await upgrade_tables(database)
    store = Store(database)
    number = await add_job(store, text="Add a page on keys")
    assert await database.read(lambda opened: find_tables(opened, later)) is Tables.EARLIER

    await upgrade_tables(database, folder=later)
    assert await database.read(lambda opened: find_tables(opened, later)) is Tables.CURRENT

    assert await database.read(find_tables) is Tables.LATER
    await upgrade_tables(database)
    assert "database_of_later_version" in capsys.readouterr().out
    another = await add_job(store, text="Add a page on tokens")
    newest = await store.read(lambda tx: Jobs(tx).newest(2))
    assert {job.number: job.text for job in newest} == {
        number: "Add a page on keys",
        another: "Add a page on tokens",
    }


async def test_killed_upgrade_changes_nothing_and_is_done_by_the_next_start(
    database: Database, database_url: str, later: Path
) -> None:
    await upgrade_tables(database)
    number = await add_job(Store(database), text="Add a page on keys")
    command = [sys.executable, "-c", KILLED_UPGRADE, database_url, str(later)]
    environment = {**os.environ, "KILL_THE_UPGRADE": "yes"}
    killed = await asyncio.to_thread(subprocess.run, command, env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert await database.read(lambda opened: find_tables(opened, later)) is Tables.EARLIER
    assert await differences(database) == []

    await upgrade_tables(database, folder=later)

    job = await Store(database).read(lambda tx: Jobs(tx).get_or_raise(number))
    assert job.text == "Add a page on keys"
    assert await database.read(lambda opened: find_tables(opened, later)) is Tables.CURRENT


async def test_upgrade_may_stand_still_for_longer_than_a_request(
    database: Database, later: Path
) -> None:
    """On a busy machine it takes seconds to import Alembic; PostgreSQL ends other writers then."""
    await upgrade_tables(database)
    revision = later / "versions" / f"r{list_revisions(later)[-1]}.py"
    slow = revision.read_text().replace(
        "import os\n", "import os\nimport time\n\ntime.sleep(2.5)\n"
    )
    revision.write_text(slow)
    await upgrade_tables(database, folder=later)
    assert await database.read(lambda opened: find_tables(opened, later)) is Tables.CURRENT


async def test_two_processes_upgrade_at_once(database_url: str, later: Path) -> None:
    first = Database.open(database_url)
    await upgrade_tables(first)
    await first.close()
    command = [sys.executable, "-c", KILLED_UPGRADE, database_url, str(later)]
    started = [await asyncio.create_subprocess_exec(*command) for _ in range(2)]
    assert [await process.wait() for process in started] == [0, 0]
    again = Database.open(database_url)
    assert await again.read(lambda opened: find_tables(opened, later)) is Tables.CURRENT
    await again.close()


def test_next_revision_is_written_from_the_declared_tables(tmp_path: Path) -> None:
    folder = tmp_path / "revisions"
    shutil.copytree(REVISIONS, folder)
    number = next_number()
    file = write_revision("change nothing", folder)
    assert file.name == f"r{number}.py"
    written = file.read_text()
    assert f'revision = "{number}"' in written
    assert f'down_revision = "{list_revisions()[-1]}"' in written
    assert "op." not in written, "the tables are as declared"
    assert list_revisions(folder) == [*list_revisions(), number]


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
    "a revision with a hash of its tables": ["UPDATE revision SET version_num = '0001_479ad22c'"],
    "a later one with a hash": ["UPDATE revision SET version_num = '0002_9999aaaa'"],
    "another revision": ["UPDATE revision SET version_num = 'ae1027a6acf'"],
    "no revision": ["DELETE FROM revision"],
    "two revisions": ["INSERT INTO revision VALUES ('0002')"],
    "a stamp of before": [
        "DROP TABLE revision",
        "CREATE TABLE stamp (hash varchar(64))",
        "INSERT INTO stamp VALUES ('9999')",
    ],
    "revisions of before": ["ALTER TABLE revision RENAME TO alembic_version"],
}


@pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS)
def test_database_of_no_released_version_is_refused_with_its_remedy(
    database_url: str, statements: list[str]
) -> None:
    make_tables(database_url)
    execute(database_url, *statements)
    remedy = "name an empty database in DATABASE_URL"
    if database_url.startswith("sqlite"):
        remedy = "move its file and those beside it to another folder"
    refusal = (
        "The database was made by a version of the bot that was never released, whose tables "
        f"differ: go on with that version, or {remedy}, and this one starts anew."
    )
    for _ in range(2):
        with pytest.raises(UnusableDatabase, match=re.escape(refusal)):
            make_tables(database_url)
    assert list_jobs(database_url) == (69, refusal)


def test_moved_file_makes_room_for_a_new_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/bot.db"
    make_tables(url)
    execute(url, *OTHERS["another revision"])
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
    refusal = r"denied for schema public\): let the user of DATABASE_URL create and change tables\."
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
