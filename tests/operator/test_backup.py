"""`docs-bot backup` beside a running bot, and `restore` while none runs: nothing is lost or sent twice."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.answers.conftest import QUESTION
from tests.answers.test_words_said_in_private import (
    HOUR,
    ask_in_private,
    listed,
    words_elsewhere,
)
from tests.command_line import docs_bot, make_tables
from tests.databases import PostgresServer
from tests.limits import HANG_SECONDS
from tests.operator.faults import stamp_otherwise
from tests.store.conftest import postgres
from tests.talk import Talk

__all__ = ["postgres"]
RUN = Path(__file__).parents[2] / "docs/run.md"
BEFORE, AFTER = "before", "after"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a SQLite file with one note and its backup copy.db."""
    file = tmp_path / "bot.db"
    make_tables(f"sqlite:///{file}")
    with closing(connect(file)) as database:
        database.execute("CREATE TABLE notes (key TEXT)")
        note(database, BEFORE)
    assert f"Backed up to {tmp_path}/copy.db." in run("backup", file)
    return file


@pytest.fixture
def live(file: Path) -> Iterator[sqlite3.Connection]:
    """Write a second note and keep the connection open, as a running bot does."""
    with closing(connect(file)) as live:
        note(live, AFTER)
        yield live


def run(command: str, file: Path, *, of: Path | None = None, fails: bool = False) -> str:
    """Run a command on the SQLite file and on copy.db beside it; return its output."""
    copy = of or file.with_name("copy.db")
    arguments = {"jobs": [], "forget": ["U0ANA"]}.get(command, [copy])
    ran = docs_bot(command, *arguments, DATABASE_URL=f"sqlite:///{file}")
    output = ran.stderr if fails else ran.stdout
    assert (ran.exit_code, ran.output) == (69 if fails else 0, output)
    assert output.count("\n") == 1 or "is damaged" in output
    return output


def connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, isolation_level=None, timeout=30)


def note(database: sqlite3.Connection, key: str) -> None:
    database.execute("INSERT INTO notes VALUES (?)", [key])


def notes(file: Path) -> set[str]:
    with closing(connect(file)) as database:
        return {key for (key,) in database.execute("SELECT key FROM notes")}


def log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def beside(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}-{ending}") for ending in ("wal", "shm", "journal")]


def earlier(line: str) -> Path:
    """Return the earlier file, which a restore renames."""
    name = re.search(r"is kept in (\S+)\.", line)
    assert name, line
    return Path(name[1])


def copy_all(file: Path, name: str) -> Path:
    """Copy a file and its log, as after a kill."""
    for path in (file, *beside(file)):
        if path.exists():
            shutil.copy(path, path.with_name(path.name.replace("bot", name)))
    return file.with_name(f"{name}.db")


@pytest.mark.usefixtures("live")
def test_backup_is_of_its_moment_and_private(file: Path) -> None:
    copy = file.with_name("copy.db")
    assert notes(copy) == {BEFORE}
    assert copy.stat().st_mode & 0o777 == 0o600
    assert not copy.with_name("copy.db.part").exists()


def test_backup_under_constant_writing_is_sound(file: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        with closing(connect(file)) as database:
            while not stop.is_set():
                note(database, "x" * 500)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            run("backup", file, of=file.with_name(f"{number}.db"))
    finally:
        stop.set()
        writer.join()
    with closing(connect(file.with_name("4.db"))) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_backup_overwrites_nothing_and_needs_a_file(file: Path) -> None:
    copy = file.with_name("copy.db")
    copy.write_text("mine")
    assert "exists already" in run("backup", file, fails=True)
    assert copy.read_text() == "mine"
    empty = file.with_name("empty.db")
    assert f"no SQLite file {empty}" in run("backup", empty, fails=True)
    empty.touch()
    second = file.with_name("second.db")
    assert f"The SQLite file {empty} is empty" in run("backup", empty, of=second, fails=True)
    assert not second.exists()
    nowhere = file.with_name("nowhere") / "copy.db"
    assert "cannot be made: No such file" in run("backup", file, of=nowhere, fails=True)


def test_restore_brings_back_the_backup_and_keeps_the_rest(file: Path) -> None:
    with closing(connect(file)) as database:
        note(database, AFTER)
    old = earlier(run("restore", file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert (notes(file), notes(old)) == ({BEFORE}, {BEFORE, AFTER})
    assert re.fullmatch(r"bot\.db\.\d{8}T\d{6}", old.name)
    run("jobs", file)
    with closing(connect(file)) as database:
        note(database, "on")
    assert notes(file) == {BEFORE, "on"}


async def restart_on_the_backup(talk: Talk, file: Path) -> None:
    """Stop the bot, restore copy.db beside its file, and start it again."""
    await talk.process.stops()
    await asyncio.to_thread(run, "restore", file)
    await talk.process.starts()


def last_prompt(file: Path) -> int:
    with closing(connect(file)) as database:
        [number] = database.execute("SELECT max(id) FROM prompts").fetchone()
    return int(number)


async def test_jobs_and_prompts_after_a_restore_have_new_numbers(
    talk: Talk, tmp_path: Path
) -> None:
    file = tmp_path / "bot.db"
    await talk.process.starts(database_url=f"sqlite:///{file}")
    await talk.finished("Add First")
    await asyncio.to_thread(run, "backup", file)
    await talk.finished("Add Second")
    last = last_prompt(file)
    await restart_on_the_backup(talk, file)
    await talk.started("Add Third")
    assert "Job 3" in talk.status(3)
    assert last_prompt(file) > last


async def test_words_said_in_private_stay_hidden_after_a_restore(
    talk: Talk, tmp_path: Path
) -> None:
    file = tmp_path / "bot.db"
    talk.process.answers_questions()
    await talk.process.starts(database_url=f"sqlite:///{file}")
    at = await ask_in_private(talk)
    await asyncio.to_thread(run, "backup", file)
    await restart_on_the_backup(talk, file)
    talk.service.readers["assistant"] = listed((at, "unknown"))
    assert QUESTION not in (await words_elsewhere(talk, "today")).blocks
    talk.service.readers["assistant"] = listed((at - 2 * HOUR, "unknown"))
    assert QUESTION in (await words_elsewhere(talk, "last 2 days")).blocks


async def test_numbers_go_far_above_those_of_an_unreadable_file(talk: Talk, tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    await talk.process.starts(database_url=f"sqlite:///{file}")
    await talk.finished("Add First")
    await asyncio.to_thread(run, "backup", file)
    await talk.process.stops()
    file.write_text("no database" * 1_000)
    await asyncio.to_thread(run, "restore", file)
    await talk.process.starts()
    await talk.started("Add Second")
    assert "Working on it" in talk.job(10_002)


async def test_prompt_that_waited_at_the_backup_is_decided_by_a_person(
    talk: Talk, tmp_path: Path
) -> None:
    file = tmp_path / "bot.db"
    await talk.process.starts(database_url=f"sqlite:///{file}", uses_an_hour=1)
    await talk.started("Add First")
    await talk.started("Add Second")
    await asyncio.to_thread(run, "backup", file)
    await talk.time.passes(hours=1)
    assert talk.agent_got() == ["Add First", "Add Second"]
    await restart_on_the_backup(talk, file)
    await talk.time.passes(60)
    assert "Did Job 2 start?" in talk.replies(2)[-1]
    assert talk.agent_got() == ["Add First", "Add Second"], "it is not sent again"
    await talk.ana.presses("Send again")
    await talk.time.passes(hours=1)
    assert talk.agent_got() == ["Add First", "Add Second", "Add Second"]
    talk.everything()


async def test_prompt_that_had_just_been_asked_at_the_backup_gets_a_thread(
    talk: Talk, tmp_path: Path
) -> None:
    file = tmp_path / "bot.db"
    await talk.process.starts(database_url=f"sqlite:///{file}")
    await talk.ana.asks("Add a page on keys")
    await asyncio.to_thread(run, "backup", file)
    await talk.time.passes(60)
    await restart_on_the_backup(talk, file)
    await talk.time.passes(60)
    assert "Did Job 1 start?" in talk.replies(2)[-1]
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_message_that_waited_at_the_backup_is_not_posted_twice(
    talk: Talk, tmp_path: Path
) -> None:
    file = tmp_path / "bot.db"
    await talk.process.starts(database_url=f"sqlite:///{file}")
    await talk.started("Add First")
    talk.faults.limits("chat.postMessage", 30)
    await talk.ends()
    await asyncio.to_thread(run, "backup", file)
    await talk.time.passes(60)
    posted = talk.replies()
    assert "is done" in posted[-1]
    await restart_on_the_backup(talk, file)
    await talk.time.passes(minutes=5)
    assert talk.replies() == posted
    talk.everything()


@pytest.mark.usefixtures("live")
def test_log_of_a_lost_file_is_not_discarded(file: Path) -> None:
    lost = copy_all(file, "lost")
    lost.unlink()
    line = run("jobs", lost, fails=True)
    assert "lost.db is gone, and its log lost.db-wal is still there" in line
    assert log_of(lost).stat().st_size > 0


@pytest.mark.usefixtures("live")
def test_restore_after_a_kill_keeps_the_log_of_the_dead(file: Path) -> None:
    dead = copy_all(file, "dead")
    assert log_of(dead).stat().st_size > 0
    old = earlier(run("restore", dead))
    assert (notes(dead), notes(old)) == ({BEFORE}, {BEFORE, AFTER})


def test_restore_of_a_lost_file_keeps_its_log(file: Path) -> None:
    file.unlink()
    for path in beside(file):
        path.write_bytes(b"of another file")
    old = earlier(run("restore", file))
    assert notes(file) == {BEFORE}
    assert [path.read_bytes() for path in beside(old)] == [b"of another file"] * 3


_KILLED = """
import os, signal, sys

_, last, copy = sys.argv
renames = []

def count(event, arguments):
    if event == "os.rename" and "bot.db" in str(arguments[0]):
        renames.append(event)
        if len(renames) == int(last):
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(count)
sys.argv = ["docs-bot", "restore", copy]
from bot.__main__ import main

main()
"""


@pytest.mark.parametrize("rename", [1, 2, 3, 4])
def test_restore_that_is_killed_loses_nothing_and_is_done_again(file: Path, rename: int) -> None:
    leave_log(file)
    file.with_name("bot.db-shm").touch()
    url = f"sqlite:///{file}"
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(rename), str(file.with_name("copy.db"))],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), "DATABASE_URL": url},
        check=False,
        timeout=HANG_SECONDS,
    )
    assert killed.returncode == -signal.SIGKILL
    if rename > 1:
        refused = run("jobs", file, fails=True)
        assert re.search("its log bot.db-wal is still there|restore .* was cut short", refused)
    earlier(run("restore", file)) if rename < 4 else run("restore", file)
    assert notes(file) == {BEFORE}
    kept = [path for path in file.parent.glob("bot.db.*") if path.suffix.startswith(".2")]
    assert AFTER in set().union(*(notes(path) for path in kept if "-" not in path.name))


def test_restore_on_a_full_disk_names_the_disk(file: Path) -> None:
    small = copy_all(file, "small")
    with closing(connect(file)) as database:
        note(database, "x" * 500_000)
    run("backup", file, of=file.with_name("large.db"))
    most, hardest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (small.stat().st_size + 100_000, hardest))
    try:
        line = run("restore", small, of=file.with_name("large.db"), fails=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hardest))
    assert "look at the disk and the room on it, and run this again" in line
    assert notes(small) == {BEFORE}


def damage(copy: Path) -> str:
    with copy.open("r+b") as written:
        written.seek(8_192)
        written.write(b"\xff" * 8_192)
    return "is damaged|is no backup"


def replace_by_foreign(copy: Path) -> str:
    copy.unlink()
    with closing(connect(copy)) as database:
        database.execute("CREATE TABLE cats (name)")
    return "is no backup of the bot"


def replace_by_text(copy: Path) -> str:
    copy.write_text("Dear diary, " * 500)
    return "is no backup of the bot"


def change_stamp(copy: Path) -> str:
    stamp_otherwise(copy)
    return "never released"


def remove(copy: Path) -> str:
    copy.unlink()
    return "There is no file"


def replace_by_the_file_itself(copy: Path) -> str:
    copy.unlink()
    copy.symlink_to("bot.db")
    return "the SQLite file itself"


SPOILERS: list[Callable[[Path], str]] = [
    *(damage, replace_by_foreign, replace_by_text, remove, replace_by_the_file_itself),
    change_stamp,
]


@pytest.mark.parametrize("spoil", SPOILERS)
def test_restore_of_no_sound_backup_changes_nothing(
    file: Path, spoil: Callable[[Path], str]
) -> None:
    expected = spoil(file.with_name("copy.db"))
    assert re.search(expected, run("restore", file, fails=True))
    assert notes(file) == {BEFORE}


def leave_log(file: Path) -> None:
    """Write a note, and restore the log, as after a kill."""
    with closing(connect(file)) as database:
        note(database, AFTER)
        log = log_of(file).read_bytes()
    log_of(file).write_bytes(log)


async def test_copy_under_a_running_bot_never_meets_its_log(talk: Talk, tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    await talk.process.starts(database_url=f"sqlite:///{file}")
    await talk.finished("Add First")
    with closing(connect(file)) as live, closing(connect(tmp_path / "own.db")) as own:
        live.backup(own)
    await talk.finished("Add Second")
    (tmp_path / "own.db").replace(file)
    for command in ("/docs-agent jobs", "/docs-agent Add Third"):
        assert "nothing was started" in await talk.ana.answer_to(command)
    assert "The SQLite file has been replaced" in str(talk.log())
    await talk.process.stops()
    file.replace(tmp_path / "own.db")
    await asyncio.to_thread(run, "restore", file, of=tmp_path / "own.db")
    assert "#1 " in await asyncio.to_thread(run, "jobs", file)


def test_documented_commands_for_postgresql_bring_everything_back(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.new_database().replace("+psycopg", "")
    make_tables(url)
    steps = RUN.read_text().split("\n### PostgreSQL\n")[1].split("\n## ")[0]
    [dump, restore] = re.findall(r"^\$ (pg_\w+ .*)$", steps, re.MULTILINE)

    def run(command: str) -> None:
        command = command.replace("docs_bot", shlex.quote(url))
        shell = ["sh", "-ec", f"{postgres.programs}/{command}"]
        subprocess.run(shell, cwd=tmp_path, check=True, timeout=HANG_SECONDS)

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE notes (key TEXT)")
        connection.execute("INSERT INTO notes VALUES ('kept')")
        run(dump)
        connection.execute("DELETE FROM notes")
        connection.execute("DROP TABLE jobs CASCADE")
        run(restore)
        assert connection.execute("SELECT key FROM notes").fetchall() == [("kept",)]
    assert docs_bot("jobs", DATABASE_URL=url).stdout == "No jobs.\n"


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_postgresql_is_sent_to_its_own_tools(command: str, tmp_path: Path) -> None:
    ran = docs_bot(
        command, tmp_path / "copy.db", DATABASE_URL="postgresql://bot:secret@db.example/bot"
    )
    assert ran.exit_code == 69
    assert "docs/run.md" in ran.stderr
    assert "secret" not in ran.stderr


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux lists the locks of a file")
def test_command_frees_no_lock_of_its_process(file: Path, live: sqlite3.Connection) -> None:
    live.execute("BEGIN IMMEDIATE")
    before = count_locks(file)
    run("jobs", file)
    assert count_locks(file) >= before > 0


def count_locks(file: Path) -> int:
    return Path("/proc/locks").read_text().count(f":{file.stat().st_ino} ")
