"""SQLite's files: their rights, their logs, and the one process that runs on them."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

Identity = tuple[int, int] | None
"""The device and the number of a file, which another file at the same path does not have."""
PRIVATE_FILE_MODE = 0o600
_PRIVATE_FOLDER_MODE = 0o700
_SHARE_ADVICE = "stop it first, or give a PostgreSQL in DATABASE_URL, which any number may share"


class UnusableDatabase(SQLAlchemyError):
    """The database cannot be used. The text has the reason and, after a colon, the remedy."""


def sqlite_file(url: str) -> Path | None:
    """Return the path of the SQLite file at a URL; None for PostgreSQL and a database in memory."""
    parsed = make_url(url)
    path = parsed.database if parsed.get_backend_name() == "sqlite" else None
    return None if not path or path == ":memory:" else Path(path).absolute()


def require_file(file: Path) -> None:
    """Raise UnusableDatabase if there is no SQLite file.

    A command that only reads would leave an empty one in a wrong folder.
    """
    if file.exists():
        return
    _check_gone(file)
    raise UnusableDatabase(
        f"There is no SQLite file {file}: run this in the bot's folder, or set DATABASE_URL. "
        "The first start of the bot makes the file."
    )


def _check_gone(file: Path) -> None:
    """Raise UnusableDatabase for a missing file whose log is there, or that is being restored."""
    if _has_log(file):
        log_file = companion_files(file)[0]
        raise UnusableDatabase(
            f"The SQLite file {file} is gone, and its log {log_file.name} is still there: "
            "put the file back beside it, or move the log away to begin with an empty database."
        )
    if part_path(file).exists():
        raise UnusableDatabase(
            f"The restore of {file} was cut short: run `docs-bot restore` again, or delete "
            f"{part_path(file).name} to begin with an empty database."
        )


def check_file(file: Path, opened: Sequence[Identity]) -> None:
    """Make the file if it is missing. ``opened`` has the identity of the file that was opened last.

    Raises UnusableDatabase where SQLite could not work, where it would apply the log of an earlier
    file to the one that has taken its place, where it would discard the log of a file that is gone,
    and where an empty database would take the place of one that is being restored.
    """
    if not opened and not file.exists():
        _check_gone(file)
    if opened and opened[-1] != identity(file) and _has_log(file):
        raise UnusableDatabase(
            "The SQLite file has been replaced, and the log of the earlier one lies beside it: "
            "stop the bot, move the new file elsewhere and put it back with `docs-bot restore`."
        )
    _prepare_place(file)
    # SQLite gives the files beside it the same rights. https://www.sqlite.org/wal.html
    file.touch(PRIVATE_FILE_MODE)


def _prepare_place(file: Path) -> None:
    """Create the folder of a file for this user alone if it is missing.

    Raises UnusableDatabase where SQLite could not work.
    """
    folder = file.parent
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER_MODE, parents=True, exist_ok=True)
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


@contextmanager
def holding_sqlite_file(file: Path | None, remedy: str = _SHARE_ADVICE) -> Iterator[None]:
    """Be the one process that runs on a SQLite file until the block ends, or until it is killed.

    Commands that only read or add rows, such as a backup, do not take part. ``file`` is None for a
    database that needs no such care.

    Raises UnusableDatabase, with the ``remedy``, while another process runs.
    """
    if file is None:
        yield
        return
    _prepare_place(file)
    path = file.resolve()
    # A file of its own: closing the database's would free SQLite's locks.
    beside_it = path.with_name(f"{path.name}-lock")
    beside_it.touch(PRIVATE_FILE_MODE)
    with beside_it.open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UnusableDatabase(
                f"Another process runs on this SQLite file, and only one may: {remedy}."
            ) from None
        yield


def exposed_files(file: Path) -> list[Path]:
    """Return a SQLite file and its companion files as far as other users have rights to them."""
    return [path for path in (file, *companion_files(file)) if is_exposed(path)]


def companion_files(file: Path) -> list[Path]:
    """Return the paths at which SQLite keeps its log, the log's index and a journal beside a file.

    Each would be applied to another file in its place. https://www.sqlite.org/tempfiles.html
    """
    return [file.with_name(f"{file.name}{ending}") for ending in ("-wal", "-shm", "-journal")]


def _has_log(file: Path) -> bool:
    try:
        return companion_files(file)[0].stat().st_size > 0
    except OSError:
        # No log, or an unusable path, which check_file reports.
        return False


def part_path(file: Path) -> Path:
    """Return the path at which a copy is made that is to take the place of a file."""
    return file.with_name(f"{file.name}.part")


def is_exposed(path: Path) -> bool:
    """Return whether others than its owner have rights to a path; False if nothing is there."""
    try:
        return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    except FileNotFoundError:
        return False


def identity(file: Path) -> Identity:
    """Return the identity of the file at a path; None without one."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
