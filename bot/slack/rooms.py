"""Who can read a channel, as Slack tells; remembered for two minutes in this process."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import Any, Generic, TypeVar

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.model import ChannelId, UserId
from bot.slack.errors import translated

log = structlog.get_logger(__name__)
Kept = TypeVar("Kept")
_PAGE = 200
_MOST_PAGES = 50
_SECONDS = 120.0
_NO_SECONDS = 10.0
"""Whoever has just been invited need not wait for longer."""
_MOST_KEPT = 1_000


class _Memory(Generic[Kept]):
    """The last answers by channel, each with the time at which it was given."""

    def __init__(self) -> None:
        self._kept: OrderedDict[ChannelId, tuple[float, Kept]] = OrderedDict()

    def get(self, channel: ChannelId, seconds: float) -> Kept | None:
        """Return an answer that is not older than this."""
        at, kept = self._kept.get(channel, (float("-inf"), None))
        return kept if monotonic() - at < seconds else None

    def put(self, channel: ChannelId, answer: Kept) -> None:
        self._kept[channel] = (monotonic(), answer)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)


class SlackRooms:
    """Implements ``bot.work.ports.Rooms``."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._public: _Memory[bool] = _Memory()
        self._members: _Memory[frozenset[UserId]] = _Memory()

    async def is_public(self, channel: ChannelId) -> bool:
        """https://docs.slack.dev/reference/methods/conversations.info"""
        known = self._public.get(channel, _SECONDS)
        if known is not None:
            return known
        async with translated():
            answer = await self._client.conversations_info(channel=channel)
        public = _is_public(answer.get("channel") or {})
        self._public.put(channel, public)
        return public

    async def is_member(self, channel: ChannelId, user: UserId) -> bool:
        """Look through the channel's members; of a very large channel only the first are read."""
        if user in (self._members.get(channel, _SECONDS) or ()):
            return True
        known = self._members.get(channel, _NO_SECONDS)
        if known is None:
            known = await self._read_members(channel)
            self._members.put(channel, known)
        return user in known

    async def _read_members(self, channel: ChannelId) -> frozenset[UserId]:
        """https://docs.slack.dev/reference/methods/conversations.members"""
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
    """What Slack does not call public in so many words is not."""
    return channel.get("is_private") is False and not (channel.get("is_im") or channel.get("is_mpim"))
