"""SQLite's files: their rights, their logs, and the one process that runs on them."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

Identity = tuple[int, int] | None
"""The device and the number of a file, which another file at the same path does not have."""
PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700
BACKUP_MARK = 0x42_4B_55_50
"""SQLite's ``application_id`` of a copy that has not been opened by a bot. https://www.sqlite.org/fileformat.html"""


class UnusableDatabase(SQLAlchemyError):
    """The database cannot be used as it is. The text has the reason and, after a colon, the remedy."""


def sqlite_file(url: str) -> Path | None:
    """Return the path of the SQLite file at a URL; None for PostgreSQL and for an in-memory database."""
    parsed = make_url(url)
    path = parsed.database if parsed.get_backend_name() == "sqlite" else None
    return None if not path or path == ":memory:" else Path(path).absolute()


def check_file(file: Path, opened: Sequence[Identity]) -> None:
    """Make the file if it is missing. ``opened`` has the identity of the file that was opened last.

    Raises UnusableDatabase where SQLite could not work, where it would apply the log of an earlier file to
    the one that has taken its place, and where it would discard the log of a file that is gone.
    """
    is_another = bool(opened) and opened[-1] != identity(file)
    if not opened and not file.exists() and _has_log(file):
        log_file = beside(file)[0]
        raise UnusableDatabase(
            f"The SQLite file {file} is gone, and its log {log_file.name} is still there: put the file back "
            "beside it, or move the log away to begin with an empty database."
        )
    if _has_log(file) and (is_another or _is_marked(file)):
        raise UnusableDatabase(
            "The SQLite file has been replaced, and the log of the earlier one lies beside it: stop the bot, "
            "move the new file elsewhere and put it back with `docs-bot restore`."
        )
    make_sqlite_file(file)


def make_sqlite_file(file: Path) -> None:
    """Create the file and its folder for this user alone if they are missing.

    Raises UnusableDatabase where SQLite could not work.
    """
    folder = file.parent
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise UnusableDatabase(
            f"The folder of the SQLite file cannot be made ({error.strerror}): "
            "make it, or name another place in DATABASE_URL."
        ) from None
    # SQLite writes its journal beside the file, so the folder must be writable too.
    if not os.access(folder, os.W_OK | os.X_OK) or (
        file.exists() and not os.access(file, os.R_OK | os.W_OK)
    ):
        raise UnusableDatabase(
            "The SQLite file or its folder is read-only: let this user write both, "
            "or name another place in DATABASE_URL."
        )
    # SQLite gives the files beside it the same rights. https://www.sqlite.org/wal.html
    file.touch(PRIVATE_FILE)


@contextmanager
def holding_sqlite_file(file: Path | None) -> Iterator[None]:
    """Be the one process that runs on a SQLite file until the block ends; the system sees to it after a kill.

    Commands beside it, such as a backup, do not take part. ``file`` is None for a database that needs no
    such care. Raises UnusableDatabase while another process runs.
    """
    if file is None:
        yield
        return
    make_sqlite_file(file)
    path = file.resolve()
    # A file of its own: closing the database's would free SQLite's locks.
    beside_it = path.with_name(f"{path.name}-lock")
    beside_it.touch(PRIVATE_FILE)
    with beside_it.open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UnusableDatabase(
                "Another process runs on this SQLite file, and only one may: stop it first, "
                "or give a PostgreSQL in DATABASE_URL, which any number may share."
            ) from None
        yield


def exposed(file: Path) -> list[Path]:
    """Return those of a SQLite file and the files beside it to which other users have rights."""
    return [path for path in (file, *beside(file)) if is_exposed(path)]


def beside(file: Path) -> list[Path]:
    """Return the paths at which SQLite keeps its log, the log's index and a journal beside a file.

    Each would be applied to another file in its place. https://www.sqlite.org/tempfiles.html
    """
    return [file.with_name(f"{file.name}{ending}") for ending in ("-wal", "-shm", "-journal")]


def _has_log(file: Path) -> bool:
    try:
        return beside(file)[0].stat().st_size > 0
    except OSError:  # no log, or an unusable path, which make_file reports
        return False


def _is_marked(file: Path) -> bool:
    """Return whether no bot has opened the file since its backup.

    An immutable database is read without its log. SQLite must open the file itself: closing it any other
    way frees all locks that this process has on it. https://www.sqlite.org/howtocorrupt.html
    """
    if not file.exists() or not file.stat().st_size:
        return False
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        try:
            return bool(copy.execute("PRAGMA application_id").fetchone() == (BACKUP_MARK,))
        except sqlite3.DatabaseError:
            return False  # not a database, which the real connection reports


def is_exposed(path: Path) -> bool:
    """Return whether other users than its owner have rights to a file or folder, which may be missing."""
    try:
        return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    except FileNotFoundError:
        return False


def identity(file: Path) -> Identity:
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
