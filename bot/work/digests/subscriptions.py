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
from bot.work.context import Context


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


async def subscribe(context: Context, request: SubscribeRequest) -> Message:
    """Store a subscription; a post into the channel proves it before it counts."""
    async with context.store.transaction() as tx:
        await tx.subscriptions.put(
            project=context.project,
            channel=request.channel,
            section=request.section,
            weekday=request.weekday,
            at=request.at,
            zone=request.zone,
            owner=request.user,
            now=context.clock(),
            response_url=request.response_url,
        )
    context.wake()
    return say.subscribing(request.weekday, request.at, request.zone, request.section)


async def unsubscribe(context: Context, channel: ChannelId, section: str | None) -> Message:
    """End a channel's subscription to a section, or all of them when none is named."""
    ended = left = 0
    async with context.store.transaction() as tx:
        for each in await tx.subscriptions.in_channel(channel):
            if section is None or each.section == section:
                await tx.subscriptions.change(
                    each.id, state=SubscriptionState.ENDED, next_run_at=None, response_url=None
                )
                ended += 1
            else:
                left += 1
    return say.unsubscribed(ended, left)


async def list_subscriptions(context: Context, channel: ChannelId) -> Message:
    """A channel's subscriptions."""
    async with context.store.look() as tx:
        found = await tx.subscriptions.in_channel(channel)
    return say.listed(found, context.clock())


async def digest_now(
    context: Context,
    key: RequestKey,
    channel: ChannelId,
    user: UserId,
    section: str | None,
    response_url: SecretStr | None,
) -> Message:
    """The digest of the last full week, at once, for this channel; the weekly one still comes."""
    now = context.clock()
    async with context.store.transaction() as tx:
        await tx.digests.add(
            key=f"now:{key}",
            subscription=None,
            project=context.project,
            channel=channel,
            section=section,
            week=last_full_week(now, context.analytics.zone),
            now=now,
            asked_by=user,
            response_url=response_url,
        )
    context.wake()
    return say.digest_coming(section)
