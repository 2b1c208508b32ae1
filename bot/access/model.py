"""Access: the results of checks, and their table."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import Column, Table, and_, or_, select, true, update

from bot.ids import UserId
from bot.ports import Profile
from bot.settings import Settings
from bot.store.retention import RetentionRule
from bot.store.schema import (
    Choice,
    Id,
    Owner,
    Repository,
    UtcDateTime,
    insert_unless_there,
    metadata,
)


class Access(StrEnum):
    """The result of an access check.

    Only ``MEMBER`` allows the use of the bot.
    """

    MEMBER = "member"
    GUEST = "guest"
    BOT = "bot"
    STRANGER = "stranger"
    """A user of another organisation, in a shared channel."""
    GONE = "gone"
    """The account is deactivated or unknown to Slack."""
    NOT_LISTED = "not_listed"
    """A member of the workspace who is not in the bot's list of users."""
    CHANNEL = "channel"
    """The bot is not set up for this channel."""
    UNTOLD = "untold"
    """Slack did not describe the user, so access is denied."""


def access_of(profile: Profile) -> Access:
    """Return the access that follows from a profile alone.

    The lists of the settings are applied afterwards.
    """
    if profile.is_deleted:
        return Access.GONE
    if profile.is_stranger:
        return Access.STRANGER
    if profile.is_bot:
        return Access.BOT
    return Access.GUEST if profile.is_guest else Access.MEMBER


def access_fingerprint(settings: Settings) -> str:
    """Return the fingerprint of the lists of people.

    Stored with each result of a check, so that a change of the lists makes older results invalid.
    """
    users = sorted(settings.allowed_users)
    groups = sorted(settings.allowed_user_groups)
    admins = sorted(settings.admins)
    named = " ".join([*users, "|", *groups, "|", *admins])
    return hashlib.blake2b(named.encode(), digest_size=16).hexdigest()


members = Table(
    "members",
    metadata,
    Column("user", Owner(40), primary_key=True),
    Column("access", Choice(Access), nullable=False),
    Column("fingerprint", Id(40), nullable=False),
    Column("checked_at", UtcDateTime, nullable=False),
    Column("refused_at", UtcDateTime),
)
MEMBERS_RULE = RetentionRule("access checks", members, true(), members.c.checked_at)
_TOLD_AGAIN_AFTER = timedelta(hours=1)


class Members(Repository):
    """Cached access by user, within one transaction."""

    def access(self, user: UserId, fingerprint: str, since: datetime) -> Access | None:
        """Return a user's stored access.

        Returns None unless it was stored under this ``fingerprint`` of the lists after ``since``.
        """
        statement = select(members.c.access).where(
            members.c.user == user,
            members.c.fingerprint == fingerprint,
            members.c.checked_at > since,
        )
        value = self.connection.execute(statement).scalar_one_or_none()
        return None if value is None else Access(value)

    def remember(self, user: UserId, access: Access, fingerprint: str, now: datetime) -> None:
        """Store a user's access, replacing an earlier one."""
        values = {"access": access, "fingerprint": fingerprint, "checked_at": now}
        if not insert_unless_there(self.connection, members, {"user": user, **values}):
            self.connection.execute(update(members).where(members.c.user == user).values(**values))

    def may_tell_denied(self, user: UserId, fingerprint: str, now: datetime) -> bool:
        """Return whether to answer a denied request, and store the time of the answer.

        Members always get an answer. Others get one once an hour.
        """
        # An empty one matches none, so this row grants no access.
        new = {
            "user": user,
            "access": Access.UNTOLD,
            "fingerprint": "",
            "checked_at": now,
            "refused_at": now,
        }
        if insert_unless_there(self.connection, members, new):
            return True
        is_member = and_(members.c.access == Access.MEMBER, members.c.fingerprint == fingerprint)
        long_ago = or_(
            members.c.refused_at.is_(None), members.c.refused_at <= now - _TOLD_AGAIN_AFTER
        )
        may_tell = update(members).where(members.c.user == user, or_(is_member, long_ago))
        return self.connection.execute(may_tell.values(refused_at=now)).rowcount == 1
