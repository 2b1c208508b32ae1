"""Concurrent reads and writes, and lost and replaced database files."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from psycopg import sql
from sqlalchemy import event, text
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

from bot.store.database import Database
from bot.store.upgrade import upgrade_tables
from tests.databases import PostgresServer, connected
from tests.limits import HANG_SECONDS
from tests.pause import Pause
from tests.store.conftest import PreparedDatabases

ON_SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

_ROW = (
    "INSERT INTO back_offs (project, retry_at, attempts, reason, began_at) "
    "VALUES ('acme', '2026-11-02 09:00:00', 1, 'unwell', '2026-11-02 08:00:00')"
)


def hold(connection: Connection) -> None:
    connection.execute(text(_ROW))


def holds(connection: Connection) -> int:
    return int(connection.scalar(text("SELECT count(*) FROM back_offs")) or 0)


async def test_failed_write_is_raised_and_rolled_back(database: Database) -> None:
    def hold_twice(connection: Connection) -> None:
        hold(connection)
        hold(connection)

    with pytest.raises(IntegrityError):
        await database.write(hold_twice)
    assert await database.read(holds) == 0
    await database.write(hold)
    assert await database.read(holds) == 1


async def test_reader_sees_committed_rows_without_waiting_for_writers(database: Database) -> None:
    pause = Pause()

    def hold_slowly(connection: Connection) -> None:
        hold(connection)
        pause()

    writing = asyncio.create_task(database.write(hold_slowly))
    await pause.reached()
    assert await database.read(holds) == 0
    assert not writing.done()
    pause.end()
    await writing
    assert await database.read(holds) == 1


async def test_reader_sees_one_state_of_the_database(database: Database) -> None:
    pause = Pause()

    def count_twice(connection: Connection) -> list[int]:
        before = holds(connection)
        pause()
        return [before, holds(connection)]

    reading = asyncio.create_task(database.read(count_twice))
    await pause.reached()
    await database.write(hold)
    pause.end()
    assert await reading == [0, 0]


async def test_reader_cannot_write(database: Database) -> None:
    with pytest.raises(SQLAlchemyError, match=r"readonly|read-only"):
        await database.read(hold)
    assert await database.write(holds) == 0
    await database.write(hold)
    assert await database.read(holds) == 1


async def test_connection_in_use_is_closed_after_its_use(database: Database) -> None:
    pause, closed = Pause(), list[object]()
    event.listen(database._writer, "close", lambda connection, _record: closed.append(connection))
    writing = asyncio.create_task(database.write(lambda _connection: pause()))
    await pause.reached()
    await database.close()
    assert not closed
    pause.end()
    await writing
    async with asyncio.timeout(HANG_SECONDS):
        while not closed:
            await asyncio.sleep(0.01)


def _at(pause: Pause, connection: Connection) -> None:
    connection.execute(text("SELECT 1")).close()
    pause()


@ON_SQLITE
async def test_writer_waits_for_the_writer_of_another_process(
    database: Database, tmp_path: Path
) -> None:
    """A short lock of another process must not raise "database is locked"."""
    file = tmp_path / "bot.db"
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _HOLD, str(file), _ROW, stdin=_PIPE, stdout=_PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"

    assert await database.read(holds) == 0, "reading does not wait"
    writing = asyncio.create_task(database.write(holds))
    await holder.communicate(b"end\n")
    assert await writing == 1, "the other process committed first"
    assert holder.returncode == 0


_PIPE = asyncio.subprocess.PIPE
_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute(sys.argv[2])
print("held", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
"""


async def test_writes_reach_a_database_file_that_was_replaced(tmp_path: Path) -> None:
    """Admins may restore a backup under a running bot."""
    file, backup = tmp_path / "bot.db", tmp_path / "backup.db"
    database = Database.open(f"sqlite:///{file}")
    await upgrade_tables(database)
    with closing(sqlite3.connect(file)) as connection, closing(sqlite3.connect(backup)) as copy:
        connection.backup(copy)
    for name in ("bot.db-wal", "bot.db-shm"):
        (tmp_path / name).unlink()
    backup.replace(file)
    await database.write(hold)
    assert await database.read(holds) == 1, "nor read from there"
    await database.close()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM back_offs").fetchone() == (1,)


@ON_SQLITE
async def test_missing_file_is_an_error(database: Database, tmp_path: Path) -> None:
    await database.write(hold)
    for name in ("bot.db", "bot.db-wal", "bot.db-shm"):
        (tmp_path / name).unlink()
    for run in (database.write, database.read):
        with pytest.raises(OperationalError, match="no such table"):
            await run(holds)


async def test_postgresql_drops_vanished_clients_and_options_of_the_address_win(
    postgres: PostgresServer,
) -> None:
    def read_options(connection: Connection) -> tuple[str, dict[str, str]]:
        idle = connection.scalar(text("SHOW idle_in_transaction_session_timeout"))
        driver = connection.connection.driver_connection
        assert driver is not None
        return str(idle), driver.info.get_parameters()

    database = Database.open(f"{postgres.new_database()}&keepalives_idle=7")
    idle, parameters = await database.write(read_options)
    await database.close()
    assert idle == "2s", "of a transaction that writes"
    assert parameters["keepalives_idle"] == "7"
    assert parameters["tcp_user_timeout"] == "50000"


async def test_suspended_writer_holds_the_others_for_two_seconds(
    prepared_databases: PreparedDatabases,
) -> None:
    with prepared_databases.one() as url:
        suspended, other, pause = Database.open(url), Database.open(url), Pause()

        def hold_and_stand_still(connection: Connection) -> None:
            hold(connection)
            pause()

        writing = asyncio.create_task(suspended.write(hold_and_stand_still))
        await pause.reached()
        assert await other.write(holds) == 0
        assert not writing.done()
        pause.end()
        with pytest.raises(SQLAlchemyError, match="IdleInTransactionSessionTimeout"):
            await writing
        await suspended.write(hold)
        assert await other.read(holds) == 1
        await suspended.close()
        await other.close()


async def test_writer_sees_the_commits_that_it_waited_for(postgres: PostgresServer) -> None:
    """Also where the database takes one state for the whole transaction by default."""
    url = postgres.new_database()
    with connected(url) as server:
        name = sql.Identifier(str(make_url(url).database))
        statement = "ALTER DATABASE {} SET default_transaction_isolation = 'repeatable read'"
        server.execute(sql.SQL(statement).format(name))
    database, other, pause = Database.open(url), Database.open(url), Pause()
    await upgrade_tables(database)

    def hold_slowly(connection: Connection) -> None:
        hold(connection)
        pause()

    writing = asyncio.create_task(database.write(hold_slowly))
    await pause.reached()
    counting = asyncio.create_task(other.write(holds))
    with connected(url) as server:
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        async with asyncio.timeout(HANG_SECONDS):
            while server.execute(waits).fetchone() != (1,):
                await asyncio.sleep(0.01)
    pause.end()
    await writing
    assert await counting == 1
    await database.close()
    await other.close()


async def test_read_only_sessions_are_closed_after_a_failover(postgres: PostgresServer) -> None:
    """Read-only sessions answer the pool's ping, so the pool would keep them."""
    url = postgres.new_database()
    before = Database.open(url)
    await upgrade_tables(before)
    await before.close()
    database = Database.open(url)
    with connected(url) as server:
        name = sql.Identifier(str(make_url(url).database))
        server.execute(
            sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name)
        )
        try:
            with pytest.raises(SQLAlchemyError, match="ReadOnlySqlTransaction"):
                await database.write(hold)
            server.execute(
                sql.SQL("ALTER DATABASE {} RESET default_transaction_read_only").format(name)
            )
            await database.write(hold)
            assert await database.read(holds) == 1
        finally:
            await database.close()


@ON_SQLITE
async def test_lock_that_never_ends_is_an_error(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    await database.write(
        lambda connection: connection.exec_driver_sql("PRAGMA busy_timeout=50").close()
    )
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="locked"):
        await database.write(holds)
    holder.close()


def seven(_connection: Connection) -> int:
    return 7


async def test_only_one_write_fails_when_their_common_transaction_cannot_begin(
    database: Database,
) -> None:
    pause = Pause()

    def begin(_connection: Connection) -> None:
        pause()
        raise OSError("too many open files")

    event.listen(database._writer, "begin", begin, once=True)
    writing = asyncio.gather(*map(database.write, [seven] * 3), return_exceptions=True)
    await pause.reached()
    pause.end()
    async with asyncio.timeout(HANG_SECONDS):
        failed, *others = await writing
    assert (type(failed), others) == (OSError, [7, 7])


async def test_writes_together_run_once_when_their_commit_fails(database: Database) -> None:
    """The server may have committed them, although its answer was lost."""
    pause, runs = Pause(), list[int]()

    def run(_connection: Connection) -> None:
        runs.append(1)
        pause()

    def commit(_connection: Connection) -> None:
        raise ConnectionError("the answer was lost")

    event.listen(database._writer, "commit", commit)
    writing = asyncio.gather(*map(database.write, [run] * 3), return_exceptions=True)
    await pause.reached()
    pause.end()
    async with asyncio.timeout(HANG_SECONDS):
        assert [type(error) for error in await writing] == [ConnectionError] * 3
    assert runs == [1, 1, 1]


async def test_read_that_raises_fails_alone_among_those_run_together(database: Database) -> None:
    pause = Pause()

    def wait(_connection: Connection) -> None:
        pause()

    def fail(_connection: Connection) -> int:
        raise LookupError

    first = asyncio.gather(*(database.read(wait) for _ in range(4)))
    await pause.reached()
    reading = asyncio.gather(*map(database.read, [holds, fail, holds]), return_exceptions=True)
    await asyncio.sleep(0)
    pause.end()
    async with asyncio.timeout(HANG_SECONDS):
        await first
        before, failed, after = await reading
    assert (before, type(failed), after) == (0, LookupError, 0)


async def test_write_that_raises_fails_alone_among_those_committed_together(
    database: Database,
) -> None:
    pause = Pause()

    def fail(connection: Connection) -> None:
        hold(connection)
        pause()
        raise LookupError

    writing = asyncio.gather(*map(database.write, [seven, fail, seven]), return_exceptions=True)
    await pause.reached()
    pause.end()
    async with asyncio.timeout(HANG_SECONDS):
        before, failed, after = await writing
    assert (before, type(failed), after) == (7, LookupError, 7)
    assert await database.read(holds) == 0
