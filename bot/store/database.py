"""The connection to the database: one set of rules for SQLite and PostgreSQL."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from sqlite3 import SQLITE_BUSY, OperationalError
from typing import Any

from sqlalchemy import AsyncAdaptedQueuePool, event
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import DisconnectionError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.store import one_trip

READ_ONLY = "docs_bot_read_only"
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


def open_engine(url: str) -> AsyncEngine:
    """An engine for a SQLAlchemy URL (``sqlite+aiosqlite`` or ``postgresql+psycopg``).

    SQLite gets one connection: its writers queue anyway, and a queue in the process is fair and
    never reports "database is locked". A second process on the same file waits its turn.
    Errors do not quote what was stored: prompts and response URLs must not reach a log.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _open_sqlite(url, parsed.database)
    engine = create_async_engine(
        url,
        pool_size=5,
        max_overflow=5,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={name: value for name, value in _NOTICES.items() if name not in parsed.query},
    )
    event.listen(engine.sync_engine, "connect", _prepare_postgres)
    return engine


def _prepare_postgres(connection: Any, _record: Any) -> None:
    # A host that vanished in the middle of a transaction would keep its locks, and all others waiting.
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE_SECONDS}s'")
    cursor.close()
    connection.commit()


def _open_sqlite(url: str, path: str | None) -> AsyncEngine:
    engine = create_async_engine(
        url,
        poolclass=AsyncAdaptedQueuePool,
        pool_size=1,
        max_overflow=0,
        pool_timeout=60,
        hide_parameters=True,
        connect_args={"timeout": _BUSY_SECONDS, "async_creator_fn": one_trip.connect},
    )
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    if path and path != ":memory:" and not path.startswith("file:"):
        file = Path(path).absolute()
        event.listen(engine.sync_engine, "do_connect", lambda *_: _look_at(file))
        # When it is prepared, since a new file is there only then.
        event.listen(engine.sync_engine, "connect", lambda _, record: _note_file(file, record))
        event.listen(engine.sync_engine, "checkout", lambda _, record, __: _is_same_file(file, record))
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
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


def _note_file(file: Path, record: Any) -> None:
    record.info["file"] = _identity(file)


def _is_same_file(file: Path, record: Any) -> None:
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


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver must not begin transactions by itself: a deferred one that turns into a writer
    # fails at once with "database is locked", whatever the time-out.
    # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html#enabling-non-legacy-sqlite-transactional-modes-with-the-sqlite3-or-aiosqlite-driver
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    _switch_to_wal(cursor)
    cursor.close()


def _switch_to_wal(cursor: Any) -> None:
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
    read_only = connection.get_execution_options().get(READ_ONLY)
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection for looking only: on SQLite it does not keep writers out."""
    async with engine.connect() as connection:
        await connection.execution_options(**{READ_ONLY: True})
        yield connection
