"""Who may use the bot."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from bot.model.ids import ChannelId, UserId


class Standing(StrEnum):
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
        return self is Standing.MEMBER


@dataclass(frozen=True, slots=True)
class Profile:
    """Somebody as Slack describes them."""

    is_guest: bool
    is_bot: bool
    is_stranger: bool
    is_deleted: bool

    @property
    def standing(self) -> Standing:
        """Before any list is looked at."""
        if self.is_deleted:
            return Standing.GONE
        if self.is_stranger:
            return Standing.STRANGER
        if self.is_bot:
            return Standing.BOT
        return Standing.GUEST if self.is_guest else Standing.MEMBER


@dataclass(frozen=True)
class Admission:
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
