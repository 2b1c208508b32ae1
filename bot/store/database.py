"""Database connections and their settings, for SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from sqlite3 import SQLITE_BUSY, OperationalError
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar, cast

from sqlalchemy import Engine, QueuePool, StaticPool, create_engine, event, func, select
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import DBAPIError, DisconnectionError, SQLAlchemyError

from bot.logs import mask
from bot.store.deadline import (
    OutcomeUnknown,
    TooLate,
    WorkQueue,
    commit_together,
    current_deadline,
    read_together,
)
from bot.store.sqlite_files import (
    Identity,
    UnusableDatabase,
    check_file,
    identity,
    sqlite_file,
)

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import (
        CoreExecuteOptionsParameter,
        DBAPIConnection,
        ExceptionContext,
    )
    from sqlalchemy.pool import ConnectionPoolEntry

Result = TypeVar("Result")
Pool = Callable[[int, str], Executor]
"""Makes so many threads with a name."""
CONNECTIONS = 5
"""The most connections to PostgreSQL that a process opens: one writes, and four are for readers.

Two processes leave most of a small server's hundred to others.
"""
_READ_ONLY = "docs_bot_read_only"
_READING: Mapping[str, CoreExecuteOptionsParameter] = {
    "sqlite": {_READ_ONLY: True},
    "postgresql": {
        "isolation_level": "REPEATABLE READ",
        "postgresql_readonly": True,
        _READ_ONLY: True,
    },
}
"""Execution options of read-only transactions: they read one state of the database without
locks.
"""
_BUSY_SECONDS = 10.0
_LOG_MILLISECONDS = 100
MAX_TOGETHER = 20
"""How many changes that wait for the writer are committed together, and reads on SQLite run."""
_WRITE_LOCK = 7_203_115
"""Key of the PostgreSQL advisory lock of the one transaction that writes; an arbitrary number."""
_CLOSE_SECONDS = 0.5
_TIMEOUTS = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 50_000,
}
"""Detect a lost server within a minute. Values given in the database URL take precedence.

https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
"""
_IDLE_SECONDS = 60
"""The longest silence of a client within a transaction that reads.

The server ends the session then.
"""
_IDLE_WRITER_SECONDS = 2
"""The same in a transaction that writes, for which all others wait.

It is less than the 2.5 s in which a request is answered.
"""
_LOCK_SECONDS = 30
"""The longest wait for a lock, such as that on writing."""
_BEGIN_WRITING = f"""
SELECT pg_advisory_xact_lock({_WRITE_LOCK}),
    set_config('idle_in_transaction_session_timeout', '{_IDLE_WRITER_SECONDS}s', true)
"""
_SESSION_OVER = ("25006", "25P03", "57P01", "57P02", "57P03")
"""The codes of errors after which a session is of no use.

The server only reads, as the former one does after a failover; it has ended a silent transaction;
or it shuts down or starts.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""
_MAX_CAUSE_LENGTH = 300
_NO_DATABASE = "file is not a database"
"""SQLite's words for a file of another kind. https://www.sqlite.org/rescode.html#notadb"""
"""Characters of a driver's message that are shown."""


class Trouble(NamedTuple):
    """The cause of an error, and its remedy."""

    cause: str
    advice: str


def explain_error(error: SQLAlchemyError | sqlite3.Error) -> Trouble:
    """Return the cause of a database error, in the driver's own words.

    The cause is the first line of the driver's message, without passwords in addresses.
    """
    if isinstance(error, UnusableDatabase):
        cause, _, advice = str(error).partition(": ")
        return Trouble(cause, advice)
    driver = error.orig if isinstance(error, DBAPIError) else error
    text = str(driver).strip().partition("\n")[0] or type(driver).__name__
    advice = "Look at DATABASE_URL, at the database's log and disk, and the network."
    if text == _NO_DATABASE:
        advice = "DATABASE_URL names another file: name the bot's own, or `docs-bot restore` it."
    return Trouble(mask(text)[:_MAX_CAUSE_LENGTH], advice)


def error_fields(error: Exception) -> dict[str, object]:
    """Return the log fields of an error.

    An error of the database has one line, others have a traceback.
    """
    if isinstance(error, SQLAlchemyError):
        return {"reason": explain_error(error).cause}
    return {"exc_info": error}


class Database:
    """A database and the threads that run transactions on it.

    One thread and connection write, since one transaction writes at a time: SQLite allows no more,
    and on PostgreSQL each begins with a lock that all processes share. So a transaction is alone,
    and none locks rows, deadlocks or has to be repeated. Readers do not wait for it; PostgreSQL
    gets the other ``connections`` for them, SQLite one. An in-memory database has one connection
    for both. Errors never quote stored values, because prompts and response URLs must not reach a
    log.
    """

    def __init__(self, writer: Engine, reader: Engine | None, threads: int, pool: Pool) -> None:
        self._writer = writer
        self._reader = reader or writer
        self._threads = threads
        self._pool = pool
        self._begin()

    def _begin(self) -> None:
        self._write_pool = self._read_pool = self._pool(1, "database write")
        if self.is_postgresql or self._reader is not self._writer:
            self._read_pool = self._pool(self._threads, "database read")
        self._writing = WorkQueue(
            self._write_pool, partial(commit_together, self._writer), most=MAX_TOGETHER
        )
        reader = self._reader.execution_options(**_READING[self._reader.dialect.name])
        # Several threads of PostgreSQL's would each wait for the reads of another one.
        together = 1 if self.is_postgresql else MAX_TOGETHER
        self._reading = WorkQueue(self._read_pool, partial(read_together, reader), most=together)

    @classmethod
    def open(
        cls, url: str, connections: int = CONNECTIONS, pool: Pool = ThreadPoolExecutor
    ) -> Self:
        """Open the database at a SQLAlchemy URL (``sqlite`` or ``postgresql+psycopg``)."""
        parsed = make_url(url)
        if parsed.get_backend_name() != "sqlite":
            return cls(_postgres_engine(url, connections), None, max(1, connections - 1), pool)
        file = sqlite_file(url)
        if file is None:
            return cls(_sqlite_engine(url, None), None, 1, pool)
        opened: list[Identity] = []
        writer = _sqlite_engine(url, file, opened=opened)
        reader = _sqlite_engine(url, file, opened=opened, read_only=True)
        return cls(writer, reader, 1, pool)

    @property
    def is_postgresql(self) -> bool:
        return self._writer.dialect.name == "postgresql"

    @property
    def file(self) -> Path | None:
        """Return the path of the SQLite file; None for other databases."""
        return sqlite_file(self._writer.url.render_as_string(hide_password=False))

    async def write(self, change: Callable[[Connection], Result]) -> Result:
        """Run ``change`` in a transaction, and return its result.

        The transaction is committed when ``change`` returns, and rolled back when it raises.

        Of a request with a deadline: raises TooLate or OutcomeUnknown then.
        """
        deadline = current_deadline()
        if deadline is None:
            return await self._writing.run(change)
        try:
            result = await self._writing.run(change, may_leave=True, deadline=deadline)
        except OutcomeUnknown:
            deadline.has_written = True
            raise
        except DBAPIError as error:
            # The connection may have been lost during the commit.
            deadline.has_written |= error.connection_invalidated
            raise
        deadline.has_written = True
        return result

    async def try_writing(self, change: Callable[[Connection], None]) -> None:
        """Run ``change`` in a transaction. A cancelled caller leaves at once."""
        await self._writing.run(change, may_leave=True)

    async def read(self, query: Callable[[Connection], Result]) -> Result:
        """Run ``query``, which only reads, on one state of the database.

        Raises TooLate at a request's deadline.
        """
        try:
            return await self._reading.run(query, may_leave=True, deadline=current_deadline())
        except OutcomeUnknown:
            raise TooLate("the database did not answer in time") from None

    async def empty_log(self) -> None:
        """Move SQLite's log into the file, which erases values from it.

        A reader that is still at work leaves it as it is until the next time.
        https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
        """
        if self.file is not None:
            await asyncio.wrap_future(self._write_pool.submit(_empty_log, self._writer))

    async def close(self) -> None:
        """Close the connections once all running and queued functions have ended.

        One that takes half a second more is left to its thread; its connection is closed when it
        ends. A closed database opens again when it is used.
        """
        closed = asyncio.Event()
        loop = asyncio.get_running_loop()
        pools = (self._write_pool, self._read_pool)
        self._begin()

        def close() -> None:
            for pool in pools:
                pool.shutdown()
            # Not before: `dispose` forgets a connection in use, which would stay open. On
            # PostgreSQL both pools use one engine.
            self._writer.dispose()
            self._reader.dispose()
            with suppress(RuntimeError):  # the loop may be closed by then
                loop.call_soon_threadsafe(closed.set)

        threading.Thread(target=close, name="database close", daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await closed.wait()


class ServerClock:
    """The clock of a PostgreSQL server.

    By it leases and due times mean the same on all machines.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ahead_seconds = 0.0

    async def read(self) -> None:
        """Read the server's clock.

        Until the next reading it goes on with the seconds that pass on this machine.
        """
        at = await self._database.read(_read_server_time)
        self._ahead_seconds = at.timestamp() - _passed_seconds()

    def __call__(self) -> datetime:
        return datetime.fromtimestamp(self._ahead_seconds + _passed_seconds(), UTC)


def _read_server_time(connection: Connection) -> datetime:
    at = connection.execute(select(func.clock_timestamp())).scalar_one()
    return cast("datetime", at)


def _passed_seconds() -> float:
    """Return the seconds of a clock that is never set.

    It also counts while the machine sleeps.
    """
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _empty_log(engine: Engine) -> None:
    with closing(engine.raw_connection()) as connection:
        cursor = connection.cursor()
        # Writers wait during this. A log that a reader such as a backup holds is left for later.
        cursor.execute(f"PRAGMA busy_timeout={_LOG_MILLISECONDS}")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        cursor.execute(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000:.0f}")


def _postgres_engine(url: str, connections: int) -> Engine:
    query = make_url(url).query
    engine = create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_pre_ping=True,
        hide_parameters=True,
        # Each statement must see the commits for which its transaction has waited; a database may
        # have another default.
        isolation_level="READ COMMITTED",
        # Without an encoding of the client's, text of a server without one (SQL_ASCII) would come
        # as bytes.
        connect_args={"client_encoding": "utf8"}
        | {name: value for name, value in _TIMEOUTS.items() if name not in query},
    )
    event.listen(engine, "connect", _prepare_postgres)
    event.listen(engine, "begin", _begin_postgres)
    event.listen(engine, "handle_error", _leave_session)
    return engine


def _leave_session(context: ExceptionContext) -> None:
    """Make the pool connect again after an error that ends the session.

    Every later statement of the session would repeat the error.
    """
    if getattr(context.original_exception, "sqlstate", None) in _SESSION_OVER:
        context.is_disconnect = True


def _prepare_postgres(connection: DBAPIConnection, _record: object) -> None:
    # Otherwise a process that vanished in the middle of a transaction would keep its session for
    # ever.
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE_SECONDS}s'")
    cursor.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
    cursor.close()
    connection.commit()


def _begin_postgres(connection: Connection) -> None:
    """Wait until no other transaction writes.

    The server ends the transaction if its process is suspended meanwhile.

    https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
    """
    if not connection.get_execution_options().get(_READ_ONLY):
        connection.exec_driver_sql(_BEGIN_WRITING)


def _sqlite_engine(
    url: str, file: Path | None, *, opened: list[Identity] | None = None, read_only: bool = False
) -> Engine:
    """Return an engine with one connection.

    Args:
        url: the SQLAlchemy URL.
        file: the database's file; None for a database in memory.
        opened: receives the identity of the file that the engines of one database opened last.
        read_only: refuse to write.
    """
    sizes = {"pool_size": 1, "max_overflow": 0} if file else {}
    engine = create_engine(
        url,
        poolclass=QueuePool if file else StaticPool,
        hide_parameters=True,
        # One thread uses the connection, but the pool may close it from another.
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
        **sizes,
    )
    event.listen(engine, "connect", partial(_prepare_sqlite, read_only))
    if file:
        opened = [] if opened is None else opened
        event.listen(engine, "do_connect", partial(_check_opened_file, file, opened))
        # After _prepare_sqlite, because a new file does not exist before.
        event.listen(engine, "connect", partial(_remember_file, file, opened))
        event.listen(engine, "checkout", partial(_check_same_file, file))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _check_opened_file(file: Path, opened: list[Identity], *_arguments: object) -> None:
    """Raise UnusableDatabase if the file is not the file that was opened last."""
    check_file(file, opened)


def _remember_file(
    file: Path, opened: list[Identity], _connection: object, record: ConnectionPoolEntry
) -> None:
    record.info["file"] = identity(file)
    opened[:] = [identity(file)]


def _check_same_file(
    file: Path, _connection: object, record: ConnectionPoolEntry, _proxy: object
) -> None:
    """Raise DisconnectionError if the path has another file now.

    The pool reconnects then.

    Writes to a file that has been deleted or replaced would be lost without any error.
    """
    if record.info.get("file") != identity(file):
        raise DisconnectionError("the SQLite file has been replaced")


def _prepare_sqlite(read_only: bool, connection: sqlite3.Connection, _record: object) -> None:
    # Stop the driver from beginning transactions itself: a deferred transaction that starts to
    # write fails at once with "database is locked", despite the time-out.
    # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    # Erased values must leave no copy in free pages.
    cursor.execute("PRAGMA secure_delete=ON")
    _switch_to_wal(cursor)
    if read_only:
        cursor.execute("PRAGMA query_only=ON")
    cursor.close()


def _switch_to_wal(cursor: sqlite3.Cursor) -> None:
    """Switch the file to write-ahead logging, with retries while it is locked.

    SQLite does not apply its busy time-out to this statement. A file is switched only once, so
    processes collide only when several of them open a new file at the same moment.
    """
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except OperationalError as error:
            if error.sqlite_errorcode & 0xFF != SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    read_only = connection.get_execution_options().get(_READ_ONLY)
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")
