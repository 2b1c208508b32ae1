"""Back up the SQLite file while the bot runs, and put a backup in its place while none does."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path

from sqlalchemy import URL, create_engine, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from bot.store.database import explain_error
from bot.store.schema import metadata
from bot.store.sqlite_files import (
    PRIVATE_FILE_MODE,
    UnusableDatabase,
    companion_files,
    holding_sqlite_file,
    part_path,
    require_file,
)
from bot.store.upgrade import Tables, find_tables, upgrade

_STOP_ADVICE = "stop every bot that uses it, then run this again"
_NUMBER_GAP = 10_000
"""Added to the numbers of a backup where nobody knows how far the replaced file had counted."""
_LAST_NUMBERS = "SELECT name, seq FROM sqlite_sequence"


def back_up(file: Path, target: Path) -> None:
    """Write a snapshot of the SQLite file to a new file that only this user can read.

    Raises UnusableDatabase, and leaves no copy behind, if that fails.
    https://www.sqlite.org/lang_vacuum.html#vacuuminto
    """
    require_file(file)
    if target.exists():
        raise UnusableDatabase(f"{target} exists already: name another file.")
    part = part_path(target)
    try:
        # SQLite takes an empty file, and leaves its rights as they are.
        part.touch(PRIVATE_FILE_MODE, exist_ok=False)
    except OSError as error:
        raise UnusableDatabase(f"{part} cannot be made: {error.strerror}.") from None
    try:
        with closing(_open_database(file, "mode=rw")) as live:
            if live.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                raise UnusableDatabase(
                    f"The SQLite file {file} is empty: run this in the bot's folder, "
                    "or set DATABASE_URL."
                )
            live.execute("VACUUM INTO ?", [str(part)])
        _sync(part)
        part.rename(target)
    except (sqlite3.Error, OSError) as error:
        raise UnusableDatabase(f"{target} could not be written: {error}.") from None
    finally:
        part.unlink(missing_ok=True)


def restore_copy(
    source: Path, file: Path, now: datetime, complete: Callable[[Connection], None]
) -> Path | None:
    """Put a copy of a backup in the place of the SQLite file.

    The numbers of rows go on above those of the replaced file, because Slack has buttons with them.
    Returns the path to which the replaced file was moved, with its log beside it; None without one.

    Raises UnusableDatabase, and replaces nothing, if a bot runs on the file, if the backup is
    damaged, foreign or of a version that was never released, or if the disk is full.

    Args:
        source: the backup.
        file: the SQLite file, which may be missing.
        now: the time after which the replaced file is named.
        complete: changes the rows of the copy before it takes the place.
    """
    if not source.is_file():
        raise UnusableDatabase(f"There is no file {source}.")
    if file.exists() and source.samefile(file):
        raise UnusableDatabase(
            "This is the SQLite file itself: move the backup elsewhere, and name it there."
        )
    with holding_sqlite_file(file, _STOP_ADVICE):
        part = part_path(file)
        try:
            _copy(source, part)
            _check(part, source)
            _change(part, source, _read_last_numbers(file), partial(_complete, now, complete))
            _sync(part)
            moved_to = _move_aside(file, now)
            part.rename(file)
            _sync(file.parent)
        except OSError as error:
            raise UnusableDatabase(
                f"The backup could not be put in place ({error.strerror}): "
                "look at the disk and the room on it, and run this again."
            ) from None
        finally:
            for path in (part, *companion_files(part)):
                path.unlink(missing_ok=True)
    return moved_to


def _copy(source: Path, part: Path) -> None:
    """Copy a file and its log, if it has one, for this user alone."""
    for path, copy in zip(
        (source, *companion_files(source)), (part, *companion_files(part)), strict=True
    ):
        copy.unlink(missing_ok=True)
        if path.exists():
            copy.touch(PRIVATE_FILE_MODE)
            shutil.copyfile(path, copy)


def _check(part: Path, source: Path) -> None:
    """Raise UnusableDatabase if a copy is damaged or foreign."""
    try:
        with closing(_open_database(part, "mode=rw")) as copy:
            # Also moves the log into the file, so that the file is all of the copy.
            copy.execute("PRAGMA journal_mode=DELETE").fetchall()
            [result] = copy.execute("PRAGMA integrity_check(1)").fetchone()
            if result != "ok":
                raise UnusableDatabase(f"{source} is damaged: {result}.")
    except sqlite3.DatabaseError as error:
        raise UnusableDatabase(f"{source} is no backup of the bot: {error}.") from None


def _read_last_numbers(file: Path) -> Mapping[str, int] | None:
    """Return the last number of each table of a file, which may be missing; None if unreadable."""
    if not file.exists() or not file.stat().st_size:
        return {}
    try:
        with closing(_open_database(file, "mode=ro")) as replaced:
            return dict(replaced.execute(_LAST_NUMBERS).fetchall())
    except sqlite3.DatabaseError:
        return None


def _complete(
    now: datetime, complete: Callable[[Connection], None], connection: Connection
) -> None:
    """Upgrade a copy of an earlier version, and change its rows."""
    upgrade(connection, now=now)
    complete(connection)


def _change(
    part: Path,
    source: Path,
    replaced: Mapping[str, int] | None,
    complete: Callable[[Connection], None],
) -> None:
    engine = create_engine(URL.create("sqlite", database=str(part)))
    try:
        with engine.begin() as connection:
            if find_tables(connection) is Tables.NONE:
                raise UnusableDatabase(f"{source} is no backup of the bot: it is empty.")
            complete(connection)
            _continue_numbers_above(connection, replaced)
    except UnusableDatabase:
        raise
    except SQLAlchemyError as error:
        raise UnusableDatabase(
            f"The backup could not be made ready ({explain_error(error).cause}): "
            "look at the disk and the room on it, and run this again."
        ) from None
    finally:
        engine.dispose()


def _continue_numbers_above(connection: Connection, replaced: Mapping[str, int] | None) -> None:
    """Let the next row of each table have a number above the copy's and the replaced file's.

    https://www.sqlite.org/autoinc.html
    """
    own: dict[str, int] = {row.name: row.seq for row in connection.execute(text(_LAST_NUMBERS))}
    rows = list[dict[str, object]]()
    for table in metadata.sorted_tables:
        if table.autoincrement_column is None:
            continue
        last = own.get(table.name, 0)
        if replaced is None:
            last += _NUMBER_GAP
        else:
            last = max(last, replaced.get(table.name, 0))
        rows.append({"name": table.name, "seq": last})
    connection.execute(text("DELETE FROM sqlite_sequence"))
    connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :seq)"), rows)


def _move_aside(file: Path, now: datetime) -> Path | None:
    """Rename a file and its companions after the time; return the new path, None without a file.

    The file goes first: a start refuses a log whose file is gone.
    """
    kept = file.with_name(f"{file.name}.{now:%Y%m%dT%H%M%S}")
    pairs = zip((file, *companion_files(file)), (kept, *companion_files(kept)), strict=True)
    moves = [(path, new) for path, new in pairs if path.exists()]
    for path, new in moves:
        path.rename(new)
    return kept if moves else None


def _open_database(file: Path, options: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?{options}", uri=True, isolation_level=None)


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
