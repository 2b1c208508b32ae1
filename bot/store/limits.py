"""The service's hourly limits on prompts and analytics calls, and the back-offs of projects.

Uses are counted in the bot's own rows, under the lock of the project's row, and corrected by 429 responses.
Projects with one key have one budget of calls, under the id that ``Projects.budget_of`` returns.
"""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Column, and_, delete, func, select, update
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from bot.model.ids import JobNumber, ProjectId
from bot.model.quota import MAY_NOT_WRITE, BackOff
from bot.model.visitors import Budget
from bot.store.columns import Repository, insert_unless_there, reader
from bot.store.database import UnusableDatabase
from bot.store.schema import analytics_calls, back_offs, jobs, limits

WINDOW = timedelta(hours=1)


class QuotaRepository(Repository):
    """The limit on prompts of each project, within one transaction."""

    until: Column[datetime | None] = limits.c.prompts_until

    def lock(self, project: ProjectId) -> None:
        """Lock the project's limits against all other transactions until this one ends."""
        insert_unless_there(self.connection, limits, {"project": project})
        mine = select(limits.c.project).where(limits.c.project == project)
        self.connection.execute(mine.with_for_update())

    def mark_exhausted(self, project: ProjectId, until: datetime) -> None:
        """Record that the service said the limit is reached until then (a 429 response)."""
        insert_unless_there(self.connection, limits, {"project": project})
        mine = update(limits).where(limits.c.project == project)
        self.connection.execute(mine.values({self.until: until}))

    def exhausted_until(self, project: ProjectId, now: datetime) -> datetime | None:
        """Return the time until which the service accepts nothing; None when it has passed."""
        statement = select(self.until).where(limits.c.project == project, self.until > now)
        return self.connection.execute(statement).scalar_one_or_none()


class BudgetRepository(QuotaRepository):
    """The limit on analytics calls of each project, within one transaction."""

    until = limits.c.calls_until

    def read(self, project: ProjectId, limit: int, now: datetime) -> Budget:
        """Return the calls used in the last hour, and when the next call is possible if none is left."""
        calls = select(func.count(), func.min(analytics_calls.c.at)).where(
            analytics_calls.c.project == project, analytics_calls.c.at > now - WINDOW
        )
        used, oldest_at = self.connection.execute(calls).one()
        free_at = self.exhausted_until(project, now)
        if used >= limit and oldest_at is not None:
            free_at = max(free_at or oldest_at, oldest_at + WINDOW)
        return Budget(limit, int(used), free_at)

    def take(self, project: ProjectId, calls: int, now: datetime) -> None:
        """Record calls before they are made, so that a crash cannot make the count too low."""
        if calls:
            rows = [{"project": project, "at": now} for _ in range(calls)]
            self.connection.execute(analytics_calls.insert(), rows)
        self.connection.execute(
            delete(analytics_calls).where(
                analytics_calls.c.project == project, analytics_calls.c.at < now - 2 * WINDOW
            )
        )


_to_back_off = reader(BackOff, back_offs)


class BackOffRepository(Repository):
    """The projects' back-offs, within one transaction."""

    def all(self) -> dict[ProjectId, BackOff]:
        """Return each project's back-off, including expired ones: they stay until the service answers."""
        rows = self.connection.execute(select(back_offs)).mappings()
        return {ProjectId(row["project"]): _to_back_off(row) for row in rows}

    def of(self, project: ProjectId) -> BackOff | None:
        """Return the project's back-off; None when the service has worked since."""
        return self.all().get(project)

    def put(self, project: ProjectId, back_off: BackOff) -> None:
        """Start or extend the project's back-off."""
        values = asdict(back_off)
        if not insert_unless_there(self.connection, back_offs, {"project": project, **values}):
            self.connection.execute(update(back_offs).where(back_offs.c.project == project).values(**values))

    def end_by(self, job: JobNumber, until: datetime) -> None:
        """End the back-off of a job's project by then, if only prompts are refused."""
        project = select(jobs.c.project).where(jobs.c.number == job).scalar_subquery()
        longer = and_(back_offs.c.reason == MAY_NOT_WRITE, back_offs.c.until > until)
        self.connection.execute(
            update(back_offs).where(back_offs.c.project == project, longer).values(until=until)
        )

    def clear(self, project: ProjectId) -> bool:
        """Remove the project's back-off, because the service works again. Return whether there was one."""
        gone = self.connection.execute(delete(back_offs).where(back_offs.c.project == project))
        return gone.rowcount > 0


class Trouble(NamedTuple):
    """The cause of an error, and what to do. Neither quotes the address, which may hold a password."""

    cause: str
    advice: str


_LOOK = "Look at DATABASE_URL, at the database's log and at the network."
_FULL = Trouble("the disk is full", "Make room on the database's disk; the bot goes on by itself.")
_PASSWORD = Trouble(
    "the user name or the password is wrong", "Look at the user and password in DATABASE_URL."
)
_NO_DATABASE = Trouble(
    "there is no database of this name", "Create it, or look at the name at the end of DATABASE_URL."
)
_CONNECTIONS = Trouble(
    "the server has no connection left",
    "Lower DATABASE_CONNECTIONS, run fewer processes, or raise max_connections of the server.",
)
_STARTING = Trouble("the server is starting or stopping", "Wait; the bot tries again by itself.")
_RIGHTS = Trouble(
    "the user lacks rights", "Grant the user CREATE on the schema, and all rights to the bot's tables."
)
_READ_ONLY = Trouble("the database is read-only", "Give the address of the primary server in DATABASE_URL.")
_TLS = Trouble(
    "no encrypted connection (TLS)",
    "Look at sslmode and sslrootcert in DATABASE_URL, and at the server's certificate.",
)
_NOT_LET_IN = Trouble(
    "the server lets nobody in from here", "Let this user and address in, in the server's pg_hba.conf."
)
_DOWN = Trouble(
    "nothing listens at its address", "Start the database, or look at host and port in DATABASE_URL."
)
_NAME = Trouble("its host name is unknown", "Look at the host in DATABASE_URL.")
_SILENT = Trouble("no answer", "Look at the network between here and the database, and at its load.")

_SQLITE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: Trouble("its file cannot be read or written", "Look at the disk."),
    sqlite3.SQLITE_READONLY: Trouble("its file is read-only", "Let this user write the file and its folder."),
    sqlite3.SQLITE_CANTOPEN: Trouble("its file cannot be opened", "Look at the path in DATABASE_URL."),
    sqlite3.SQLITE_NOTADB: Trouble(
        "its file is no SQLite database", "Look at the path in DATABASE_URL, or put a backup in its place."
    ),
    sqlite3.SQLITE_CORRUPT: Trouble("its file is damaged", "Stop the bot and put a backup in its place."),
    sqlite3.SQLITE_BUSY: Trouble("another process has it locked", "Find the process that holds the file."),
}
"""https://www.sqlite.org/rescode.html"""
_STATES = {
    "28P01": _PASSWORD,
    "28000": _PASSWORD,
    "3D000": _NO_DATABASE,
    "53100": _FULL,
    "53300": _CONNECTIONS,
    "57P01": _STARTING,
    "57P03": _STARTING,
    "42501": _RIGHTS,
    "25006": _READ_ONLY,
}
"""https://www.postgresql.org/docs/current/errcodes-appendix.html"""
_PHRASES = (
    ("password authentication failed|no password supplied", _PASSWORD),
    ("too many clients|too many connections|remaining connection slots", _CONNECTIONS),
    ("role ", _PASSWORD),
    ("the database system is", _STARTING),
    ("no encryption|ssl off", _TLS),
    ("no pg_hba.conf entry", _NOT_LET_IN),
    ("certificate|ssl", _TLS),
    ("database ", _NO_DATABASE),
    ("refused|no such file", _DOWN),
    ("name or service|resolve|translate host|name resolution", _NAME),
    ("timeout|timed out", _SILENT),
)
"""What libpq's errors say before there is a connection; they have no code. Tried in order, in lower case."""


def explain(error: SQLAlchemyError | sqlite3.Error) -> Trouble:
    """Return the cause of a database's error, or the error's type where the cause is not known."""
    if isinstance(error, UnusableDatabase):
        cause, _, advice = str(error).partition(": ")
        return Trouble(cause, advice)
    driver = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(driver, sqlite3.Error):
        code = getattr(driver, "sqlite_errorcode", 0) & 0xFF
        return _SQLITE.get(code, Trouble(type(driver).__name__, _LOOK))
    state = getattr(driver, "sqlstate", None)
    if isinstance(state, str):
        return _STATES.get(state, Trouble(f"{type(driver).__name__} ({state})", _LOOK))
    # Names stand in quotes, and could contain any phrase.
    reason = "".join(str(driver).lower().split("failed: ", 1)[-1].split('"')[::2])
    known = (trouble for phrases, trouble in _PHRASES if any(each in reason for each in phrases.split("|")))
    return next(known, Trouble(type(driver).__name__, _LOOK))
