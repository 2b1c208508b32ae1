"""Who asks, from where, and what they may: origins, access, and a cache of what Slack says about them."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from math import inf
from time import monotonic
from typing import Generic, TypeVar

from pydantic import SecretStr

from bot.model.ids import ChannelId, MessageTs, RequestKey, UserId, is_direct_message
from bot.model.jobs import ThreadRef

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
        """Store a result."""
        self._entries.pop(key, None)
        self._entries[key] = (self._clock(), result)
        if len(self._entries) > self._most:
            del self._entries[next(iter(self._entries))]


def message_key(channel: ChannelId, ts: str = "") -> RequestKey:
    """Return the key of a message, or without ``ts`` the beginning of the keys of a channel's messages."""
    return RequestKey(f"message:{channel}:{ts}")


@dataclass(frozen=True, slots=True)
class Origin:
    """Who asked for something, where, and how an answer reaches them.

    ``key`` recognises the request when Slack delivers it again. ``channel`` is empty for a button outside
    any channel and for a form that carries none. ``thread`` is set for a reply in a thread. ``message_ts`` is
    the message that the request came from: what somebody wrote, or the message whose button was pressed.
    ``response_url`` takes private answers for 30 minutes.
    """

    key: RequestKey
    user: UserId
    channel: ChannelId
    thread: MessageTs | None = None
    message_ts: MessageTs | None = None
    response_url: SecretStr | None = None

    @property
    def thread_ref(self) -> ThreadRef | None:
        """The thread in which it was said, if it was said in one."""
        return ThreadRef(self.channel, self.thread) if self.thread else None

    @property
    def thread_for_job(self) -> MessageTs | None:
        """The thread in which a job that is asked for here has its face; None if the face begins its thread.

        That is the thread of the message that asked, or the one under it. In direct messages, where only the
        bot and one person talk, a face that begins its thread is easier to see.
        """
        return self.thread or (None if self.is_direct else self.message_ts)

    @property
    def is_direct(self) -> bool:
        """Whether it comes from somebody's direct messages, outside of any thread."""
        return self.thread is None and is_direct_message(self.channel)


@dataclass(frozen=True, slots=True)
class Unread:
    """A conversation to be read again after an outage: a thread, or the direct messages of a channel.

    ``thread`` is None for direct messages. ``since``: the newest message that was heard. ``due_at`` changes
    when the conversation has to be read once more. ``attempts``: how often reading it has failed.
    """

    id: int
    channel: ChannelId
    thread: MessageTs | None
    since: MessageTs
    due_at: datetime
    attempts: int = 0


def ts_at(at: datetime) -> MessageTs:
    """Return the timestamp of a message that would be posted at this time."""
    return MessageTs(f"{at.timestamp():.6f}")


def time_of(ts: MessageTs) -> datetime:
    """Return the time at which a message was posted. Raises ValueError for what is no timestamp."""
    return datetime.fromtimestamp(float(ts), UTC)
