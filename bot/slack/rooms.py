"""Who can read a channel, according to Slack; cached for two minutes in this process."""

from __future__ import annotations

from time import monotonic
from typing import Any, Generic, TypeVar

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.model.ids import ChannelId, UserId
from bot.slack.errors import translated

log = structlog.get_logger(__name__)
Key = TypeVar("Key")
Cached = TypeVar("Cached")
_PAGE = 200
_MOST_PAGES = 50
_CACHE_SECONDS = 120.0
_ABSENT_CACHE_SECONDS = 10.0
"""Shorter for "not a member", so that a newly invited person is recognised soon."""


class TtlCache(Generic[Key, Cached]):
    """The latest results by key, each with the time at which it was stored; the ``most`` newest of them."""

    def __init__(self, most: int = 1_000) -> None:
        self._most = most
        self._entries: dict[Key, tuple[float, Cached]] = {}

    def get(self, key: Key, seconds: float) -> Cached | None:
        """Return the key's result if it is younger than ``seconds``; None otherwise."""
        at, cached = self._entries.get(key, (float("-inf"), None))
        return cached if monotonic() - at < seconds else None

    def put(self, key: Key, result: Cached) -> None:
        """Store a result."""
        self._entries.pop(key, None)
        self._entries[key] = (monotonic(), result)
        if len(self._entries) > self._most:
            del self._entries[next(iter(self._entries))]


class SlackRooms:
    """The membership of channels, a part of ``bot.work.ports.Messenger``."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._public: TtlCache[ChannelId, bool] = TtlCache()
        self._members: TtlCache[ChannelId, frozenset[UserId]] = TtlCache()

    async def is_public(self, channel: ChannelId) -> bool:
        """Return whether a channel is public.

        https://docs.slack.dev/reference/methods/conversations.info
        """
        known = self._public.get(channel, _CACHE_SECONDS)
        if known is not None:
            return known
        async with translated():
            answer = await self._client.conversations_info(channel=channel)
        public = _is_public(answer.get("channel") or {})
        self._public.put(channel, public)
        return public

    async def is_member(self, channel: ChannelId, user: UserId) -> bool:
        """Return whether a user is in a channel; of a very large channel only 10,000 members are checked."""
        if user in (self._members.get(channel, _CACHE_SECONDS) or ()):
            return True
        known = self._members.get(channel, _ABSENT_CACHE_SECONDS)
        if known is None:
            known = await self._read_members(channel)
            self._members.put(channel, known)
        return user in known

    async def _read_members(self, channel: ChannelId) -> frozenset[UserId]:
        """Return a channel's members.

        https://docs.slack.dev/reference/methods/conversations.members
        """
        members: set[UserId] = set()
        options: dict[str, Any] = {"channel": channel, "limit": _PAGE}
        for _ in range(_MOST_PAGES):
            async with translated():
                answer = await self._client.conversations_members(**options)
            members |= {UserId(str(user)) for user in answer.get("members") or []}
            options["cursor"] = (answer.get("response_metadata") or {}).get("next_cursor")
            if not options["cursor"]:
                return frozenset(members)
        log.warning("too_many_members", channel=channel, read=len(members))
        return frozenset(members)


def _is_public(channel: dict[str, Any]) -> bool:
    """Return whether Slack explicitly says that the channel is public."""
    return channel.get("is_private") is False and not (channel.get("is_im") or channel.get("is_mpim"))
