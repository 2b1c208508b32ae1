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
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, StaticPool, create_engine, func, make_url, select, text
from sqlalchemy.exc import SQLAlchemyError

import bot.app  # noqa: F401 - declares the tables of all subjects
from bot.health.checks import Finding
from bot.jobs.service_keys import EXPIRES_AFTER_DAYS, TOLD_AT_DAYS
from bot.jobs.store.tables import jobs, service_keys
from bot.jobs.store.waits import Waits
from bot.operator.rows import format_wait
from bot.ports import is_zone
from bot.store import Transaction
from bot.store.database import Database, explain_error
from bot.store.schema import metadata
from bot.store.sqlite_files import is_on_network, sqlite_file
from bot.store.stamp import has_tables
from bot.visitors.model import SubscriptionState
from bot.visitors.store import subscriptions

_LEAST_BYTES = 50_000_000
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
_ZONES = (
    select(subscriptions.c.zone)
    .where(subscriptions.c.zone != "", subscriptions.c.state != SubscriptionState.ENDED)
    .distinct()
)
_NEWEST_JOBS = select(jobs.c.project, jobs.c.service_id).where(
    jobs.c.number.in_(
        select(func.max(jobs.c.number)).where(jobs.c.service_id != "").group_by(jobs.c.project)
    )
)
_RIGHTS = text("""
    SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
           coalesce((SELECT bool_and(has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
                                AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
                     FROM pg_class WHERE relkind = 'r' AND relname = ANY(:tables)
                         AND relnamespace = current_schema()::regnamespace), true) AS may_write,
           pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS read_only,
           current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
               - (SELECT sum(numbackends) FROM pg_stat_database)::int AS free
""")


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """The findings about the database, and the rows that other checks need."""

    findings: Sequence[Finding] = ()
    channels: Sequence[str] = ()
    """The channels of active subscriptions."""
    newest_jobs: Mapping[str, str] = field(default_factory=dict)
    """The service's id of each project's newest job, by project."""


async def check_database(url: str, connections: int, seconds: float) -> DatabaseReport:
    """Check the database at a SQLAlchemy URL, of which a process opens ``connections`` at most."""
    if make_url(url).get_backend_name() != "sqlite":
        return await _postgres(url, connections, seconds)
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
    engine = create_engine("sqlite://", creator=partial(_opened, file), poolclass=StaticPool)
    try:
        with engine.connect() as connection:
            is_complete = has_tables(connection)
            report = _check_rows(connection) if is_complete else DatabaseReport()
    except SQLAlchemyError as error:
        return _unusable(error)
    finally:
        engine.dispose()
    return replace(report, findings=[_tables("sqlite", is_complete), *report.findings])


def _unusable(error: SQLAlchemyError) -> DatabaseReport:
    trouble = explain_error(error)
    return DatabaseReport([Finding("database", False, trouble.cause, trouble.advice)])


def place_trouble(file: Path, least_bytes: int = _LEAST_BYTES) -> Finding | None:
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
    if is_on_network(folder):
        advice = "SQLite's locks do not hold there: name a place on a local disk, or a PostgreSQL."
        return Finding("database", False, "its file is on a network file system", advice)
    free = shutil.disk_usage(folder).free
    if free < least_bytes:
        advice = "Make room on the disk, or name another place in DATABASE_URL."
        return Finding(
            "database", False, f"the disk is full: {free // 1_000_000} MB are left", advice
        )
    return None


def _opened(file: Path) -> sqlite3.Connection:
    """Open a file for reading. Without a log it is unused, and SQLite need not make the files beside it.

    https://www.sqlite.org/uri.html#uriimmutable
    """
    is_used = all(file.with_name(file.name + ending).exists() for ending in ("-wal", "-shm"))
    options = "mode=ro" if is_used else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{quote(str(file))}?{options}", uri=True, timeout=1.0)


def _check_rows(connection: Connection) -> DatabaseReport:
    """Check for unreadable and pending rows, and read those that other checks need."""
    now = datetime.now(UTC)
    waits = Waits(Transaction(connection))
    waiting = [
        wait for wait in (*waits.all_prompts(now), waits.oldest_message(now)) if wait is not None
    ]
    stuck = [wait for wait in waiting if wait.stuck_since and now - wait.stuck_since > _STUCK]
    advice = "Is a `docs-bot run` or `work` up? See its log, and docs/runbook.md." if stuck else ""
    oldest = min(stuck or waiting, key=lambda wait: wait.since, default=None)
    prefix = f"job {oldest.job}, " if oldest and oldest.job else ""
    text = f"{prefix}{format_wait(oldest)}" if oldest else "nothing waits"
    findings = [Finding("waiting", not stuck, text, advice)]
    findings += _old_keys(connection, now)
    missing = [zone for zone in connection.execute(_ZONES).scalars() if not is_zone(zone)]
    if missing:
        text = ", ".join(f"digests at times in {zone}" for zone in missing)
        advice = "Run the bot on a machine with current time zones."
        findings.insert(0, Finding("rows", False, f"cannot be read, and wait: {text}", advice))
    newest_jobs = {row.project: row.service_id for row in connection.execute(_NEWEST_JOBS)}
    return DatabaseReport(findings, connection.execute(_CHANNELS).scalars().all(), newest_jobs)


def _old_keys(connection: Connection, now: datetime) -> list[Finding]:
    """Return a remark on each key of the docs service that may expire soon."""
    findings: list[Finding] = []
    for row in connection.execute(select(service_keys.c.name, service_keys.c.first_used_at)):
        days = (now - row.first_used_at).days
        if TOLD_AT_DAYS[0] <= days <= EXPIRES_AFTER_DAYS:
            kind, _, project = row.name.partition(":")
            text = f"the key for {project} ({kind}) has been in use for {days} days"
            advice = "Keys expire after 90 days by default: make a new one if yours do."
            findings.append(Finding("keys", True, text, advice))
    return findings


def _tables(kind: str, is_complete: bool) -> Finding:
    return Finding(
        "database", True, kind if is_complete else f"{kind}, empty; a start creates the tables"
    )


async def _postgres(url: str, connections: int, seconds: float) -> DatabaseReport:
    # libpq takes whole seconds, two at least.
    limit = str(max(2, round(seconds)))
    limited = make_url(url).update_query_dict({"connect_timeout": limit})
    database = Database.open(limited.render_as_string(hide_password=False), 1)
    try:
        return await database.read(partial(_check_postgres, connections=connections))
    except SQLAlchemyError as error:
        return _unusable(error)
    finally:
        await database.close()


def _check_postgres(connection: Connection, connections: int) -> DatabaseReport:
    is_complete = has_tables(connection)
    row = connection.execute(_RIGHTS, {"tables": list(metadata.tables)}).one()
    finding = _tables("postgresql", is_complete)
    if row.read_only:
        advice = (
            "Give the address of the primary server, and a user who may write, in DATABASE_URL."
        )
        finding = Finding("database", False, "the database is read-only", advice)
    elif not row.may_write:
        advice = "Grant the user SELECT, INSERT, UPDATE and DELETE on the bot's tables."
        finding = Finding("database", False, "the user may not write to the bot's tables", advice)
    elif not row.may_create and not is_complete:
        advice = "Grant the user CREATE on the schema, or run `docs-bot migrate` as another user."
        finding = Finding("database", False, "the user may not create the tables", advice)
    report = _check_rows(connection) if is_complete and row.may_write else DatabaseReport()
    text = f"{max(row.free, 0)} left on the server, and each process may open {connections}"
    advice = (
        "Lower DATABASE_CONNECTIONS, run fewer processes, or raise max_connections of the server."
    )
    has_room = row.free >= connections
    room = Finding("connections", has_room, text, "" if has_room else advice)
    return replace(report, findings=[finding, *report.findings, room])
