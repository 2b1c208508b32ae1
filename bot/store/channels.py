"""The choices of channels: the project, and which replies steer jobs."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Boolean, Column, Table, delete, exists, select, text, update

from bot.ids import ChannelId, ProjectId
from bot.store.schema import (
    AnyTable,
    Channel,
    Id,
    Repository,
    Transaction,
    insert_unless_there,
    metadata,
)

channels = Table(
    "channels",
    metadata,
    # Not "channel": SQLite's RETURNING names columns without their tables, also in a sub-select.
    Column("id", Channel(40), primary_key=True),
    # Empty for the default.
    Column("project", Id(200)),
    Column("is_mention_only", Boolean, nullable=False, server_default=text("false")),
)


def move_channel(tx: Transaction, old: ChannelId, new: ChannelId) -> None:
    """Write the new id of a channel into every row that has its old one.

    Of rows that the channel may have once, such as its choices, the one with the new id stays.
    """
    for table in metadata.sorted_tables:
        for column in table.c:
            if not isinstance(column.type, Channel):
                continue
            for others in _unique_with(table, column):
                twin = table.alias("twin")
                is_same = [twin.c[other.name] == other for other in others]
                has_twin = exists().where(twin.c[column.name] == new, *is_same)
                tx.connection.execute(delete(table).where(column == old, has_twin))
            moving = update(table).where(column == old).values({column.name: new})
            tx.connection.execute(moving)


def _unique_with(table: AnyTable, column: Column[object]) -> Iterator[list[Column[object]]]:
    """Yield the other columns of each key and unique index of a table that has this column."""
    uniques = [list(table.primary_key.columns)]
    uniques += [list(index.columns) for index in table.indexes if index.unique]
    for columns in uniques:
        if column in columns:
            yield [other for other in columns if other is not column]


class Channels(Repository):
    """The choices of channels, within one transaction."""

    def project(self, channel: ChannelId) -> ProjectId | None:
        """Return the project that a channel has chosen; None without one."""
        chosen = select(channels.c.project).where(channels.c.id == channel)
        return self.connection.execute(chosen).scalar_one_or_none()

    def is_mention_only(self, channel: ChannelId) -> bool:
        """Return whether only replies that mention the bot steer the channel's jobs."""
        chosen = select(channels.c.is_mention_only).where(channels.c.id == channel)
        return bool(self.connection.execute(chosen).scalar_one_or_none())

    def choose_project(self, channel: ChannelId, project: ProjectId) -> None:
        """Remember the project that a channel has chosen."""
        self._choose(channel, {"project": project})

    def choose_replies(self, channel: ChannelId, *, is_mention_only: bool) -> None:
        """Remember whether only replies that mention the bot steer a channel's jobs."""
        self._choose(channel, {"is_mention_only": is_mention_only})

    def _choose(self, channel: ChannelId, chosen: dict[str, object]) -> None:
        if not insert_unless_there(self.connection, channels, {"id": channel, **chosen}):
            is_channel = channels.c.id == channel
            self.connection.execute(update(channels).where(is_channel).values(chosen))
