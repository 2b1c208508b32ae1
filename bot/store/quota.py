"""The quota of each project, with the lock under which its uses are counted; and back-offs of projects."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import cast

from sqlalchemy import and_, delete, select, update
from sqlalchemy.engine import Connection

from bot.model.ids import JobNumber, ProjectId
from bot.model.quota import MAY_NOT_WRITE, BackOff
from bot.store.columns import AnyTable, Repository, insert_unless_there, reader
from bot.store.schema import back_offs, jobs, quotas


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

    def hasten(self, job: JobNumber, until: datetime) -> None:
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
