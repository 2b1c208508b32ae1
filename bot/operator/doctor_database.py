"""The doctor's checks of the database. It only reads, and makes no file."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import attrgetter
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, StaticPool, create_engine, func, make_url, select
from sqlalchemy.exc import SQLAlchemyError

import bot.app  # noqa: F401 - declares the tables of all subjects
from bot.health.checks import Finding
from bot.jobs.service_keys import EXPIRES_AFTER_DAYS, WARNED_AT_DAYS
from bot.jobs.store.sending import Sending
from bot.jobs.store.tables import jobs, service_keys
from bot.jobs.store.waits import Waits
from bot.operator.rows import format_wait
from bot.store import Transaction
from bot.store.database import Database, explain_error
from bot.store.sqlite_files import sqlite_file
from bot.store.upgrade import Tables, find_tables
from bot.visitors.model.subscriptions import SubscriptionState
from bot.visitors.store import subscriptions

_MIN_FREE_BYTES = 50_000_000
_STUCK = timedelta(minutes=10)
"""How long something may be due before it is called stuck."""
_PLACE = "Let this user write it, or name another place in DATABASE_URL."
_CHANNELS = (
    select(subscriptions.c.channel)
    .where(subscriptions.c.state == SubscriptionState.ACTIVE)
    .distinct()
    .order_by(subscriptions.c.channel)
    .limit(30)
)
_NEWEST_NUMBERS = (
    select(func.max(jobs.c.number)).where(jobs.c.service_id != "").group_by(jobs.c.project)
)
_NEWEST_JOBS = select(jobs.c.project, jobs.c.service_id).where(jobs.c.number.in_(_NEWEST_NUMBERS))


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """The findings about the database, and the rows that other checks need."""

    findings: Sequence[Finding] = ()
    channels: Sequence[str] = ()
    """The channels of active subscriptions."""
    newest_jobs: Mapping[str, str] = field(default_factory=dict)
    """The service's id of each project's newest job, by project."""


async def check_database(url: str, seconds: float) -> DatabaseReport:
    """Check the database at a SQLAlchemy URL. A connection to PostgreSQL may take ``seconds``."""
    if make_url(url).get_backend_name() != "sqlite":
        return await _postgres(url, seconds)
    file = sqlite_file(url)
    if file is None:
        advice = "All is lost at every restart: name a file in DATABASE_URL."
        return DatabaseReport([Finding("database", True, "sqlite in memory", advice)])
    return await asyncio.to_thread(_sqlite, file)


def _sqlite(file: Path) -> DatabaseReport:
    trouble = place_trouble(file)
    if trouble is not None:
        return DatabaseReport([trouble])
    if not file.exists():
        return DatabaseReport([Finding("database", True, "sqlite, none yet; a start makes it")])
    engine = create_engine("sqlite://", creator=partial(_open, file), poolclass=StaticPool)
    try:
        with engine.connect() as connection:
            report = _check_tables("sqlite", connection)
    except SQLAlchemyError as error:
        return _unusable(error)
    finally:
        engine.dispose()
    return report


def _unusable(error: SQLAlchemyError) -> DatabaseReport:
    trouble = explain_error(error)
    return DatabaseReport([Finding("database", False, trouble.cause, trouble.advice)])


def place_trouble(file: Path, min_free_bytes: int = _MIN_FREE_BYTES) -> Finding | None:
    """Return the reason why SQLite could not work with a file at this place; None when it could."""
    folder = next(parent for parent in file.parents if parent.exists())
    if file.is_dir():
        return Finding("database", False, "its path is a folder", "Name a file in DATABASE_URL.")
    if not folder.is_dir():
        return Finding("database", False, f"its folder cannot be made: {folder} is a file", _PLACE)
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("database", False, f"its folder {folder} is read-only", _PLACE)
    if file.exists() and not os.access(file, os.R_OK | os.W_OK):
        return Finding("database", False, "its file is read-only", _PLACE)
    free = shutil.disk_usage(folder).free
    if free < min_free_bytes:
        text = f"the disk is full: {free // 1_000_000} MB are left"
        advice = "Make room on the disk, or name another place in DATABASE_URL."
        return Finding("database", False, text, advice)
    return None


def _open(file: Path) -> sqlite3.Connection:
    """Open a file for reading.

    Without a log nobody uses it, and SQLite need not make the files beside it.
    https://www.sqlite.org/uri.html#uriimmutable
    """
    is_used = all(file.with_name(file.name + ending).exists() for ending in ("-wal", "-shm"))
    options = "mode=ro" if is_used else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{quote(str(file))}?{options}", uri=True, timeout=1.0)


def _check_rows(connection: Connection) -> DatabaseReport:
    """Check for work that is stuck, and read the rows that other checks need."""
    now = datetime.now(UTC)
    return DatabaseReport(
        findings=[
            _check_waiting(connection, now),
            *_check_sending(connection),
            *_old_keys(connection, now),
        ],
        channels=connection.execute(_CHANNELS).scalars().all(),
        newest_jobs={row.project: row.service_id for row in connection.execute(_NEWEST_JOBS)},
    )


def _check_sending(connection: Connection) -> list[Finding]:
    """Return a remark while an admin has switched off sending; nothing while it is on."""
    stop = Sending(Transaction(connection)).stop()
    if stop is None:
        return []
    by = f" by {stop.stopped_by}" if stop.stopped_by else ""
    text = f"switched off{by} since {stop.stopped_at:%Y-%m-%d %H:%M} UTC: nothing goes to the agent"
    advice = "An admin types `/docs-agent sending on` in Slack, and what waits goes in order."
    return [Finding("sending", True, text, advice)]


def _old_keys(connection: Connection, now: datetime) -> list[Finding]:
    """Return a remark on each key of the docs service that may expire soon."""
    findings: list[Finding] = []
    for row in connection.execute(select(service_keys.c.name, service_keys.c.first_used_at)):
        days = (now - row.first_used_at).days
        if WARNED_AT_DAYS[0] <= days <= EXPIRES_AFTER_DAYS:
            kind, _, project = row.name.partition(":")
            text = f"the key for {project} ({kind}) has been in use for {days} days"
            advice = "Keys expire after 90 days by default: make a new one if yours do."
            findings.append(Finding("keys", True, text, advice))
    return findings


def _check_waiting(connection: Connection, now: datetime) -> Finding:
    """Check that no prompt or message has been due for ten minutes; name the oldest."""
    waits = Waits(Transaction(connection))
    waiting = list(waits.all_prompts(now))
    oldest_message = waits.oldest_message(now)
    if oldest_message is not None:
        waiting.append(oldest_message)
    if not waiting:
        return Finding("waiting", True, "nothing waits")
    stuck = [wait for wait in waiting if wait.stuck_since and now - wait.stuck_since > _STUCK]
    oldest = min(stuck or waiting, key=attrgetter("since"))
    text = format_wait(oldest)
    if oldest.job:
        text = f"job {oldest.job}, {text}"
    advice = "Is a `docs-bot run` up? See its log, and docs/runbook.md." if stuck else ""
    return Finding("waiting", not stuck, text, advice)


_WHAT_A_START_DOES = {
    Tables.NONE: ", empty; a start creates the tables",
    Tables.EARLIER: ", of an earlier version; a start upgrades the tables",
    Tables.CURRENT: "",
    Tables.LATER: ", of a later version; what only that one stores stays empty",
}


def _check_tables(kind: str, connection: Connection) -> DatabaseReport:
    """Return the findings about a database's tables and rows."""
    tables = find_tables(connection)
    report = _check_rows(connection) if tables.are_usable else DatabaseReport()
    found = Finding("database", True, f"{kind}{_WHAT_A_START_DOES[tables]}")
    return replace(report, findings=[found, *report.findings])


async def _postgres(url: str, seconds: float) -> DatabaseReport:
    # libpq takes whole seconds, two at least.
    limit = str(max(2, round(seconds)))
    limited = make_url(url).update_query_dict({"connect_timeout": limit})
    database = Database.open(limited.render_as_string(hide_password=False), 1)
    try:
        return await database.read(_check_postgres)
    except SQLAlchemyError as error:
        return _unusable(error)
    finally:
        await database.close()


def _check_postgres(connection: Connection) -> DatabaseReport:
    return _check_tables("postgresql", connection)
