"""The service's hourly limits on prompts and analytics calls, and the back-offs of projects.

Uses are counted in the bot's own rows, and corrected by 429 responses.
Projects with one key have one budget of calls, under the id that ``Projects.budget_of`` returns.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from functools import cache

from sqlalchemy import Column, Select, and_, bindparam, delete, func, select, update

from bot.ids import JobNumber, ProjectId
from bot.jobs.model.quota import MAY_NOT_WRITE, BackOff, Budget
from bot.jobs.store.tables import analytics_calls, back_offs, jobs, limits
from bot.store.leases import NOW
from bot.store.schema import Repository, UtcDateTime, insert_unless_there, reader

WINDOW = timedelta(hours=1)
SKEW = timedelta(minutes=1)
"""Uses further ahead were counted by a clock that was ahead."""


class Quota(Repository):
    """The limit on prompts of each project, within one transaction."""

    until: Column[datetime | None] = limits.c.prompts_limited_until

    def mark_exhausted(self, project: ProjectId, until: datetime) -> None:
        """Record that the limit is reached until then (a 429 response)."""
        insert_unless_there(self.connection, limits, {"project": project})
        change = update(limits).where(limits.c.project == project)
        self.connection.execute(change.values({self.until: until}))

    def exhausted_until(self, project: ProjectId, now: datetime) -> datetime | None:
        """Return the time until which the limit is reached; None when it has passed."""
        values = {"of_project": project, NOW.key: now}
        return self.connection.execute(_select_exhausted(self.until), values).scalar_one_or_none()


@cache
def _select_exhausted(until: Column[datetime | None]) -> Select[datetime | None]:
    """Return the statement that reads the end of an exhausted limit, if it is ahead."""
    return select(until).where(limits.c.project == bindparam("of_project"), until > NOW)


_CALLS_IN_WINDOW = select(func.count(), func.min(analytics_calls.c.called_at)).where(
    analytics_calls.c.project == bindparam("of_project"),
    analytics_calls.c.called_at.between(
        bindparam("window_start", type_=UtcDateTime), bindparam("window_end", type_=UtcDateTime)
    ),
)


class AnalyticsQuota(Quota):
    """The limit on analytics calls of each project, within one transaction."""

    until = limits.c.analytics_limited_until

    def read(self, project: ProjectId, limit: int, now: datetime) -> Budget:
        """Return the calls used in the last hour, and when the next is possible if none is left."""
        window = {"of_project": project, "window_start": now - WINDOW, "window_end": now + SKEW}
        used, oldest_at = self.connection.execute(_CALLS_IN_WINDOW, window).one()
        free_at = self.exhausted_until(project, now)
        if used >= limit and oldest_at is not None:
            free_at = max(free_at or oldest_at, oldest_at + WINDOW)
        return Budget(limit, int(used), free_at)

    def take(self, project: ProjectId, calls: int, now: datetime) -> None:
        """Record calls before they are made, so that a crash cannot make the count too low."""
        if calls:
            rows = [{"project": project, "called_at": now} for _ in range(calls)]
            self.connection.execute(analytics_calls.insert(), rows)
        is_old = analytics_calls.c.called_at < now - 2 * WINDOW
        self.connection.execute(
            delete(analytics_calls).where(analytics_calls.c.project == project, is_old)
        )


_to_back_off = reader(BackOff, back_offs)
_BACK_OFF = select(back_offs).where(back_offs.c.project == bindparam("of_project"))


class BackOffs(Repository):
    """The projects' back-offs, within one transaction."""

    def all(self) -> dict[ProjectId, BackOff]:
        """Return each project's back-off, including expired ones.

        They stay until the service answers.
        """
        rows = self.connection.execute(select(back_offs)).mappings()
        return {ProjectId(row["project"]): _to_back_off(row) for row in rows}

    def of(self, project: ProjectId) -> BackOff | None:
        """Return the project's back-off; None when the service has worked since."""
        row = self.connection.execute(_BACK_OFF, {"of_project": project}).mappings().first()
        return _to_back_off(row) if row else None

    def put(self, project: ProjectId, back_off: BackOff) -> None:
        """Start or extend the project's back-off."""
        values = asdict(back_off)
        if not insert_unless_there(self.connection, back_offs, {"project": project, **values}):
            change = update(back_offs).where(back_offs.c.project == project)
            self.connection.execute(change.values(**values))

    def end_by(self, job: JobNumber, until: datetime) -> None:
        """End the back-off of a job's project by then, if only prompts are refused."""
        project = select(jobs.c.project).where(jobs.c.number == job).scalar_subquery()
        longer = and_(
            back_offs.c.project == project,
            back_offs.c.reason == MAY_NOT_WRITE,
            back_offs.c.retry_at > until,
        )
        self.connection.execute(update(back_offs).where(longer).values(retry_at=until))

    def clear(self, project: ProjectId) -> bool:
        """Remove the project's back-off, because the service works again.

        Return whether there was one.
        """
        deleted = self.connection.execute(delete(back_offs).where(back_offs.c.project == project))
        return deleted.rowcount > 0
