"""What is remembered of people and channels: access by user, and the project that a channel has chosen."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import and_, or_, select, update

from bot.model.access import Access
from bot.model.ids import ChannelId, ProjectId, UserId
from bot.store.columns import Repository, insert_unless_there
from bot.store.schema import channel_projects, members

_TOLD_AGAIN_AFTER = timedelta(hours=1)


class MemberRepository(Repository):
    """Cached access by user, within one transaction."""

    def access(self, user: UserId, rule: str, since: datetime) -> Access | None:
        """Return a user's access if it was stored under this ``rule`` after ``since``; None otherwise."""
        statement = select(members.c.access).where(
            members.c.user == user, members.c.rule == rule, members.c.checked_at > since
        )
        found = self.connection.execute(statement).scalar_one_or_none()
        return None if found is None else Access(found)

    def remember(self, user: UserId, access: Access, rule: str, now: datetime) -> None:
        """Store a user's access, replacing an earlier one."""
        values = {"access": access, "rule": rule, "checked_at": now}
        if not insert_unless_there(self.connection, members, {"user": user, **values}):
            self.connection.execute(update(members).where(members.c.user == user).values(**values))

    def may_tell_denied(self, user: UserId, rule: str, now: datetime) -> bool:
        """Return whether a user is to be told that a request was denied, and store that they are told now.

        Members are always told. Everybody else is told once an hour.
        """
        # A rule that matches none: the row says nothing about access.
        new = {"user": user, "access": Access.UNTOLD, "rule": "", "checked_at": now, "told_at": now}
        if insert_unless_there(self.connection, members, new):
            return True
        is_member = and_(members.c.access == Access.MEMBER, members.c.rule == rule)
        long_ago = or_(members.c.told_at.is_(None), members.c.told_at <= now - _TOLD_AGAIN_AFTER)
        telling = update(members).where(members.c.user == user, or_(is_member, long_ago)).values(told_at=now)
        return self.connection.execute(telling).rowcount == 1


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
