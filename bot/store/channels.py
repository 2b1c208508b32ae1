"""The projects that channels have chosen."""

from __future__ import annotations

from sqlalchemy import select, update

from bot.model.ids import ChannelId, ProjectId
from bot.store.columns import Repository
from bot.store.schema import channel_projects
from bot.store.upsert import insert_unless_there


class ChannelRepository(Repository):
    """What the bot knows of channels, within one transaction."""

    def project(self, channel: ChannelId) -> ProjectId | None:
        """Return the project that a channel has chosen; None if it has chosen none."""
        chosen = select(channel_projects.c.project).where(channel_projects.c.channel == channel)
        return self.connection.execute(chosen).scalar_one_or_none()

    def choose_project(self, channel: ChannelId, project: ProjectId) -> None:
        """Remember the project that a channel has chosen."""
        values = {"channel": channel, "project": project}
        if not insert_unless_there(self.connection, channel_projects, values):
            here = channel_projects.c.channel == channel
            self.connection.execute(update(channel_projects).where(here).values(project=project))
