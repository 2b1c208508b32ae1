"""What becomes of a subscription when its post arrives, or when Slack refuses it."""

from __future__ import annotations

from datetime import datetime

import structlog

from bot.messages import subscriptions as say
from bot.model import (
    Delivery,
    NewDelivery,
    Period,
    Refusal,
    Subscription,
    SubscriptionState,
    last_full_week,
)
from bot.store import Transaction
from bot.work.context import WorkerContext

log = structlog.get_logger(__name__)


def week_key(subscription: Subscription, week: Period) -> str:
    """Under which a subscription's digest of a week is written, so that there is one."""
    return f"{subscription.id}:{week.first.isoformat()}"


def first_run(context: WorkerContext, tx: Transaction, subscription: Subscription) -> datetime:
    """When a subscription that is new or changed runs first: a week that it has told is not told again."""
    run_at = subscription.weekly.next_after(context.clock())
    week = last_full_week(run_at, context.analytics.zone)
    known = tx.digests.has_key(week_key(subscription, week))
    return subscription.weekly.next_after(run_at) if known else run_at


def posted(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    """The first post proves the subscription; a later one is its last result."""
    subscription = _of(tx, delivery)
    now = context.clock()
    if delivery.what.digest is None:
        next_run_at = first_run(context, tx, subscription)
        tx.subscriptions.change(
            subscription.id,
            was=SubscriptionState.PROVING,
            state=SubscriptionState.ACTIVE,
            next_run_at=next_run_at,
            response_url=None,
        )
        return
    tx.subscriptions.change(subscription.id, last_result="posted", last_run_at=now)


def refused(context: WorkerContext, tx: Transaction, delivery: Delivery, meaning: Refusal, code: str) -> None:
    """A first post that is refused subscribes nothing; a later one pauses, and the owner is told once.

    A refused token is nobody's channel: it pauses nothing.
    """
    subscription, now = _of(tx, delivery), context.clock()
    if delivery.what.digest is None:
        changed = tx.subscriptions.change(
            subscription.id, was=SubscriptionState.PROVING, state=SubscriptionState.ENDED
        )
        if changed:
            _tell_owner(
                tx,
                context,
                subscription,
                NewDelivery.private(
                    f"{delivery.what.key}:refused",
                    subscription.channel,
                    subscription.owner,
                    say.cannot_subscribe(meaning, code, context.bot_name),
                    response_url=tx.subscriptions.response_url(subscription.id),
                ),
            )
        return
    tx.subscriptions.change(subscription.id, last_result=f"not posted: Slack said {code}", last_run_at=now)
    paused = not meaning.needs_operator and tx.subscriptions.change(
        subscription.id, was=SubscriptionState.ACTIVE, state=SubscriptionState.PAUSED, next_run_at=None
    )
    if paused:
        key, message = f"{delivery.what.key}:paused", say.paused(subscription, code)
        note = NewDelivery.private(key, subscription.channel, subscription.owner, message)
        _tell_owner(tx, context, subscription, note)


def _tell_owner(
    tx: Transaction, context: WorkerContext, subscription: Subscription, note: NewDelivery
) -> None:
    log.warning("subscription_refused", subscription=subscription.id, channel=subscription.channel)
    tx.outbox.add(note, context.clock())


def _of(tx: Transaction, delivery: Delivery) -> Subscription:
    subscription = tx.subscriptions.get(delivery.what.subscription) if delivery.what.subscription else None
    if subscription is None:
        raise LookupError(f"delivery {delivery.id} belongs to no subscription")
    return subscription
