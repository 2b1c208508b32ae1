"""The kinds and the members of channels, as Slack reports them; cached for two minutes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.ids import ChannelId, Refusal, UserId
from bot.ports import SlackRefused
from bot.slack.client import answered, pages
from bot.ttl_cache import TtlCache

log = structlog.get_logger(__name__)
_PAGE_SIZE = 200
_MAX_PAGES = 50
_CACHE_SECONDS = 120.0
_ABSENT_CACHE_SECONDS = 10.0
"""How long the absence of a member is cached: shorter, so that an invitation counts soon."""


@dataclass(frozen=True, slots=True)
class _Channel:
    """The kind of a channel."""

    is_public: bool
    is_shared_outside: bool


class SlackRooms:
    """The part of ``bot.ports.Messenger`` about the members of channels."""

    def __init__(self, client: AsyncWebClient, clock: Callable[[], float] = monotonic) -> None:
        self._client = client
        self._channels: TtlCache[ChannelId, _Channel] = TtlCache(clock=clock)
        self._members: TtlCache[ChannelId, frozenset[UserId]] = TtlCache(clock=clock)

    async def is_public(self, channel: ChannelId) -> bool:
        """Return whether Slack explicitly reports a channel as public."""
        return (await self._describe(channel)).is_public

    async def is_shared_outside(self, channel: ChannelId) -> bool:
        """Return whether Slack reports a channel as shared with another organisation."""
        return (await self._describe(channel)).is_shared_outside

    async def _describe(self, channel: ChannelId) -> _Channel:
        """Return the kind of a channel.

        https://docs.slack.dev/reference/objects/conversation-object
        """
        known = self._channels.get(channel, _CACHE_SECONDS)
        if known is None:
            facts = await self._channel(channel)
            is_direct = bool(facts.get("is_im") or facts.get("is_mpim"))
            is_public = facts.get("is_private") is False and not is_direct
            known = _Channel(is_public, bool(facts.get("is_ext_shared")))
            self._channels.put(channel, known)
        return known

    async def find_refusal(self, channel: ChannelId) -> Refusal | None:
        """Return the reason why the bot cannot post in a channel; None if Slack reports none."""
        try:
            facts = await self._channel(channel)
        except SlackRefused as refusal:
            if refusal.meaning in (Refusal.NOT_VISIBLE, Refusal.NOT_A_MEMBER):
                return refusal.meaning
            raise
        if facts.get("is_archived"):
            return Refusal.ARCHIVED
        return Refusal.NOT_A_MEMBER if facts.get("is_member") is False else None

    async def _channel(self, channel: ChannelId) -> dict[str, Any]:
        """Return a channel object from Slack.

        https://docs.slack.dev/reference/methods/conversations.info
        """
        answer = await answered(self._client.conversations_info(channel=channel))
        return answer.get("channel") or {}

    async def is_member(self, channel: ChannelId, user: UserId) -> bool:
        """Return whether a user is in a channel.

        In a very large channel only 10,000 members are checked.
        """
        if user in (self._members.get(channel, _CACHE_SECONDS) or ()):
            return True
        members = self._members.get(channel, _ABSENT_CACHE_SECONDS)
        if members is None:
            members = await self._read_members(channel)
            self._members.put(channel, members)
        return user in members

    async def _read_members(self, channel: ChannelId) -> frozenset[UserId]:
        """Return a channel's members.

        https://docs.slack.dev/reference/methods/conversations.members
        """
        members: set[UserId] = set()
        is_cut = False
        method = self._client.conversations_members
        async for page, has_more in pages(method, _MAX_PAGES, channel=channel, limit=_PAGE_SIZE):
            members.update(UserId(str(user)) for user in page.get("members") or [])
            is_cut = has_more
        if is_cut:
            log.warning("too_many_members", channel=channel, read=len(members))
        return frozenset(members)
