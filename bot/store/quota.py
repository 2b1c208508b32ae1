"""The shared limit of each project: the lock under which uses are counted, and the service's own word."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from bot.model import ProjectId
from bot.store.schema import quotas
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
