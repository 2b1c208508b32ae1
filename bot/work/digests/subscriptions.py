"""Subscribing a channel to the weekly digest, ending that, and asking for a digest now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time

from pydantic import SecretStr

from bot.messages import subscriptions as say
from bot.model import (
    ChannelId,
    Message,
    RequestKey,
    SubscriptionState,
    UserId,
    Weekday,
    last_full_week,
)
from bot.work.context import Desk


@dataclass(frozen=True, slots=True)
class SubscribeRequest:
    """A weekly digest for a channel; without a ``zone`` at the time of who asks."""

    channel: ChannelId
    user: UserId
    weekday: Weekday
    at: time
    zone: str | None
    section: str | None
    response_url: SecretStr | None


async def subscribe(desk: Desk, request: SubscribeRequest) -> Message:
    """Store a subscription; a post into the channel proves it before it counts."""
    async with desk.registry.transaction() as tables:
        await tables.subscriptions.put(
            project=desk.project,
            channel=request.channel,
            section=request.section,
            weekday=request.weekday,
            at=request.at,
            zone=request.zone,
            owner=request.user,
            now=desk.clock(),
            response_url=request.response_url,
        )
    desk.wake()
    return say.subscribing(request.weekday, request.at, request.zone, request.section)


async def unsubscribe(desk: Desk, channel: ChannelId, section: str | None) -> Message:
    """End a channel's subscription to a section, or all of them when none is named."""
    ended = left = 0
    async with desk.registry.transaction() as tables:
        for each in await tables.subscriptions.in_channel(channel):
            if section is None or each.section == section:
                await tables.subscriptions.change(
                    each.id, state=SubscriptionState.ENDED, next_run_at=None, response_url=None
                )
                ended += 1
            else:
                left += 1
    return say.unsubscribed(ended, left)


async def list_subscriptions(desk: Desk, channel: ChannelId) -> Message:
    """A channel's subscriptions."""
    async with desk.registry.look() as tables:
        found = await tables.subscriptions.in_channel(channel)
    return say.listed(found, desk.clock())


async def digest_now(
    desk: Desk,
    key: RequestKey,
    channel: ChannelId,
    user: UserId,
    section: str | None,
    response_url: SecretStr | None,
) -> Message:
    """The digest of the last full week, at once, for this channel; the weekly one still comes."""
    now = desk.clock()
    async with desk.registry.transaction() as tables:
        await tables.digests.add(
            key=f"now:{key}",
            subscription=None,
            project=desk.project,
            channel=channel,
            section=section,
            week=last_full_week(now, desk.analytics.zone),
            now=now,
            asked_by=user,
            response_url=response_url,
        )
    desk.wake()
    return say.digest_coming(section)
