"""Where a SQLite file may be, and what is said where it may not."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.store.database import is_far, open_engine, reading
from bot.store.migrate import migrate
from tests.databases import PostgresServer

CAP_DAC_OVERRIDE = 1
PR_CAPBSET_DROP = 24

_START = """
import asyncio, sys, time
from sqlalchemy.exc import SQLAlchemyError
from bot.store.database import open_engine
from bot.store.migrate import migrate

async def start() -> None:
    engine = open_engine(sys.argv[1])
    began = time.monotonic()
    try:
        await migrate(engine)
    finally:
        print(time.monotonic() - began)
        await engine.dispose()

try:
    asyncio.run(start())
except SQLAlchemyError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def as_anybody() -> None:
    """Root may write everywhere; without this right it is held to the permissions like all others."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def start(file: Path) -> tuple[str, float]:
    """Open and migrate in a process of its own; what it said, and how many seconds that took."""
    done = subprocess.run(
        [sys.executable, "-c", _START, f"sqlite+aiosqlite:///{file}"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=as_anybody,
    )
    return done.stderr, float(done.stdout.splitlines()[-1])


@pytest.mark.skipif(sys.platform != "linux", reason="rights of root are taken away as Linux does")
@pytest.mark.parametrize("what", ["folder", "file", "place"])
def test_a_place_that_is_read_only_is_told_at_once(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "var"
    folder.mkdir()
    file = folder / "bot.db"
    if what == "file":
        file.touch(mode=0o444)
    else:
        folder.chmod(0o555)
    said, seconds = start(file if what != "place" else folder / "deeper" / "bot.db")
    assert said.startswith("UnusableFile: ")
    assert "DATABASE_URL" in said
    assert len(said.splitlines()) == 1
    assert seconds < 8.0


async def test_a_file_that_is_no_database_is_refused_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "bot.db").write_text("words and no database" * 100)
    engine = open_engine(f"sqlite+aiosqlite:///{tmp_path}/bot.db")
    began = time.monotonic()
    with pytest.raises(Exception, match="not a database"):
        await migrate(engine)
    await engine.dispose()
    assert time.monotonic() - began < 5.0


MOUNTS = r"""
/dev/root / ext4 rw 0 0
server:/export /mnt/far nfs4 rw 0 0
tmpfs /mnt/far/near tmpfs rw 0 0
tmpfs /mnt/covered tmpfs rw 0 0
//server/share /mnt/covered cifs rw 0 0
sshfs /mnt/two\040words fuse.sshfs rw 0 0
/dev/fuse /mnt/local fuse.gocryptfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "far"),
    [
        ("/var/lib/bot", False),
        ("/mnt/far", True),
        ("/mnt/far/bot", True),
        ("/mnt/farther", False),
        ("/mnt/far/near/bot", False),
        ("/mnt/covered/bot", True),
        ("/mnt/two words/bot", True),
        ("/mnt/local/bot", False),
    ],
)
def test_a_network_file_system_is_known_by_its_mount(tmp_path: Path, folder: str, far: bool) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS.lstrip())
    assert is_far(Path(folder), mounts) is far


def test_where_the_system_names_no_mounts_nothing_is_refused(tmp_path: Path) -> None:
    assert not is_far(tmp_path, tmp_path / "nothing")


async def test_a_second_process_waits_for_the_writer_before_it(tmp_path: Path) -> None:
    """No "database is locked" while another holds the file for a moment."""
    file = tmp_path / "bot.db"
    engine = open_engine(f"sqlite+aiosqlite:///{file}")
    await migrate(engine)
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _HOLD, str(file), stdin=_PIPE, stdout=_PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    async with reading(engine) as connection:
        await connection.execute(text("SELECT count(*) FROM jobs"))
    writing = asyncio.create_task(_holds(engine))
    await asyncio.sleep(0.1)
    assert not writing.done()
    await holder.communicate(b"end\n")
    assert holder.returncode == 0
    written = await writing
    await engine.dispose()
    assert written == 1, "what the other wrote stands before what we do"


async def _holds(engine: AsyncEngine) -> int | None:
    async with engine.begin() as connection:
        found: int | None = await connection.scalar(text("SELECT count(*) FROM holds"))
        return found


_PIPE = asyncio.subprocess.PIPE
_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("INSERT INTO holds VALUES ('acme', '2026-11-02 09:00:00', 1, 'unwell')")
print("held", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
"""


async def test_a_file_that_is_replaced_is_not_written_to_where_nobody_finds_it(tmp_path: Path) -> None:
    """A backup is put back under a bot that runs."""
    file, backup = tmp_path / "bot.db", tmp_path / "backup.db"
    engine = open_engine(f"sqlite+aiosqlite:///{file}")
    await migrate(engine)
    with closing(sqlite3.connect(file)) as connection, closing(sqlite3.connect(backup)) as copy:
        connection.backup(copy)
    for name in ("bot.db-wal", "bot.db-shm"):
        (tmp_path / name).unlink()
    backup.replace(file)
    async with engine.begin() as written:
        await written.execute(text("INSERT INTO holds VALUES ('acme', '2026-11-02 09:00:00', 1, 'unwell')"))
    await engine.dispose()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM holds").fetchone() == (1,)


async def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    engine = open_engine(f"sqlite+aiosqlite:///{file}")
    await migrate(engine)
    for name in ("bot.db", "bot.db-wal", "bot.db-shm"):
        (tmp_path / name).unlink()
    with pytest.raises(OperationalError, match="no such table"):
        async with engine.begin() as connection:
            await connection.execute(text("DELETE FROM holds"))
    await engine.dispose()


async def test_postgresql_lets_go_of_what_a_vanished_process_held(postgres: PostgresServer) -> None:
    """And we give up a server that vanished; what the address says of it counts more."""
    engine = open_engine(f"{postgres.new_database()}&keepalives_idle=7")
    async with engine.begin() as connection:
        idle = await connection.scalar(text("SHOW idle_in_transaction_session_timeout"))
        raw = await connection.get_raw_connection()
        assert raw.driver_connection is not None
        parameters = raw.driver_connection.info.get_parameters()
    await engine.dispose()
    assert idle == "1min"
    assert parameters["keepalives_idle"] == "7"
    assert parameters["tcp_user_timeout"] == "50000"


async def test_a_lock_that_never_ends_is_an_error_in_the_end(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    engine = open_engine(f"sqlite+aiosqlite:///{file}")
    await migrate(engine)
    async with reading(engine) as connection:
        await connection.exec_driver_sql("PRAGMA busy_timeout=50")
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="locked"):
        async with engine.begin():
            pass
    holder.close()
    await engine.dispose()
