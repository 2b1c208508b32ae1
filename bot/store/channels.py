"""The choices of channels: the project, and which replies steer jobs."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Table, select, text, update

from bot.ids import ChannelId, ProjectId
from bot.store.schema import Channel, Id, Repository, insert_unless_there, metadata

channels = Table(
    "channels",
    metadata,
    # Not "channel": SQLite's RETURNING names columns without their tables, also in a sub-select.
    Column("id", Channel(40), primary_key=True),
    # Empty for the default.
    Column("project", Id(200)),
    Column("by_mention", Boolean, nullable=False, server_default=text("false")),
)


class Channels(Repository):
    """The choices of channels, within one transaction."""

    def project(self, channel: ChannelId) -> ProjectId | None:
        """Return the project that a channel has chosen; None without one."""
        chosen = select(channels.c.project).where(channels.c.id == channel)
        return self.connection.execute(chosen).scalar_one_or_none()

    def is_by_mention(self, channel: ChannelId) -> bool:
        """Return whether only replies that mention the bot steer the channel's jobs."""
        chosen = select(channels.c.by_mention).where(channels.c.id == channel)
        return bool(self.connection.execute(chosen).scalar_one_or_none())

    def choose_project(self, channel: ChannelId, project: ProjectId) -> None:
        """Remember the project that a channel has chosen."""
        self._choose(channel, {"project": project})

    def choose_replies(self, channel: ChannelId, *, by_mention: bool) -> None:
        """Remember whether only replies that mention the bot steer a channel's jobs."""
        self._choose(channel, {"by_mention": by_mention})

    def _choose(self, channel: ChannelId, chosen: dict[str, object]) -> None:
        if not insert_unless_there(self.connection, channels, {"id": channel, **chosen}):
            is_channel = channels.c.id == channel
            self.connection.execute(update(channels).where(is_channel).values(chosen))
