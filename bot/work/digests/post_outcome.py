"""What becomes of a subscription when its post arrives, or when Slack refuses it."""

from __future__ import annotations

from datetime import datetime

import structlog

from bot.messages import subscriptions as say
from bot.model import (
    Delivery,
    DeliveryKind,
    NewDelivery,
    Period,
    Subscription,
    SubscriptionState,
    last_full_week,
)
from bot.store import Tables
from bot.work.worker_context import Workshop

log = structlog.get_logger(__name__)


def week_key(subscription: Subscription, week: Period) -> str:
    """Under which a subscription's digest of a week is written, so that there is one."""
    return f"{subscription.id}:{week.first.isoformat()}"


async def first_run(shop: Workshop, tables: Tables, subscription: Subscription) -> datetime:
    """When a subscription that is new or changed runs first: a week that it has told is not told again."""
    run_at = subscription.weekly.next_after(shop.clock())
    week = last_full_week(run_at, shop.analytics.zone)
    known = await tables.digests.has_key(week_key(subscription, week))
    return subscription.weekly.next_after(run_at) if known else run_at


async def posted(shop: Workshop, tables: Tables, delivery: Delivery) -> None:
    """The first post proves the subscription; a later one is its last result."""
    subscription = await _of(tables, delivery)
    now = shop.clock()
    if delivery.digest is None:
        next_run_at = await first_run(shop, tables, subscription)
        await tables.subscriptions.change(
            subscription.id,
            was=SubscriptionState.PROVING,
            state=SubscriptionState.ACTIVE,
            next_run_at=next_run_at,
            response_url=None,
        )
        return
    await tables.subscriptions.change(subscription.id, last_result="posted", last_run_at=now)


async def refused(shop: Workshop, tables: Tables, delivery: Delivery, code: str, *, is_token: bool) -> None:
    """A first post that is refused subscribes nothing; a later one pauses, and the owner is told once.

    A refused token is nobody's channel: it pauses nothing.
    """
    subscription, now = await _of(tables, delivery), shop.clock()
    if delivery.digest is None:
        changed = await tables.subscriptions.change(
            subscription.id, was=SubscriptionState.PROVING, state=SubscriptionState.ENDED
        )
        if changed:
            await _tell_owner(
                tables,
                shop,
                subscription,
                NewDelivery(
                    f"{delivery.key}:refused",
                    DeliveryKind.PRIVATE,
                    subscription.channel,
                    user=subscription.owner,
                    message=say.cannot_subscribe(code, shop.bot_name),
                    response_url=await tables.subscriptions.response_url(subscription.id),
                ),
            )
        return
    await tables.subscriptions.change(
        subscription.id, last_result=f"not posted: Slack said {code}", last_run_at=now
    )
    paused = not is_token and await tables.subscriptions.change(
        subscription.id, was=SubscriptionState.ACTIVE, state=SubscriptionState.PAUSED, next_run_at=None
    )
    if paused:
        note = NewDelivery(
            f"{delivery.key}:paused",
            DeliveryKind.PRIVATE,
            subscription.channel,
            user=subscription.owner,
            message=say.paused(subscription, code),
        )
        await _tell_owner(tables, shop, subscription, note)


async def _tell_owner(tables: Tables, shop: Workshop, subscription: Subscription, note: NewDelivery) -> None:
    log.warning("subscription_refused", subscription=subscription.id, channel=subscription.channel)
    await tables.deliveries.add(note, shop.clock())


async def _of(tables: Tables, delivery: Delivery) -> Subscription:
    subscription = await tables.subscriptions.get(delivery.subscription) if delivery.subscription else None
    if subscription is None:
        raise LookupError(f"delivery {delivery.id} belongs to no subscription")
    return subscription
