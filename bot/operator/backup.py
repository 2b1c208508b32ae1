"""``docs-bot backup`` and ``restore``: copies of the SQLite file."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, select

import bot.app  # noqa: F401 - declares the tables of all features
from bot.ids import JobNumber
from bot.jobs.model.prompts import PromptState
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.tables import STARTS_JOB, prompts
from bot.jobs.thread import open_thread
from bot.outbox.store import Outbox
from bot.store import Transaction
from bot.store.backup import back_up, restore_copy
from bot.store.sqlite_files import UnusableDatabase, sqlite_file


def make_backup(sqlalchemy_url: str, target: Path) -> str:
    """Copy the SQLite file; return a report. Raises UnusableDatabase on a failure."""
    back_up(_find_file(sqlalchemy_url, "pg_dump"), target)
    return f"Backed up to {target}. It holds what people wrote: keep it as private as the original."


def restore_backup(sqlalchemy_url: str, source: Path, now: datetime) -> str:
    """Put a copy back; return a report. Raises UnusableDatabase, having replaced nothing."""
    file = _find_file(sqlalchemy_url, "pg_restore")
    moved_to = restore_copy(source, file, now, partial(_doubt_pending_work, now))
    if moved_to is None:
        return f"Restored from {source}."
    return f"Restored from {source}. What was there before is kept in {moved_to}."


def _doubt_pending_work(now: datetime, connection: Connection) -> None:
    """Mark waiting work of the backup as possibly sent since.

    A prompt becomes unconfirmed, so that a person decides. A delivery is searched for in Slack
    before it is posted. Both as if a process had died while it sent them.
    """
    tx = Transaction(connection)
    Outbox(tx).doubt_open()
    is_new = prompts.c.state == PromptState.NEW
    for number in connection.scalars(select(prompts.c.job).where(STARTS_JOB, is_new)).all():
        # The question to a person belongs in the thread, which the preparation would open.
        open_thread(tx, Jobs(tx).get_or_raise(JobNumber(number)), now)
    Prompts(tx).mark_unsettled_unconfirmed()


def _find_file(sqlalchemy_url: str, tool: str) -> Path:
    file = sqlite_file(sqlalchemy_url)
    if file is None:
        raise UnusableDatabase(
            f"This is for a SQLite file. PostgreSQL has {tool}: see docs/run.md."
        )
    return file
