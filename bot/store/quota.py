"""The quota of each project, with the lock under which its uses are counted; and back-offs of projects."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from sqlalchemy import and_, delete, select, update
from sqlalchemy.engine import Connection

from bot.model.ids import JobNumber, ProjectId
from bot.store.columns import AnyTable, Repository
from bot.store.schema import back_offs, jobs, quotas
from bot.store.upsert import insert_unless_there


def lock_project(connection: Connection, limits: AnyTable, project: ProjectId) -> None:
    """Lock the project's row of ``limits`` against all other transactions until this one ends."""
    insert_unless_there(connection, limits, {"project": project})
    connection.execute(select(limits.c.project).where(limits.c.project == project).with_for_update())


def mark_exhausted(connection: Connection, limits: AnyTable, project: ProjectId, until: datetime) -> None:
    """Record in ``limits`` that the service accepts nothing more of the project until then."""
    insert_unless_there(connection, limits, {"project": project})
    connection.execute(update(limits).where(limits.c.project == project).values(until=until))


def exhausted_until(
    connection: Connection, limits: AnyTable, project: ProjectId, now: datetime
) -> datetime | None:
    """Return the time in ``limits`` until which the service accepts nothing; None when it has passed."""
    statement = select(limits.c.until).where(limits.c.project == project, limits.c.until > now)
    return cast("datetime | None", connection.execute(statement).scalar_one_or_none())


class QuotaRepository(Repository):
    """The projects' quotas, within one transaction."""

    def lock(self, project: ProjectId) -> None:
        """Lock the project's quota against all other transactions until this one ends."""
        lock_project(self.connection, quotas, project)

    def mark_exhausted(self, project: ProjectId, until: datetime) -> None:
        """Record that the service said the limit is reached until then (a 429 response)."""
        mark_exhausted(self.connection, quotas, project, until)

    def exhausted_until(self, project: ProjectId, now: datetime) -> datetime | None:
        """Return the time until which the service refuses prompts; None when it accepts them."""
        return exhausted_until(self.connection, quotas, project, now)


_ALL = select(back_offs.c.project, back_offs.c.reason, back_offs.c.until)


class BackOffRepository(Repository):
    """The projects' back-offs, within one transaction."""

    def attempts(self, project: ProjectId) -> int:
        """Return how many times in a row the service has failed for this project."""
        row = self.connection.execute(select(back_offs.c.attempts).where(back_offs.c.project == project))
        return int(row.scalar_one_or_none() or 0)

    def put(
        self, project: ProjectId, until: datetime, attempts: int, reason: str, *, since: datetime
    ) -> None:
        """Start or extend the project's back-off. ``since``: when the trouble of this kind began."""
        values = {"until": until, "attempts": attempts, "reason": reason, "since": since}
        if not insert_unless_there(self.connection, back_offs, {"project": project, **values}):
            self.connection.execute(update(back_offs).where(back_offs.c.project == project).values(**values))

    def hasten(self, job: JobNumber, reason: str, until: datetime) -> None:
        """End the back-off of a job's project by then, if it has this reason."""
        project = select(jobs.c.project).where(jobs.c.number == job).scalar_subquery()
        longer = and_(back_offs.c.reason == reason, back_offs.c.until > until)
        self.connection.execute(
            update(back_offs).where(back_offs.c.project == project, longer).values(until=until)
        )

    def since(self, project: ProjectId) -> datetime | None:
        """Return when the project's trouble began; None when the service works."""
        row = self.connection.execute(select(back_offs.c.since).where(back_offs.c.project == project))
        found: datetime | None = row.scalar_one_or_none()
        return found

    def begun_before(self, before: datetime) -> dict[ProjectId, tuple[str, datetime, datetime]]:
        """Return the reason, the begin and the end of each back-off that began before then."""
        rows = self.connection.execute(select(back_offs).where(back_offs.c.since <= before))
        return {ProjectId(row.project): (row.reason, row.since, row.until) for row in rows}

    def reason(self, project: ProjectId) -> str | None:
        """Return the reason of the project's latest back-off; None when the service has worked since."""
        row = self.connection.execute(select(back_offs.c.reason).where(back_offs.c.project == project))
        found: str | None = row.scalar_one_or_none()
        return found

    def clear(self, project: ProjectId) -> bool:
        """Remove the project's back-off, because the service works again. Return whether there was one."""
        gone = self.connection.execute(delete(back_offs).where(back_offs.c.project == project))
        return gone.rowcount > 0

    def all(self) -> dict[ProjectId, tuple[str, datetime]]:
        """Return the reason and the end of each project's back-off, including expired ones."""
        rows = self.connection.execute(_ALL)
        return {ProjectId(row.project): (row.reason, row.until) for row in rows}
