"""The repository of each project, as its first pull request showed it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select

from bot.ids import ProjectId
from bot.pulls.store.tables import repositories
from bot.store.schema import Repository, insert_unless_there


class Repositories(Repository):
    """The repositories of projects, within one transaction.

    A name is ``owner/repo`` in lower case, on the host of GITHUB_API_URL.
    """

    def of(self, project: ProjectId) -> str | None:
        """Return the name of a project's repository; None before its first pull request."""
        query = select(repositories.c.name).where(repositories.c.project == project)
        return self.connection.execute(query).scalar()

    def pin(self, project: ProjectId, name: str, now: datetime) -> str:
        """Pin a project to a repository unless it is pinned; return the pinned one's name."""
        values = {"project": project, "name": name, "pinned_at": now}
        insert_unless_there(self.connection, repositories, values)
        return self.of(project) or name

    def change(self, project: ProjectId, name: str, now: datetime) -> None:
        """Pin a project to another repository."""
        self.pin(project, name, now)
        mine = repositories.update().where(repositories.c.project == project)
        self.connection.execute(mine.values(name=name, pinned_at=now))
