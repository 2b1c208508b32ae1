"""Copy the SQLite file while the bot runs, and put a copy back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

from bot.store.sqlite_files import (
    BACKUP_MARK,
    PRIVATE_FILE,
    UnusableDatabase,
    beside,
    make_sqlite_file,
)
from bot.store.stamp import STAMPS, stamp

_WAIT_SECONDS = 2.0
_GONE = "gone"
"""The state of a job that the docs service no longer has."""
_STOP = "A process has the SQLite file open: stop every bot that uses it, then run this again."


def back_up(file: Path, target: Path) -> None:
    """Write a copy of the SQLite file, as it is at this moment, to a new file for this user alone.

    Raises UnusableDatabase, and leaves no copy behind, if that fails. https://www.sqlite.org/backup.html
    """
    if not file.is_file():
        raise UnusableDatabase("There is no SQLite file yet; the first start of the bot makes it.")
    if target.exists():
        raise UnusableDatabase(f"{target} exists already: name another file.")
    with closing(_opened(file)) as live:
        _write_copy(live, target, is_checked=True)


def _write_copy(live: sqlite3.Connection, target: Path, *, is_checked: bool) -> None:
    part = target.with_name(f"{target.name}.part")
    try:
        part.touch(PRIVATE_FILE, exist_ok=False)
    except OSError as error:
        raise UnusableDatabase(f"{part} cannot be made: {error.strerror}.") from None
    try:
        with closing(_opened(part)) as copy:
            _copy(live, copy)
            # The copy has no log beside it, and is known as a copy wherever it is put.
            copy.execute("PRAGMA journal_mode=DELETE")
            copy.execute(f"PRAGMA application_id={BACKUP_MARK}")
            if is_checked:
                _check(copy, target)
        part.rename(target)
    except (sqlite3.Error, OSError) as error:
        raise UnusableDatabase(f"{target} could not be written: {error}.") from None
    finally:
        part.unlink(missing_ok=True)


def restore_copy(source: Path, file: Path, now: datetime) -> Path | None:
    """Replace the content of the SQLite file by a copy; return the file with the earlier content, if any.

    Raises UnusableDatabase, and changes nothing, if a process has the file open, if the copy is damaged,
    foreign or of another version, or if the disk has too little room.
    """
    if not source.is_file():
        raise UnusableDatabase(f"There is no file {source}.")
    if file.exists() and source.samefile(file):
        raise UnusableDatabase(
            "This is the SQLite file itself: move the backup elsewhere, and name it there."
        )
    if not file.exists() or not file.stat().st_size:
        with _opened_copy(source) as copy:
            for path in beside(file):
                path.unlink(
                    missing_ok=True
                )  # the log of a file that is gone would be applied to the new one
            make_sqlite_file(file)
            with closing(_opened(file)) as live:
                _replace(copy, live)
        return None
    backup = file.with_name(f"{file.name}.{now:%Y%m%dT%H%M%S}")
    try:
        with _opened_copy(source) as copy, closing(_opened(file)) as live:
            _close_to_others(live)
            _write_copy(live, backup, is_checked=False)
            highest = _highest_number(live)
            _replace(copy, live)
            _go_on_above(live, highest, now)
    except sqlite3.DatabaseError as error:
        raise UnusableDatabase(
            f"The SQLite file cannot be replaced ({error}): {_way_out(error, file)}."
        ) from None
    return backup


def _way_out(error: sqlite3.DatabaseError, file: Path) -> str:
    if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return "look at the disk and the room on it, and run this again"
    *others, last = (path.name for path in beside(file))
    return f"move it and what there is of {', '.join(others)} and {last} beside it away, and run this again"


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy a database. Raises UnusableDatabase where ``sqlite3`` would wait for ever for a lock."""

    def check(status: int, _remaining: int, _total: int) -> None:
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise UnusableDatabase(_STOP)

    source.backup(target, progress=check)


def _replace(copy: sqlite3.Connection, live: sqlite3.Connection) -> None:
    _copy(copy, live)
    live.execute("PRAGMA application_id=0")


def _highest_number(live: sqlite3.Connection) -> int:
    """Return the highest number of a job; 0 in a file that has no jobs yet."""
    if not live.execute("SELECT 1 FROM sqlite_master WHERE name = 'jobs'").fetchone():
        return 0
    [highest] = live.execute("SELECT coalesce(max(number), 0) FROM jobs").fetchone()
    return int(highest)


def _go_on_above(live: sqlite3.Connection, highest: int, now: datetime) -> None:
    """Let new jobs have numbers above ``highest``, because people may still refer to the lower ones.

    SQLite counts on from the highest row, so a job without a text takes that number.
    """
    at = now.replace(tzinfo=None).isoformat(" ", "microseconds")
    live.execute(
        "INSERT INTO jobs (number, project, channel, requester, text, asked_at, ended_at, state)"
        " SELECT :highest, '', '', '', '', :at, :at, :state"
        " WHERE :highest > (SELECT coalesce(max(number), 0) FROM jobs)",
        {"highest": highest, "at": at, "state": _GONE},
    )


def _close_to_others(live: sqlite3.Connection) -> None:
    """Keep the file locked until the connection is closed. Raises UnusableDatabase if another has it open.

    Only the last connection can end write-ahead logging: https://www.sqlite.org/wal.html
    """
    live.execute("PRAGMA locking_mode=EXCLUSIVE")
    try:
        [mode] = live.execute("PRAGMA journal_mode=DELETE").fetchone()
        live.execute("BEGIN EXCLUSIVE")
        live.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        raise UnusableDatabase(_STOP) from None
    if mode != "delete":
        raise UnusableDatabase(_STOP)


def _opened(file: Path, options: str = "mode=rw") -> sqlite3.Connection:
    address = f"{file.absolute().as_uri()}?{options}"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=_WAIT_SECONDS)


@contextmanager
def _opened_copy(source: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy for reading. Raises UnusableDatabase if it is damaged, foreign or of another version."""
    has_log = any(path.exists() for path in beside(source))
    with closing(_opened(source, "mode=ro" if has_log else "mode=ro&immutable=1")) as copy:
        try:
            _check(copy, source)
            stamps = copy.execute(f"SELECT hash FROM {STAMPS.name}").fetchall()  # noqa: S608
        except sqlite3.DatabaseError as error:
            raise UnusableDatabase(f"{source} is no backup of the bot: {error}.") from None
        if stamps != [(stamp(),)]:
            raise UnusableDatabase(
                f"{source} is of another version of the bot: restore it with that version."
            )
        yield copy


def _check(connection: sqlite3.Connection, file: Path) -> None:
    """Raise UnusableDatabase if the database is damaged. https://www.sqlite.org/pragma.html#pragma_quick_check"""
    [result] = connection.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise UnusableDatabase(f"{file} is damaged: {result}.")
