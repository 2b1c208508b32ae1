"""Subscribe a channel to the weekly digest, end that, and ask for a digest at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time

from bot.messages import subscriptions as say
from bot.model import (
    ChannelId,
    Message,
    Origin,
    SubscriptionState,
    Weekday,
    last_full_week,
)
from bot.store import Transaction
from bot.work.context import Context


@dataclass(frozen=True, slots=True)
class SubscribeRequest:
    """A request for a weekly digest in a channel. ``zone`` is None for the time zone of the requester."""

    origin: Origin
    weekday: Weekday
    at: time
    zone: str | None
    section: str | None


async def subscribe(context: Context, request: SubscribeRequest) -> Message:
    """Store a subscription. It becomes active when the first post into the channel has arrived."""
    await context.store.write(
        lambda tx: tx.subscriptions.put(
            request.origin,
            project=context.project,
            section=request.section,
            weekday=request.weekday,
            at=request.at,
            zone=request.zone,
            now=context.clock(),
        )
    )
    context.wake()
    return say.subscribing(request.weekday, request.at, request.zone, request.section)


async def unsubscribe(context: Context, channel: ChannelId, section: str | None) -> Message:
    """End a channel's subscription to a section, or all its subscriptions if ``section`` is None."""

    def end(tx: Transaction) -> tuple[int, int]:
        known = tx.subscriptions.in_channel(channel)
        ended = [each for each in known if section is None or each.section == section]
        for each in ended:
            tx.subscriptions.change(
                each.id, state=SubscriptionState.ENDED, next_run_at=None, response_url=None
            )
        return len(ended), len(known) - len(ended)

    return say.unsubscribed(*await context.store.write(end))


async def list_subscriptions(context: Context, channel: ChannelId) -> Message:
    """Return the list of a channel's subscriptions."""
    found = await context.store.read(lambda tx: tx.subscriptions.in_channel(channel))
    return say.listed(found, context.clock())


async def digest_now(context: Context, origin: Origin, section: str | None) -> Message:
    """Request a digest of the last full week for this channel, besides the weekly ones."""
    now = context.clock()
    await context.store.write(
        lambda tx: tx.digests.add(
            key=f"now:{origin.key}",
            subscription=None,
            project=context.project,
            channel=origin.channel,
            section=section,
            week=last_full_week(now, context.analytics.zone),
            now=now,
            origin=origin,
        )
    )
    context.wake()
    return say.digest_coming(section)
