"""Backups: taken while a bot writes, and put back only where nothing is lost by it."""

from __future__ import annotations

import asyncio
import re
import resource
import shlex
import shutil
import sqlite3
import subprocess
import threading
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.store import Store
from bot.store.backup import back_up, restore
from bot.store.database import Database
from bot.store.migrate import migrate
from bot.store.sqlite_files import UnusableDatabase, beside
from tests.builders import add_job
from tests.databases import PostgresServer
from tests.limits import HANG_SECONDS

RUN = Path(__file__).parents[2] / "docs/run.md"
NOW = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)


async def opened(file: Path) -> Database:
    database = Database.open(f"sqlite:///{file}")
    await migrate(database)
    await database.write(
        lambda connection: connection.execute(text("CREATE TABLE IF NOT EXISTS notes (key TEXT)")).close()
    )
    return database


async def note(database: Database, key: str) -> None:
    """Write a row that the tests recognise."""
    await database.write(
        lambda connection: connection.execute(text("INSERT INTO notes VALUES (:key)"), {"key": key}).close()
    )


async def backed_up(tmp_path: Path) -> tuple[Path, Database]:
    """Return the file of an open database, whose copy has the one row that was there: "before"."""
    file = tmp_path / "bot.db"
    database = await opened(file)
    await note(database, "before")
    back_up(file, tmp_path / "copy.db")
    return file, database


def noted(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as connection:
        return {row[0] for row in connection.execute("SELECT key FROM notes")}


async def test_a_backup_is_what_the_bot_had_at_that_moment_and_private(tmp_path: Path) -> None:
    _, database = await backed_up(tmp_path)
    await note(database, "after")
    await database.close()
    assert noted(tmp_path / "copy.db") == {"before"}
    assert (tmp_path / "copy.db").stat().st_mode & 0o077 == 0
    assert not (tmp_path / "copy.db.part").exists()


async def test_a_backup_under_constant_writing_is_sound(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    database = await opened(file)
    await database.close()
    stop = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(file, isolation_level=None, timeout=30)) as connection:
            number = 0
            while not stop.is_set():
                number += 1
                connection.execute("INSERT INTO notes VALUES (?)", [f"{number} {'x' * 500}"])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            back_up(file, tmp_path / f"{number}.db")
    finally:
        stop.set()
        writer.join()
    counts = [len(noted(tmp_path / f"{number}.db")) for number in range(5)]
    assert counts == sorted(counts)


async def test_a_backup_overwrites_nothing_and_needs_a_file(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    with pytest.raises(UnusableDatabase, match="no SQLite file yet"):
        back_up(file, tmp_path / "copy.db")
    await (await opened(file)).close()
    (tmp_path / "copy.db").write_text("mine")
    with pytest.raises(UnusableDatabase, match="exists already"):
        back_up(file, tmp_path / "copy.db")
    with pytest.raises(UnusableDatabase, match="cannot be made: No such file"):
        back_up(file, tmp_path / "nowhere/copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"


async def test_a_restore_brings_back_the_backup_and_keeps_the_rest(tmp_path: Path) -> None:
    file, database = await backed_up(tmp_path)
    await note(database, "after")
    await database.close()
    kept = restore(tmp_path / "copy.db", file, NOW)
    assert noted(file) == {"before"}
    assert kept == tmp_path / "bot.db.20260302T103000"
    assert noted(kept) == {"before", "after"}
    assert not any(each.exists() for each in beside(file))
    database = await opened(file)
    await note(database, "on")
    await database.close()
    assert noted(file) == {"before", "on"}


async def test_new_jobs_after_a_restore_have_numbers_that_nobody_knows(tmp_path: Path) -> None:
    file, database = await backed_up(tmp_path)
    known = [await add_job(Store(database)) for _ in range(3)]
    await database.close()
    restore(tmp_path / "copy.db", file, NOW)
    database = await opened(file)
    try:
        assert await add_job(Store(database)) == max(known) + 1
    finally:
        await database.close()


async def test_the_log_of_a_file_that_is_gone_is_not_discarded(tmp_path: Path) -> None:
    file, database = await backed_up(tmp_path)
    await note(database, "after")
    for each in beside(file)[:2]:
        shutil.copy(each, tmp_path / each.name.replace("bot", "lost"))
    await database.close()
    with pytest.raises(UnusableDatabase, match=r"lost\.db is gone, and its log lost\.db-wal is still there"):
        await opened(tmp_path / "lost.db")
    assert (tmp_path / "lost.db-wal").stat().st_size > 0


async def test_a_restore_after_a_kill_takes_nothing_from_the_log_of_the_dead(tmp_path: Path) -> None:
    file, database = await backed_up(tmp_path)
    await note(database, "after")
    for each in (file, *filter(Path.exists, beside(file))):
        shutil.copy(each, tmp_path / each.name.replace("bot", "dead"))
    await database.close()
    dead = tmp_path / "dead.db"
    assert beside(dead)[0].stat().st_size > 0
    kept = restore(tmp_path / "copy.db", dead, NOW)
    assert kept is not None
    assert (noted(dead), noted(kept)) == ({"before"}, {"before", "after"})


async def test_nothing_is_restored_while_a_bot_has_the_file(tmp_path: Path) -> None:
    file, database = await backed_up(tmp_path)
    await note(database, "after")
    with pytest.raises(UnusableDatabase, match="stop every bot"):
        restore(tmp_path / "copy.db", file, NOW)
    await note(database, "still works")
    await database.close()
    assert noted(file) == {"before", "after", "still works"}


async def test_where_the_file_is_gone_its_log_goes_too(tmp_path: Path) -> None:
    file, database = await backed_up(tmp_path)
    await database.close()
    file.unlink()
    for each in beside(file):
        each.write_bytes(b"of another file")
    assert restore(tmp_path / "copy.db", file, NOW) is None
    assert noted(file) == {"before"}


async def test_a_disk_that_fails_during_a_restore_is_what_the_advice_is_about(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    database = await opened(file)
    await note(database, "x" * 500_000)
    back_up(file, tmp_path / "copy.db")
    await database.close()
    small = tmp_path / "small.db"
    await (await opened(small)).close()
    most, hardest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (small.stat().st_size + 100_000, hardest))
    try:
        with pytest.raises(UnusableDatabase, match="look at the disk and the room on it, and run this again"):
            restore(tmp_path / "copy.db", small, NOW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hardest))
    assert noted(small) == set()


async def test_a_file_to_be_moved_away_is_named_with_its_hot_journal(tmp_path: Path) -> None:
    file, database = await backed_up(tmp_path)
    await database.close()
    file.write_text("no database" * 1_000)
    with pytest.raises(
        UnusableDatabase, match=r"bot\.db-wal, bot\.db-shm and bot\.db-journal beside it away"
    ):
        restore(tmp_path / "copy.db", file, NOW)


def damaged(copy: Path) -> str:
    with copy.open("r+b") as written:
        written.seek(8_192)
        written.write(b"\xff" * 8_192)
    return "is damaged|is no backup"


def foreign(copy: Path) -> str:
    copy.unlink()
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("CREATE TABLE cats (name)")
    return "is no backup of the bot"


def no_database(copy: Path) -> str:
    copy.write_text("Dear diary, " * 500)
    return "is no backup of the bot"


def of_another_version(revision: str, copy: Path) -> str:
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        connection.commit()
    return "another version"


newer, of_before_the_first_release = partial(of_another_version, "9999"), partial(of_another_version, "0021")


def gone(copy: Path) -> str:
    copy.unlink()
    return "There is no file"


@pytest.mark.parametrize("spoil", [damaged, foreign, no_database, newer, of_before_the_first_release, gone])
async def test_what_is_no_sound_backup_changes_nothing(tmp_path: Path, spoil: object) -> None:
    file, database = await backed_up(tmp_path)
    await database.close()
    assert callable(spoil)
    with pytest.raises(UnusableDatabase, match=spoil(tmp_path / "copy.db")):
        restore(tmp_path / "copy.db", file, NOW)
    assert noted(file) == {"before"}


async def test_the_file_itself_is_no_backup_of_it(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    await (await opened(file)).close()
    with pytest.raises(UnusableDatabase, match="the SQLite file itself"):
        restore(file, file, NOW)


@pytest.fixture
async def left_by_the_dead(tmp_path: Path) -> Path:
    """A backup, and what a killed bot leaves: a file with its log."""
    file, database = await backed_up(tmp_path)
    await note(database, "after")
    log = beside(file)[0].read_bytes()
    await database.close()
    beside(file)[0].write_bytes(log)
    return tmp_path / "copy.db"


@pytest.mark.parametrize("put", [shutil.copyfile, lambda source, target: source.replace(target)])
async def test_a_backup_beside_the_log_of_another_file_is_refused_and_not_opened(
    tmp_path: Path, left_by_the_dead: Path, put: object
) -> None:
    file = tmp_path / "bot.db"
    whole = (tmp_path / "copy.db").read_bytes()
    assert callable(put)
    put(left_by_the_dead, file)
    database = Database.open(f"sqlite:///{file}")
    for run in (database.write, database.read):
        with pytest.raises(UnusableDatabase, match="docs-bot restore"):
            await run(lambda connection: connection.execute(text("SELECT 1")).close())
    await database.close()
    assert (tmp_path / "bot.db").read_bytes() == whole


async def test_a_backup_in_place_is_opened_where_no_log_is(tmp_path: Path, left_by_the_dead: Path) -> None:
    file = tmp_path / "bot.db"
    for each in (file, *beside(file)):
        each.unlink(missing_ok=True)
    (tmp_path / "copy.db").replace(file)
    for key in ("first", "second"):
        database = await opened(file)
        await note(database, key)
        log = beside(file)[0].read_bytes()
        await database.close()
    beside(file)[0].write_bytes(log)
    database = await opened(file)  # its own log is no reason to refuse it
    await database.close()
    assert noted(file) == {"before", "first", "second"}


async def test_a_copy_under_a_running_bot_never_meets_its_log(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    database = await opened(file)
    await note(database, "before")
    with closing(sqlite3.connect(file)) as live, closing(sqlite3.connect(tmp_path / "own.db")) as own:
        live.backup(own)
    await note(database, "after")
    assert await database.read(lambda connection: connection.scalar(text("SELECT count(*) FROM notes"))) == 2
    (tmp_path / "own.db").replace(file)
    for _ in range(2):
        with pytest.raises(UnusableDatabase, match="docs-bot restore"):
            await note(database, "refused")
        with pytest.raises(UnusableDatabase, match="docs-bot restore"):
            await database.read(lambda connection: connection.scalar(text("SELECT count(*) FROM notes")))
    await database.close()
    file.replace(tmp_path / "own.db")
    restore(tmp_path / "own.db", file, NOW)
    assert noted(file) == {"before"}


async def done(url: str, statement: str) -> int:
    """Execute a statement, and return how many rows it changed."""
    database = Database.open(url)
    count = await database.write(lambda connection: connection.execute(text(statement)).rowcount)
    await database.close()
    return count


@pytest.mark.parametrize("host", ["Compose", "Kubernetes, and any PostgreSQL"])
async def test_the_commands_for_postgresql_in_the_docs_bring_everything_back(
    host: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.new_database()
    database = Database.open(address)
    await migrate(database)
    await database.close()
    await done(address, "CREATE TABLE notes (key TEXT)")
    await done(address, "INSERT INTO notes VALUES ('kept')")
    plain = address.replace("+psycopg", "")
    told = RUN.read_text().split(f"\n### {host}\n")[1].split("\n## ")[0].split("\n### ")[0]
    [dump, restore] = re.findall(r"^\$ (?:docker compose exec -T postgres )?(pg_\w+ .*)$", told, re.MULTILINE)

    def run(command: str) -> None:
        # The container knows its database by the name of its user.
        here = command.replace("--username=docs_bot ", "").replace("docs_bot", shlex.quote(plain))
        words = ["sh", "-ec", f"{postgres.programs}/{here}"]
        subprocess.run(words, cwd=tmp_path, check=True, timeout=HANG_SECONDS)

    await asyncio.to_thread(run, dump)
    await done(address, "DELETE FROM notes")
    await done(address, "DROP TABLE jobs CASCADE")
    await asyncio.to_thread(run, restore)
    assert await done(address, "DELETE FROM notes") == 1
    await done(address, "DELETE FROM jobs")


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux lists the locks of a file")
async def test_another_look_at_the_file_frees_none_of_its_locks(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    database = await opened(file)

    before = await database.write(lambda _: locks_on(file))
    another = Database.open(f"sqlite:///{file}")
    await another.read(lambda connection: connection.execute(text("SELECT 1")).close())
    after = await database.write(lambda _: locks_on(file))
    for each in (another, database):
        await each.close()
    assert after >= before > 0


def locks_on(file: Path) -> int:
    return Path("/proc/locks").read_text().count(f":{file.stat().st_ino} ")
