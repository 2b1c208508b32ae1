"""The quota of each project and the lock under which uses are counted; projects with a back-off."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.engine import Connection

from bot.model import ProjectId
from bot.store.schema import back_offs, quotas
from bot.store.upsert import insert_unless_there


@dataclass(frozen=True, slots=True)
class QuotaRepository:
    """The limits, seen through one connection."""

    connection: Connection

    def lock(self, project: ProjectId) -> None:
        """Nobody else counts or takes uses of this project until the transaction ends."""
        insert_unless_there(self.connection, quotas, {"project": project})
        row = select(quotas.c.project).where(quotas.c.project == project)
        self.connection.execute(row.with_for_update())

    def hold(self, project: ProjectId, until: datetime) -> None:
        """The service said that the limit is reached, until then."""
        insert_unless_there(self.connection, quotas, {"project": project})
        self.connection.execute(update(quotas).where(quotas.c.project == project).values(until=until))

    def held_until(self, project: ProjectId, now: datetime) -> datetime | None:
        """Until when the service wants no more; None when it does."""
        statement = select(quotas.c.until).where(quotas.c.project == project, quotas.c.until > now)
        until: datetime | None = self.connection.execute(statement).scalar_one_or_none()
        return until


@dataclass(frozen=True, slots=True)
class BackOffRepository:
    """The holds, seen through one connection."""

    connection: Connection

    def attempts(self, project: ProjectId) -> int:
        """How many times in a row the service has failed this project."""
        row = self.connection.execute(select(back_offs.c.attempts).where(back_offs.c.project == project))
        return int(row.scalar_one_or_none() or 0)

    def put(self, project: ProjectId, until: datetime, attempts: int, reason: str) -> None:
        """Leave the project alone until then."""
        values = {"until": until, "attempts": attempts, "reason": reason}
        if not insert_unless_there(self.connection, back_offs, {"project": project, **values}):
            self.connection.execute(update(back_offs).where(back_offs.c.project == project).values(**values))

    def reason(self, project: ProjectId) -> str | None:
        """Why a project is, or was last, left alone; None when the service has answered since."""
        row = self.connection.execute(select(back_offs.c.reason).where(back_offs.c.project == project))
        found: str | None = row.scalar_one_or_none()
        return found

    def lift(self, project: ProjectId) -> bool:
        """The service answered: go on. Answers whether there was a hold."""
        gone = self.connection.execute(delete(back_offs).where(back_offs.c.project == project))
        return gone.rowcount > 0

    def all(self) -> dict[ProjectId, tuple[str, datetime]]:
        """Every hold, those that have run out too: why, and until when."""
        rows = self.connection.execute(select(back_offs.c.project, back_offs.c.reason, back_offs.c.until))
        return {ProjectId(row.project): (row.reason, row.until) for row in rows}
