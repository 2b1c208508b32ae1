"""Channels: the projects that they have chosen, and moving their rows when Slack changes their ids."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, func, literal, select, update
from sqlalchemy.engine import Connection

from bot.model import ChannelId, ProjectId, SubscriptionState, message_key
from bot.store.audit import audit
from bot.store.digests import place_of
from bot.store.schema import (
    AnyTable,
    channel_projects,
    deliveries,
    digests,
    former_channels,
    heard,
    jobs,
    prompts,
    questions,
    subscriptions,
)
from bot.store.upsert import insert_unless_there

_WITH_CHANNEL = (prompts, jobs, deliveries, questions, digests, audit)
"""Tables whose rows name a channel, in the order in which rows are locked. A channel's pace is not moved: it
lasts a second."""
_WITH_MESSAGE_KEYS = (prompts, deliveries)


@dataclass(frozen=True, slots=True)
class ChannelRepository:
    """What the bot knows of channels, within one transaction."""

    connection: Connection

    def project(self, channel: ChannelId) -> ProjectId | None:
        """Return the project that a channel has chosen; None if it has chosen none."""
        chosen = select(channel_projects.c.project).where(channel_projects.c.channel == self.present(channel))
        return self.connection.execute(chosen).scalar_one_or_none()

    def choose_project(self, channel: ChannelId, project: ProjectId) -> None:
        """Remember the project that a channel has chosen."""
        present = self.present(channel)
        values = {"channel": present, "project": project}
        if not insert_unless_there(self.connection, channel_projects, values):
            here = channel_projects.c.channel == present
            self.connection.execute(update(channel_projects).where(here).values(project=project))

    def present(self, channel: ChannelId) -> ChannelId:
        """Return the id that a channel has now; the same if Slack has not changed it."""
        statement = select(former_channels.c.channel).where(former_channels.c.former == channel)
        found = self.connection.execute(statement).scalar_one_or_none()
        return channel if found is None else ChannelId(found)

    def ids_of(self, channel: ChannelId) -> frozenset[ChannelId]:
        """Return all ids that a channel has or had."""
        present = self.present(channel)
        former = select(former_channels.c.former).where(former_channels.c.channel == present)
        return frozenset({present, *map(ChannelId, self.connection.execute(former).scalars())})

    def rename(self, old: ChannelId, new: ChannelId) -> ChannelId:
        """Remember that a channel's id has changed, and move its rows. Return the id that it has now.

        Changes may be told in any order, and again.
        """
        if old != new and self.present(old) == old:
            self._remember(old, new)
        self.follow(old)
        return self.present(old)

    def follow(self, channel: ChannelId) -> bool:
        """Move the rows under a former id to the present one. Return whether it is a former id."""
        present = self.present(channel)
        if present == channel:
            return False
        self._move(channel, present)
        return True

    def _remember(self, old: ChannelId, new: ChannelId) -> None:
        present = self.present(new)
        if present == old:  # the channel has got an earlier id back
            self.connection.execute(delete(former_channels).where(former_channels.c.former == new))
            present = new
        earlier = former_channels.c.channel == old
        self.connection.execute(update(former_channels).where(earlier).values(channel=present))
        insert_unless_there(self.connection, former_channels, {"former": old, "channel": present})

    def _move(self, old: ChannelId, new: ChannelId) -> None:
        for table in _WITH_CHANNEL:
            here, key = table.c.channel == old, next(iter(table.primary_key.columns))
            locked = select(key).where(here).order_by(key).with_for_update()
            self.connection.execute(locked).all()
            if table in _WITH_MESSAGE_KEYS:
                self._rewrite_keys(table, old, new)
            self.connection.execute(update(table).where(here).values(channel=new))
        self._move_subscriptions(old, new)
        self._move_heard(old, new)
        self._move_project(old, new)

    def _rewrite_keys(self, table: AnyTable, old: ChannelId, new: ChannelId) -> None:
        """Rewrite the keys of a channel's messages, so that a message heard again is still recognised.

        A key that exists under the new id stays: its message was heard under both ids.
        """
        was, taken = message_key(old), table.alias("taken")
        rewritten = literal(message_key(new)) + func.substr(table.c.key, len(was) + 1)
        exists = select(taken.c.key).where(taken.c.key == rewritten).exists()
        is_message = table.c.key.startswith(was, autoescape=True)
        self.connection.execute(update(table).where(is_message, ~exists).values(key=rewritten))

    def _move_heard(self, old: ChannelId, new: ChannelId) -> None:
        """Move what was heard. A conversation that was heard under the new id, too, keeps only that."""
        here, known = heard.c.channel == old, heard.alias("known")
        under_new = (
            select(known.c.id).where(known.c.channel == new, known.c.thread == heard.c.thread).exists()
        )
        self.connection.execute(delete(heard).where(here, under_new))
        self.connection.execute(update(heard).where(here).values(channel=new))

    def _move_project(self, old: ChannelId, new: ChannelId) -> None:
        """Move the choice of a project. One made under the new id is newer."""
        here = channel_projects.c.channel == old
        gone = delete(channel_projects).where(here).returning(channel_projects.c.project)
        chosen = self.connection.execute(gone).scalar_one_or_none()
        if chosen is not None:
            insert_unless_there(self.connection, channel_projects, {"channel": new, "project": chosen})

    def _move_subscriptions(self, old: ChannelId, new: ChannelId) -> None:
        """Move subscriptions. One made under the new id is newer, and ends the one that it replaces."""
        here = select(subscriptions).where(subscriptions.c.channel == old).order_by(subscriptions.c.id)
        for row in self.connection.execute(here.with_for_update()).mappings().all():
            place = place_of(row["project"], new, row["section"])
            newer = select(subscriptions.c.id).where(subscriptions.c.place == place)
            values: dict[str, object] = {"channel": new, "place": place}
            if self.connection.execute(newer).first() is not None:
                values = {"channel": new, "state": SubscriptionState.ENDED, "next_run_at": None}
            self.connection.execute(
                update(subscriptions).where(subscriptions.c.id == row["id"]).values(values)
            )
