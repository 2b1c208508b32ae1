"""Who may use the bot."""

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
    """What somebody is to this workspace and its bot. Only a member may use it."""

    MEMBER = "member"
    GUEST = "guest"
    BOT = "bot"
    STRANGER = "stranger"
    """From another organisation, in a shared channel."""
    GONE = "gone"
    """Deactivated, or unknown to Slack."""
    NOT_LISTED = "not_listed"
    """A member, but not among those for whom the bot is."""
    CHANNEL = "channel"
    """Nobody may use the bot in this channel."""
    UNTOLD = "untold"
    """Slack does not tell, so it is a no."""

    @property
    def may(self) -> bool:
        """Whether they may use the bot."""
        return self is Access.MEMBER


@dataclass(frozen=True, slots=True)
class Profile:
    """Somebody as Slack describes them."""

    is_guest: bool
    is_bot: bool
    is_stranger: bool
    is_deleted: bool

    @property
    def access(self) -> Access:
        """Before any list is looked at."""
        if self.is_deleted:
            return Access.GONE
        if self.is_stranger:
            return Access.STRANGER
        if self.is_bot:
            return Access.BOT
        return Access.GUEST if self.is_guest else Access.MEMBER


@dataclass(frozen=True)
class AccessPolicy:
    """For whom the bot is; empty lists exclude nobody. Admins are always among them."""

    channels: frozenset[ChannelId] = frozenset()
    users: frozenset[UserId] = frozenset()
    groups: frozenset[str] = frozenset()
    admins: frozenset[UserId] = frozenset()

    @property
    def lists_people(self) -> bool:
        """Whether only some people may use the bot."""
        return bool(self.users or self.groups)

    @cached_property
    def rule(self) -> str:
        """Changes with the lists, so that what was found out under others is found out again."""
        named: Iterable[str] = (*sorted(self.users), "|", *sorted(self.groups), "|", *sorted(self.admins))
        return hashlib.blake2b(" ".join(named).encode(), digest_size=16).hexdigest()

    def allows_channel(self, channel: ChannelId) -> bool:
        """Whether the bot may be used there."""
        return not self.channels or channel in self.channels

    def names(self, user: UserId) -> bool:
        """Whether somebody is listed by themselves."""
        return user in self.users or user in self.admins


class MemberCache:
    """Members whom this process has looked up within the last five minutes.

    ``rule`` is that of the policy under which somebody was looked up.
    """

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._until: dict[tuple[UserId, str], datetime] = {}

    def has(self, user: UserId, rule: str, now: datetime) -> bool:
        """Return whether somebody is known to be a member."""
        return self._until.get((user, rule), now) > now

    def add(self, user: UserId, rule: str, now: datetime) -> None:
        """Remember a member."""
        if len(self._until) >= self._most:
            self._until.clear()
        self._until[(user, rule)] = now + _CACHED
