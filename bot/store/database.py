"""The connections to the database: one set of rules for SQLite and PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from sqlite3 import SQLITE_BUSY, OperationalError
from typing import TYPE_CHECKING, Self, TypeVar, cast

from sqlalchemy import Engine, QueuePool, StaticPool, create_engine, event
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import DisconnectionError, SQLAlchemyError

from bot.store.threads import DatabaseThreads

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy.engine.interfaces import CoreExecuteOptionsParameter, DBAPIConnection
    from sqlalchemy.pool import ConnectionPoolEntry

Result = TypeVar("Result")
CONNECTIONS = 5
"""Connections to a PostgreSQL that a process opens at most, if nothing else is said."""
_READ_ONLY = "docs_bot_read_only"
_READING: Mapping[str, CoreExecuteOptionsParameter] = {
    "sqlite": {_READ_ONLY: True},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
"""How a transaction that only reads begins: it keeps nobody out, and sees one state of the database."""
_BUSY_SECONDS = 10.0
_NOTICES = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 50_000,
}
"""After less than a minute of silence the server is gone; what the address says of these counts more.

https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
"""
_IDLE_SECONDS = 60
_MOUNTS = Path("/proc/self/mounts")
_FAR = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "glusterfs", "beegfs")
"""File systems of the network, as Linux names them; those of FUSE are named ``fuse.`` and their own name."""
_FAR_FUSE = ("fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone")


class UnusableFile(SQLAlchemyError):
    """The SQLite file cannot be worked with where it is; the text says why and what to do."""


class Database:
    """A database with its threads; functions of a connection run whole in one of them.

    SQLite has a thread and a connection for writing and one of each for reading: writers queue anyway, a
    queue in the process is fair and never reports "database is locked", and reading waits for no writer. A
    database in memory has one connection for both. PostgreSQL has as many of both as ``connections``.
    Errors do not quote what was stored: prompts and response URLs must not reach a log.
    """

    def __init__(self, writer: Engine, reader: Engine | None, threads: int) -> None:
        self._writer = writer
        self._reader = reader or writer
        self._writing = DatabaseThreads("database write", threads)
        self._reading = DatabaseThreads("database read") if reader else self._writing

    @classmethod
    def open(cls, url: str, connections: int = CONNECTIONS) -> Self:
        """Open the database at a SQLAlchemy URL (``sqlite`` or ``postgresql+psycopg``)."""
        parsed = make_url(url)
        if parsed.get_backend_name() != "sqlite":
            return cls(_postgres_engine(url, connections), None, connections)
        path = parsed.database
        if not path or path == ":memory:":
            return cls(_sqlite_engine(url, None), None, 1)
        file = Path(path).absolute()
        return cls(_sqlite_engine(url, file), _sqlite_engine(url, file, read_only=True), 1)

    @property
    def is_postgresql(self) -> bool:
        """Whether this is a PostgreSQL."""
        return self._writer.dialect.name == "postgresql"

    @property
    def file(self) -> Path | None:
        """The SQLite file; None for PostgreSQL and for a database in memory."""
        path = None if self.is_postgresql else self._writer.url.database
        return None if not path or path == ":memory:" else Path(path).absolute()

    async def write(self, change: Callable[[Connection], Result]) -> Result:
        """Run a function in a transaction: committed when it returns, rolled back when it raises."""
        return await self._writing.run(partial(_write, self._writer, change))

    async def read(self, look: Callable[[Connection], Result]) -> Result:
        """Run a function that only reads, on one state of the database."""
        return await self._reading.run(partial(_read, self._reader, look), may_leave=True)

    def postgres_connection(self) -> psycopg.Connection[tuple[object, ...]]:
        """Return a new connection in autocommit mode that the pool does not know; the caller closes it."""
        taken = self._writer.raw_connection()
        driver: psycopg.Connection[tuple[object, ...]] = cast(
            "psycopg.Connection[tuple[object, ...]]", taken.driver_connection
        )
        taken.detach()
        driver.autocommit = True
        return driver

    async def close(self) -> None:
        """Close the connections after what is under way; what is queued still runs."""
        for threads, engine in ((self._writing, self._writer), (self._reading, self._reader)):
            await threads.run(engine.dispose, may_leave=True)
            threads.stop()


def _write(engine: Engine, change: Callable[[Connection], Result]) -> Result:
    with engine.begin() as connection:
        return change(connection)


def _read(engine: Engine, look: Callable[[Connection], Result]) -> Result:
    with engine.connect() as connection:
        return look(connection.execution_options(**_READING[engine.dialect.name]))


def _postgres_engine(url: str, connections: int) -> Engine:
    query = make_url(url).query
    engine = create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={name: value for name, value in _NOTICES.items() if name not in query},
    )
    event.listen(engine, "connect", _prepare_postgres)
    return engine


def _prepare_postgres(connection: DBAPIConnection, _record: object) -> None:
    # A host that vanished in the middle of a transaction would keep its locks, and all others waiting.
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE_SECONDS}s'")
    cursor.close()
    connection.commit()


def _sqlite_engine(url: str, file: Path | None, *, read_only: bool = False) -> Engine:
    """Return an engine with one connection; ``file`` is None for a database in memory."""
    sizes = {"pool_size": 1, "max_overflow": 0} if file else {}
    engine = create_engine(
        url,
        poolclass=QueuePool if file else StaticPool,
        hide_parameters=True,
        # Only one thread uses it, but the pool may close it in another.
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
        **sizes,
    )
    event.listen(engine, "connect", partial(_prepare_sqlite, read_only))
    if file:
        event.listen(engine, "do_connect", lambda *_: _look_at(file))
        # When it is prepared, since a new file is there only then.
        event.listen(engine, "connect", lambda _, record: _note_file(file, record))
        event.listen(engine, "checkout", lambda _, record, __: _is_same_file(file, record))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _look_at(file: Path) -> None:
    """Make the file's folder if need be; raises UnusableFile where SQLite would fail, now or later."""
    folder = file.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnusableFile(
            f"The folder of the SQLite file cannot be made ({error.strerror}): "
            "make it, or name another place in DATABASE_URL."
        ) from None
    # Its journal stands beside the file, so the folder must be writable too.
    if not os.access(folder, os.W_OK | os.X_OK) or (file.exists() and not os.access(file, os.R_OK | os.W_OK)):
        raise UnusableFile(
            "The SQLite file or its folder is read-only: let this user write both, "
            "or name another place in DATABASE_URL."
        )
    if is_far(folder):
        raise UnusableFile(
            "The SQLite file is on a network file system, where its locks do not hold: "
            "put it on a local disk, or give a PostgreSQL in DATABASE_URL."
        )


def _note_file(file: Path, record: ConnectionPoolEntry) -> None:
    record.info["file"] = _identity(file)


def _is_same_file(file: Path, record: ConnectionPoolEntry) -> None:
    """Raises DisconnectionError, after which the pool connects anew, when another file stands there now.

    What is written to a file that has been deleted or replaced is lost, without any error.
    """
    if record.info.get("file") != _identity(file):
        raise DisconnectionError("the SQLite file has been replaced")


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_far(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether a folder is on a network file system; where the system does not say, it is not.

    SQLite's write-ahead log needs memory that all processes share: https://www.sqlite.org/wal.html
    """
    try:
        lines = [line.split() for line in mounts.read_text().splitlines()]
    except OSError:
        return False
    folder = folder.resolve()
    over = [(len(point), kind) for _, point, kind, *_ in lines if folder.is_relative_to(_unescaped(point))]
    # Of two on the same place the later one is seen.
    kind = max(enumerate(over), key=lambda each: (each[1][0], each[0]))[1][1] if over else ""
    return kind in _FAR or kind in _FAR_FUSE


def _unescaped(point: str) -> str:
    """Blanks in the names of mount points are written as octal numbers."""
    return point.replace(r"\040", " ").replace(r"\011", "\t").replace(r"\134", "\\")


def _prepare_sqlite(read_only: bool, connection: sqlite3.Connection, _record: object) -> None:
    # The driver must not begin transactions by itself: a deferred one that turns into a writer
    # fails at once with "database is locked", whatever the time-out.
    # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html#enabling-non-legacy-sqlite-transactional-modes-with-the-sqlite3-or-aiosqlite-driver
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    _switch_to_wal(cursor)
    if read_only:
        cursor.execute("PRAGMA query_only=ON")
    cursor.close()


def _switch_to_wal(cursor: sqlite3.Cursor) -> None:
    """The switch does not wait for the busy time-out as all else does, so we wait ourselves.

    It happens once in a file's life, and only several processes that meet a new file can collide.
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
