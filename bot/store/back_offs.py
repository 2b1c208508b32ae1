"""Projects that are left alone for a while: the service was unwell, refused our key, or asked us to wait."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.engine import Connection

from bot.model import ProjectId
from bot.store.schema import back_offs
from bot.store.upsert import insert_unless_there


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
