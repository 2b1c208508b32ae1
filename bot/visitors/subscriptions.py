"""A channel's subscriptions to the weekly digest, and a digest at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import structlog

from bot.access.admit import Allowed, zone_of
from bot.context import Context, WorkerContext
from bot.ids import ChannelId, Message, ProjectId, RequestKey, SubscriptionId, UserId
from bot.jobs.model.prompts import Act
from bot.jobs.store.audit import Audit
from bot.outbox.model import Delivery, NewDelivery, NotPosted
from bot.outbox.store import Outbox
from bot.ports import Origin
from bot.store import Transaction
from bot.visitors.ask import ask_question
from bot.visitors.digests import digest_query
from bot.visitors.messages import digests as digest_messages
from bot.visitors.messages import subscriptions as subscription_messages
from bot.visitors.model.periods import last_full_week
from bot.visitors.model.questions import NOBODY, QuestionKind
from bot.visitors.model.readings import ReadingProblem
from bot.visitors.model.subscriptions import (
    Subscription,
    SubscriptionChange,
    SubscriptionState,
    WeeklyRequest,
    WeeklyTime,
)
from bot.visitors.store import READ_AHEAD, Questions, Subscriptions

log = structlog.get_logger(__name__)
_ZONE_SECONDS = 1.0
"""Time for Slack to return the zone of a requester, who waits."""
_LATEST = timedelta(hours=24)
"""A digest that is later than this is skipped."""
_ACTIVE = SubscriptionState.ACTIVE


_PAUSED = SubscriptionState.PAUSED
_ENDED = SubscriptionState.ENDED


_CHANGES = {
    SubscriptionChange.UNSUBSCRIBE: ((_ACTIVE, _PAUSED), _ENDED, Act.UNSUBSCRIBED),
    SubscriptionChange.PAUSE: ((_ACTIVE,), _PAUSED, Act.PAUSED),
    SubscriptionChange.RESUME: ((_PAUSED,), _ACTIVE, Act.RESUMED),
}
"""For each change the states before it, the state after it, and its name in the audit log."""


async def subscribe(
    context: Context, allowed: Allowed, request: WeeklyRequest, project: ProjectId | None = None
) -> Message:
    """Subscribe a channel, or change its subscription. A first post proves that the bot can post there.

    ``project``: None for that of the channel.
    """
    origin, now = allowed.origin, context.clock()
    weekly = WeeklyTime(
        request.weekday, request.at, request.zone or await _zone_or_utc(context, origin.user)
    )

    def put(tx: Transaction) -> Message:
        project_id = project or context.project_of(tx, origin.channel).id
        entry, subscriptions = context.projects.shown(project_id), Subscriptions(tx)
        current = [
            subscription
            for subscription in subscriptions.in_channel(origin.channel)
            if (subscription.project, subscription.section) == (project_id, request.section)
        ]
        for subscription in current:
            if subscription.weekly == weekly and subscription.state is SubscriptionState.ACTIVE:
                return subscription_messages.already_subscribed(subscription, entry)
        run_at = weekly.next_after(now)
        subscription = subscriptions.put(origin, project_id, request.section, weekly, now, run_at)
        Questions(tx).withdraw(subscription.id)
        if Questions(tx).has_key(
            _digest_key(context, subscription)
        ):  # this week's digest was posted
            run_at = weekly.next_after(run_at)
            subscriptions.change(subscription.id, next_run_at=run_at)
        Audit(tx).subscribed(Act.SUBSCRIBED, origin, subscription.id, project_id, now)
        week = last_full_week(context.today(run_at))
        message = subscription_messages.first_post(subscription, run_at, week, now, entry)
        post = NewDelivery.post(f"subscription:{origin.key}", origin.channel, origin.user, message)
        Outbox(tx).add(replace(post, subscription=subscription.id), now)
        return subscription_messages.subscribing(subscription, entry, changes=bool(current))

    return await context.write(put)


async def _zone_or_utc(context: Context, user: UserId) -> str:
    try:
        async with asyncio.timeout(_ZONE_SECONDS):
            return await zone_of(context, user)
    except TimeoutError:  # the first post shows the zone
        return "UTC"


def _digest_key(context: Context, subscription: Subscription) -> RequestKey:
    """Return the unique key of a subscription's next digest."""
    run_at = subscription.next_run_at or context.clock()
    week = last_full_week(context.today(run_at))
    return RequestKey(f"digest:{subscription.id}:{week.first}")


async def change_subscription(
    context: Context,
    allowed: Allowed,
    change: SubscriptionChange,
    *,
    number: SubscriptionId | None = None,
    section: str | None = None,
    project: ProjectId | None = None,
) -> Message:
    """Pause, resume or end a channel's subscription, or ask which one.

    Args:
        context: the context.
        allowed: the requester.
        change: the change.
        number: only this subscription; None for any.
        section: only subscriptions to it; "" for the whole site, None for any.
        project: only subscriptions to it; None for any.
    """
    origin = allowed.origin
    now = context.clock()
    states, state, act = _CHANGES[change]

    def is_meant(one: Subscription) -> bool:
        if number is not None:
            return one.id == number
        is_one = section in (None, one.section or "") and project in (None, one.project)
        return is_one and one.state in states

    def run(tx: Transaction) -> Message:
        current = Subscriptions(tx).in_channel(origin.channel)
        meant = [one for one in current if is_meant(one)]
        if len(meant) > 1:
            return subscription_messages.which_to_change(change, meant, context.projects)
        for one in meant:
            run_at = one.weekly.next_after(now) if change is SubscriptionChange.RESUME else None
            Subscriptions(tx).change(one.id, state=state, next_run_at=run_at)
            Questions(tx).withdraw(one.id)
            Audit(tx).subscribed(act, origin, one.id, one.project, now)
        others = len(current) - len(meant)
        return subscription_messages.subscription_changed(
            change, meant[0] if meant else None, others, now
        )

    return await context.store.write(run)


async def list_subscriptions(context: Context, channel: ChannelId) -> Message:
    current = await context.store.read(lambda tx: Subscriptions(tx).in_channel(channel))
    return subscription_messages.subscription_list(current, context.clock(), context.projects)


async def digest_now(
    context: Context, allowed: Allowed, section: str | None, project: ProjectId | None
) -> Message:
    """Ask for the digest of the last full week in this channel, once a minute at most."""
    origin, now = allowed.origin, context.clock()

    def add(tx: Transaction) -> Message:
        project_id = project or context.project_of(tx, origin.channel).id
        key = RequestKey(f"digest now:{project_id}:{origin.channel}:{section}:{now:%Y-%m-%dT%H:%M}")
        query = digest_query(last_full_week(context.today(now)), section)
        ask_question(
            context, tx, replace(origin, key=key), query, project_id, QuestionKind.DIGEST, now
        )
        return digest_messages.digest_coming(section, context.projects.shown(project_id))

    return await context.write(add)


async def plan_digests(context: WorkerContext) -> int:
    """Ask for the digests that come soon, so that their numbers are read by then."""
    if await context.store.write(lambda tx: _plan(context, tx)):
        context.wake()
    return 0  # a planned digest becomes due by itself


def _plan(context: WorkerContext, tx: Transaction) -> bool:
    now = context.clock()
    coming = Subscriptions(tx).due(now + READ_AHEAD)
    for subscription in coming:
        run_at, key = subscription.next_run_at or now, _digest_key(context, subscription)
        week = last_full_week(context.today(run_at))
        if now - run_at > _LATEST:
            result = f"skipped: {ReadingProblem.DOWN}"
            Subscriptions(tx).change(subscription.id, last_result=result, last_run_at=run_at)
            log.warning("digest_skipped", subscription=subscription.id, run_at=run_at.isoformat())
        elif run_at <= now or week.is_final(now, context.settings.analytics_zone):
            origin = Origin(key, NOBODY, subscription.channel)
            query = digest_query(week, subscription.section)
            if not Questions(tx).has_key(key):
                source = subscription.project, QuestionKind.DIGEST, run_at, subscription.id
                ask_question(context, tx, origin, query, *source)
        if run_at <= now:
            run_at = subscription.weekly.next_after(now)
            Subscriptions(tx).change(subscription.id, next_run_at=run_at)
    return bool(coming)


def on_posted(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    """Store that a digest was posted."""
    if delivery.what.subscription and delivery.what.question:
        now = context.clock()
        Subscriptions(tx).change(delivery.what.subscription, last_result="posted", last_run_at=now)


def on_refused(
    context: WorkerContext, tx: Transaction, delivery: Delivery, refusal: NotPosted
) -> None:
    """Pause a subscription whose post Slack refuses, unless only an operator can help. Inform the owner."""
    number = delivery.what.subscription
    subscription = Subscriptions(tx).get(number) if number else None
    if subscription is None or subscription.state is not SubscriptionState.ACTIVE:
        return
    entry, result = context.projects.shown(subscription.project), f"not posted: {refusal.meaning}"
    Subscriptions(tx).change(subscription.id, last_result=result, last_run_at=refusal.at)
    if refusal.meaning.needs_operator:
        message = subscription_messages.not_posted(subscription, refusal, context.bot_name, entry)
    else:
        message = subscription_messages.paused(subscription, refusal, context.bot_name, entry)
        Subscriptions(tx).change(subscription.id, state=SubscriptionState.PAUSED, next_run_at=None)
        Questions(tx).withdraw(subscription.id)
    log.warning("subscription_refused", subscription=subscription.id, channel=subscription.channel)
    key = f"{delivery.what.key}:refused"
    Outbox(tx).add(
        NewDelivery.private(key, subscription.channel, subscription.owner, message), refusal.at
    )
