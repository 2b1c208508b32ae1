"""The hourly budget of analytics calls: counted from our own rows, corrected by the service's 429."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.engine import Connection

from bot.model import Budget, ProjectId
from bot.store.schema import analytics_budgets, analytics_calls
from bot.store.upsert import insert_unless_there

WINDOW = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class BudgetRepository:
    """The budget, seen through one connection."""

    connection: Connection

    def lock(self, project: ProjectId) -> None:
        """Nobody else counts or takes calls of this project until the transaction ends."""
        insert_unless_there(self.connection, analytics_budgets, {"project": project})
        row = select(analytics_budgets.c.project).where(analytics_budgets.c.project == project)
        self.connection.execute(row.with_for_update())

    def look(self, project: ProjectId, limit: int, now: datetime) -> Budget:
        """What is left of the hour."""
        calls = select(func.count(), func.min(analytics_calls.c.at)).where(
            analytics_calls.c.project == project, analytics_calls.c.at > now - WINDOW
        )
        used, oldest_at = self.connection.execute(calls).one()
        held = select(analytics_budgets.c.until).where(
            analytics_budgets.c.project == project, analytics_budgets.c.until > now
        )
        free_at: datetime | None = self.connection.execute(held).scalar_one_or_none()
        if used >= limit and oldest_at is not None:
            free_at = max(free_at or oldest_at, oldest_at + WINDOW)
        return Budget(limit, int(used), free_at)

    def take(self, project: ProjectId, calls: int, now: datetime) -> None:
        """Write down calls before they are made, so that a crash never makes us count too few."""
        if calls:
            rows = [{"project": project, "at": now} for _ in range(calls)]
            self.connection.execute(analytics_calls.insert(), rows)
        self.connection.execute(
            delete(analytics_calls).where(
                analytics_calls.c.project == project, analytics_calls.c.at < now - 2 * WINDOW
            )
        )

    def hold(self, project: ProjectId, until: datetime) -> None:
        """The service has had enough of us until then."""
        insert_unless_there(self.connection, analytics_budgets, {"project": project})
        self.connection.execute(
            update(analytics_budgets).where(analytics_budgets.c.project == project).values(until=until)
        )
