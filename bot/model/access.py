"""Access: which users and channels the bot serves, and the cache of known members."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property

from bot.model.ids import ChannelId, UserId

_CACHED = timedelta(minutes=5)


class Access(StrEnum):
    """Result of an access check. Only ``MEMBER`` allows the use of the bot."""

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

    @property
    def may(self) -> bool:
        """Whether the user may use the bot."""
        return self is Access.MEMBER


@dataclass(frozen=True, slots=True)
class Profile:
    """A user as Slack describes them."""

    is_guest: bool
    is_bot: bool
    is_stranger: bool
    is_deleted: bool

    @property
    def access(self) -> Access:
        """The access that follows from the profile alone, before ``AccessPolicy`` is applied."""
        if self.is_deleted:
            return Access.GONE
        if self.is_stranger:
            return Access.STRANGER
        if self.is_bot:
            return Access.BOT
        return Access.GUEST if self.is_guest else Access.MEMBER


@dataclass(frozen=True)
class AccessPolicy:
    """The users and channels that the settings allow.

    An empty list allows everybody. Admins are always allowed. ``bots``: the apps and bot users whose mentions
    start jobs. A job of an app is the app's, so its id stands in the place of a person's.
    """

    channels: frozenset[ChannelId] = frozenset()
    users: frozenset[UserId] = frozenset()
    groups: frozenset[str] = frozenset()
    admins: frozenset[UserId] = frozenset()
    bots: frozenset[UserId] = frozenset()

    @property
    def lists_people(self) -> bool:
        """Whether the settings restrict the bot to some users or groups."""
        return bool(self.users or self.groups)

    @cached_property
    def rule(self) -> str:
        """Fingerprint of the lists of people.

        Stored with each result of a check, so that a change of the lists makes older results invalid.
        """
        named: Iterable[str] = (*sorted(self.users), "|", *sorted(self.groups), "|", *sorted(self.admins))
        return hashlib.blake2b(" ".join(named).encode(), digest_size=16).hexdigest()

    def allows_channel(self, channel: ChannelId) -> bool:
        """Return whether the bot may be used in this channel."""
        return not self.channels or channel in self.channels

    def lists_user(self, user: UserId) -> bool:
        """Return whether this user is listed by id, not through a group."""
        return user in self.users or user in self.admins


class MemberCache:
    """Cache of the members that this process has looked up in the last five minutes.

    ``rule`` is ``AccessPolicy.rule`` at the time of the lookup.
    """

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._until: dict[tuple[UserId, str], datetime] = {}

    def has(self, user: UserId, rule: str, now: datetime) -> bool:
        """Return whether the cache knows the user as a member."""
        # Not further ahead than it was put there: the clock may have been set back since.
        return now < self._until.get((user, rule), now) <= now + _CACHED

    def add(self, user: UserId, rule: str, now: datetime) -> None:
        """Remember a member."""
        if len(self._until) >= self._most:
            self._until.clear()
        self._until[(user, rule)] = now + _CACHED
