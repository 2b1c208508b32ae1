"""The choices of channels: project, which replies steer, and reviewers."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select, update

from bot.ids import ChannelId, ProjectId, Reviewer
from bot.store.job_tables import channels, reviewers
from bot.store.schema import Repository, insert_unless_there


class Channels(Repository):
    """What channels have chosen, within one transaction."""

    def project(self, channel: ChannelId) -> ProjectId | None:
        """Return the project that a channel has chosen; None if it has chosen none."""
        chosen = select(channels.c.project).where(channels.c.id == channel)
        return self.connection.execute(chosen).scalar_one_or_none()

    def is_by_mention(self, channel: ChannelId) -> bool:
        """Return whether a channel has chosen that only replies which mention the bot steer its jobs."""
        chosen = select(channels.c.by_mention).where(channels.c.id == channel)
        return bool(self.connection.execute(chosen).scalar_one_or_none())

    def choose_project(self, channel: ChannelId, project: ProjectId) -> None:
        """Remember the project that a channel has chosen."""
        self._choose(channel, {"project": project})

    def choose_replies(self, channel: ChannelId, *, by_mention: bool) -> None:
        """Remember whether only replies that mention the bot steer a channel's jobs."""
        self._choose(channel, {"by_mention": by_mention})

    def reviewers(self, channel: ChannelId) -> tuple[Reviewer, ...]:
        """Return whom a channel has chosen to review pull requests, user groups first; () for nobody."""
        chosen = select(reviewers.c.reviewer).where(reviewers.c.channel == channel)
        return tuple(self.connection.execute(chosen.order_by(reviewers.c.reviewer)).scalars())

    def choose_reviewers(self, channel: ChannelId, chosen: Sequence[Reviewer]) -> None:
        """Remember whom a channel has chosen to review pull requests, in place of those before."""
        self.connection.execute(delete(reviewers).where(reviewers.c.channel == channel))
        if chosen:
            rows = [{"channel": channel, "reviewer": each} for each in sorted(set(chosen))]
            insert_unless_there(self.connection, reviewers, *rows)

    def _choose(self, channel: ChannelId, chosen: dict[str, object]) -> None:
        if not insert_unless_there(self.connection, channels, {"id": channel, **chosen}):
            here = channels.c.id == channel
            self.connection.execute(update(channels).where(here).values(chosen))
