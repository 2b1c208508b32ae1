"""The hourly budget of analytics calls: counted in our own rows, corrected by the service's 429 responses.

Projects with one key have one budget, under the id that ``Projects.budget_of`` returns.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, func, select

from bot.model.ids import ProjectId
from bot.model.visitors import Budget
from bot.store.columns import Repository
from bot.store.quota import exhausted_until, lock_project, mark_exhausted
from bot.store.schema import analytics_budgets, analytics_calls

WINDOW = timedelta(hours=1)


class BudgetRepository(Repository):
    """The analytics budget, within one transaction."""

    def lock(self, project: ProjectId) -> None:
        """Lock the project's budget against all other transactions until this one ends."""
        lock_project(self.connection, analytics_budgets, project)

    def read(self, project: ProjectId, limit: int, now: datetime) -> Budget:
        """Return the calls used in the last hour, and when the next call is possible if none is left."""
        calls = select(func.count(), func.min(analytics_calls.c.at)).where(
            analytics_calls.c.project == project, analytics_calls.c.at > now - WINDOW
        )
        used, oldest_at = self.connection.execute(calls).one()
        free_at = exhausted_until(self.connection, analytics_budgets, project, now)
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

    def mark_exhausted(self, project: ProjectId, until: datetime) -> None:
        """Record that the service refuses further calls until then (a 429 response)."""
        mark_exhausted(self.connection, analytics_budgets, project, until)
