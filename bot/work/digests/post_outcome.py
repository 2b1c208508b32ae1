"""Update a subscription when its post has arrived, or when Slack has refused it."""

from __future__ import annotations

from datetime import datetime

import structlog

from bot.messages import subscriptions as say
from bot.model.digests import Subscription, SubscriptionState
from bot.model.outbox import Delivery, NewDelivery
from bot.model.period import Period, last_full_week
from bot.model.refusal import Refusal
from bot.store import Transaction
from bot.work.context import WorkerContext

log = structlog.get_logger(__name__)


def week_key(subscription: Subscription, week: Period) -> str:
    """Return the unique key of a subscription's digest of a week."""
    return f"{subscription.id}:{week.first.isoformat()}"


def first_run(context: WorkerContext, tx: Transaction, subscription: Subscription) -> datetime:
    """Return when a new or changed subscription first runs. Skip a week that already has a digest."""
    run_at = subscription.weekly.next_after(context.clock())
    week = last_full_week(run_at, context.analytics.zone)
    known = tx.digests.has_key(week_key(subscription, week))
    return subscription.weekly.next_after(run_at) if known else run_at


def posted(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    """Activate the subscription after its first post; note the result after a later one."""
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
    """End the subscription if its first post is refused; pause it if a later one is. Tell the owner.

    A refusal that only the operator can solve, such as a revoked token, does not pause the subscription.
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
    shown = context.projects.shown(subscription.project)
    if paused:
        what, message = "paused", say.paused(subscription, code, shown)
    elif meaning.needs_operator:
        what, message = "refused", say.not_posted(subscription, code, shown)
    else:
        return
    key = f"{delivery.what.key}:{what}"
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
