"""Access: the policy of the settings, results of checks, and a cache of them."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import inf
from time import monotonic
from typing import Generic, TypeVar

from bot.ids import ChannelId, UserId
from bot.ports import Profile

Key = TypeVar("Key")
Cached = TypeVar("Cached")


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
        return self is Access.MEMBER


def access_of(profile: Profile) -> Access:
    """Return the access that follows from a profile alone, before ``AccessPolicy`` is applied."""
    if profile.is_deleted:
        return Access.GONE
    if profile.is_stranger:
        return Access.STRANGER
    if profile.is_bot:
        return Access.BOT
    return Access.GUEST if profile.is_guest else Access.MEMBER


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
        return not self.channels or channel in self.channels

    def lists_user(self, user: UserId) -> bool:
        """Return whether this user is listed by id, not through a group."""
        return user in self.users or user in self.admins


class TtlCache(Generic[Key, Cached]):
    """The ``most`` newest results by key, each with the time in seconds at which it was stored."""

    def __init__(self, most: int = 1_000, clock: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._clock = clock
        self._entries: dict[Key, tuple[float, Cached]] = {}

    def get(self, key: Key, seconds: float) -> Cached | None:
        """Return the key's result if it is younger than ``seconds``; None otherwise."""
        at, cached = self._entries.get(key, (-inf, None))
        return cached if self._clock() - at < seconds else None

    async def get_or_ask(self, key: Key, seconds: float, ask: Callable[[], Awaitable[Cached]]) -> Cached:
        """Return the key's result if it is younger than ``seconds``; otherwise ask for it, and store it."""
        cached = self.get(key, seconds)
        if cached is None:
            cached = await ask()
            self.put(key, cached)
        return cached

    def put(self, key: Key, result: Cached) -> None:
        self._entries.pop(key, None)
        self._entries[key] = (self._clock(), result)
        if len(self._entries) > self._most:
            del self._entries[next(iter(self._entries))]
