"""A channel's subscriptions to the weekly digest, and a digest at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from bot.access.admit import Allowed, asking_slack, zone_of
from bot.context import Context, WorkerContext
from bot.ids import (
    ChannelId,
    Message,
    ProjectId,
    QuestionId,
    Refusal,
    RequestKey,
    UserId,
    is_direct_message,
)
from bot.jobs.model.prompts import Act
from bot.jobs.store.audit import Audit
from bot.outbox.model import Delivery, NewDelivery, NotPosted
from bot.outbox.store import Outbox
from bot.ports import Origin, SlackError, SlackRefused, ThreadRef
from bot.store import Transaction
from bot.visitors.ask import ask_question
from bot.visitors.digests import answer_key, digest_query
from bot.visitors.messages import digests as digest_messages
from bot.visitors.messages import subscriptions as subscription_messages
from bot.visitors.model.periods import Period, day_start, last_full_week
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
_AGAIN_AFTER = timedelta(minutes=1)
"""Pause before the same digest may be requested again."""
MAX_LATE = timedelta(hours=24)
"""A digest that is later than this is skipped."""
_ABSENT = (Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE)


# ---- words of the command


async def subscribe(
    context: Context, allowed: Allowed, request: WeeklyRequest, project: ProjectId | None = None
) -> Message | None:
    """Subscribe a channel, or change its subscription.

    A first post proves that the bot can post there. Return the reply; None in direct messages,
    where the first post follows at once. ``project``: None for that of the channel.
    """
    origin = allowed.origin
    is_absent, zone = await asyncio.gather(
        _is_absent(context, origin.channel), _find_zone(context, origin.user, request)
    )
    if is_absent:
        return subscription_messages.not_in_channel(context.bot_name)
    weekly = WeeklyTime(request.weekday, request.time_of_day, zone)

    def put(tx: Transaction) -> Message | None:
        project_id = project or context.project_of(tx, origin.channel).id
        return _put(context, tx, origin, project_id, request.section, weekly)

    return await context.write(put)


async def _find_zone(context: Context, user: UserId, request: WeeklyRequest) -> str:
    """Return the requested time zone, else the requester's, else UTC."""
    if request.zone:
        return request.zone
    try:
        async with asyncio.timeout(_ZONE_SECONDS):
            return await zone_of(context, user)
    except TimeoutError:  # the first post shows the zone
        return "UTC"


async def _is_absent(context: Context, channel: ChannelId) -> bool:
    """Return whether Slack reports that the bot isn't in a channel that it can't join by itself."""
    if is_direct_message(channel):
        return False
    try:
        async with asking_slack():
            if await context.messenger.is_public(channel):
                return False
            return not await context.messenger.is_member(channel, context.bot_user)
    except SlackRefused as refused:
        return refused.meaning in _ABSENT
    except (SlackError, TimeoutError):  # the post itself shows it
        return False


def _put(
    context: Context,
    tx: Transaction,
    origin: Origin,
    project: ProjectId,
    section: str | None,
    weekly: WeeklyTime,
) -> Message | None:
    """Store a subscription and queue its first post. Return the reply, if there is one."""
    now = context.clock()
    entry = context.projects.shown(project)
    same = [
        one
        for one in Subscriptions(tx).in_channel(origin.channel)
        if (one.project, one.section) == (project, section)
    ]
    for one in same:
        if one.weekly == weekly and one.state is SubscriptionState.ACTIVE:
            return subscription_messages.already_subscribed(one, entry)
    run_at = weekly.next_after(now)
    subscription = Subscriptions(tx).put(origin, project, section, weekly, now, run_at)
    Questions(tx).withdraw(subscription.id)
    if Questions(tx).has_key(_digest_key(subscription, run_at)):  # this week's digest was posted
        run_at = weekly.next_after(run_at)
        Subscriptions(tx).change(subscription.id, next_run_at=run_at)
    Audit(tx).subscribed(Act.SUBSCRIBED, origin, subscription.id, project, now)
    week = weekly.week_before(run_at)
    message = subscription_messages.first_post(
        subscription, run_at, week, now, entry, _late_end(context, week, run_at)
    )
    post = NewDelivery.post(f"subscription:{origin.key}", origin.channel, origin.user, message)
    Outbox(tx).add(replace(post, subscription=subscription.id), now)
    if is_direct_message(origin.channel):
        return None
    return subscription_messages.subscribing(subscription, entry, changes=bool(same))


def _late_end(context: Context, week: Period, run_at: datetime) -> datetime | None:
    """Return when a week ends at the docs service if that is after the digest; otherwise None."""
    ends_at = day_start(week.end, context.settings.analytics_zone)
    return ends_at if ends_at > run_at else None


def _digest_key(subscription: Subscription, run_at: datetime) -> RequestKey:
    """Return the unique key of a subscription's digest of the week before ``run_at``."""
    week = subscription.weekly.week_before(run_at)
    return RequestKey(f"digest:{subscription.id}:{week.first}")


_CHANGES = {
    SubscriptionChange.UNSUBSCRIBE: (
        (SubscriptionState.ACTIVE, SubscriptionState.PAUSED),
        SubscriptionState.ENDED,
        Act.UNSUBSCRIBED,
    ),
    SubscriptionChange.PAUSE: ((SubscriptionState.ACTIVE,), SubscriptionState.PAUSED, Act.PAUSED),
    SubscriptionChange.RESUME: ((SubscriptionState.PAUSED,), SubscriptionState.ACTIVE, Act.RESUMED),
}
"""For each change the states before it, the state after it, and its name in the audit log."""


async def change_subscriptions(
    context: Context,
    allowed: Allowed,
    change: SubscriptionChange,
    *,
    section: str | None = None,
    project: ProjectId | None = None,
) -> Message:
    """Pause, resume or end a channel's subscriptions.

    Args:
        context: the context.
        allowed: the requester.
        change: the change.
        section: only subscriptions to it; "" for the whole site, None for any.
        project: only subscriptions to it; None for any.
    """
    origin = allowed.origin
    now = context.clock()
    states, state, act = _CHANGES[change]

    def is_meant(one: Subscription) -> bool:
        is_in_section = section in (None, one.section or "")
        return is_in_section and project in (None, one.project) and one.state in states

    def run(tx: Transaction) -> Message:
        current = Subscriptions(tx).in_channel(origin.channel)
        meant = [one for one in current if is_meant(one)]
        for one in meant:
            run_at = one.weekly.next_after(now) if change is SubscriptionChange.RESUME else None
            Subscriptions(tx).change(one.id, state=state, next_run_at=run_at, posted_at=None)
            Questions(tx).withdraw(one.id)
            Audit(tx).subscribed(act, origin, one.id, one.project, now)
        others = len(current) - len(meant)
        return subscription_messages.subscriptions_changed(change, meant, others, now)

    return await context.store.write(run)


async def list_subscriptions(context: Context, channel: ChannelId) -> Message:
    current = await context.store.read(lambda tx: Subscriptions(tx).in_channel(channel))
    return subscription_messages.subscription_list(current, context.clock(), context.projects)


async def digest_now(
    context: Context, allowed: Allowed, section: str | None, project: ProjectId | None
) -> Message | None:
    """Ask for the digest of the last full week in this channel, once a minute at most.

    Return the reply; None in direct messages, where the digest follows.
    """
    origin = allowed.origin
    if await _is_absent(context, origin.channel):
        return subscription_messages.not_in_channel(context.bot_name)

    def add(tx: Transaction) -> Message | None:
        now = context.clock()
        project_id = project or context.project_of(tx, origin.channel).id
        recent = Questions(tx).requested_digest(
            project_id, origin.channel, section, now - _AGAIN_AFTER
        )
        if recent is not None:
            link = _digest_link(context, tx, recent, origin.channel)
            return digest_messages.digest_requested_before(link)
        key = RequestKey(f"digest now:{origin.key}")
        query = digest_query(last_full_week(context.today(now)), section)
        ask_question(
            context, tx, replace(origin, key=key), query, project_id, QuestionKind.DIGEST, now
        )
        if is_direct_message(origin.channel):
            return None
        return digest_messages.digest_coming(section, context.projects.shown(project_id))

    return await context.write(add)


def _digest_link(
    context: Context, tx: Transaction, question: QuestionId, channel: ChannelId
) -> str | None:
    """Return the address of a digest; None if it is not posted yet."""
    ts = Outbox(tx).posted_ts(answer_key(question))
    return context.permalink(ThreadRef(channel, ts), ts) if ts else None


# ---- the worker, and deliveries


async def plan_digests(context: WorkerContext) -> int:
    """Ask for the digests that come soon, so that their numbers are read by then."""
    if await context.store.write(lambda tx: _plan(context, tx)):
        context.wake()
    return 0  # a planned digest becomes due by itself


def _plan(context: WorkerContext, tx: Transaction) -> bool:
    """Ask for all digests of the next hours. Return whether there are any."""
    now = context.clock()
    coming = Subscriptions(tx).due(now + READ_AHEAD)
    for subscription in coming:
        run_at = subscription.next_run_at or now
        if now - run_at > MAX_LATE:
            skip_digest(tx, subscription, run_at)
        else:
            _ask_digest(context, tx, subscription, run_at)
        if run_at <= now:
            next_run_at = subscription.weekly.next_after(now)
            Subscriptions(tx).change(subscription.id, next_run_at=next_run_at)
    return bool(coming)


def skip_digest(tx: Transaction, subscription: Subscription, run_at: datetime) -> None:
    """Record that the bot was not running when a digest was due."""
    result = f"skipped: {ReadingProblem.DOWN}"
    Subscriptions(tx).change(subscription.id, last_result=result, last_run_at=run_at)
    log.warning("digest_skipped", subscription=subscription.id, run_at=run_at.isoformat())


def _ask_digest(
    context: Context, tx: Transaction, subscription: Subscription, run_at: datetime
) -> None:
    """Ask for a digest once: ahead if its week is final by now, otherwise at its time."""
    now = context.clock()
    week = subscription.weekly.week_before(run_at)
    key = _digest_key(subscription, run_at)
    is_early = run_at > now and not week.is_final(now, context.settings.analytics_zone)
    if is_early or Questions(tx).has_key(key):
        return
    ask_question(
        context,
        tx,
        Origin(key, NOBODY, subscription.channel),
        digest_query(week, subscription.section),
        subscription.project,
        QuestionKind.DIGEST,
        run_at,
        subscription.id,
    )


def on_posted(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    """Store that a digest, or the first post, was posted."""
    number = delivery.what.subscription
    subscription = Subscriptions(tx).get(number) if number else None
    if subscription is None:
        return
    now = context.clock()
    if subscription.posted_at is None:
        Subscriptions(tx).change(subscription.id, posted_at=now)
    if delivery.what.question:
        Subscriptions(tx).change(subscription.id, last_result="posted", last_run_at=now)


def on_refused(
    context: WorkerContext, tx: Transaction, delivery: Delivery, refusal: NotPosted
) -> None:
    """Pause a subscription whose post Slack refuses, unless only an operator can help.

    Inform the owner.
    """
    number = delivery.what.subscription
    subscription = Subscriptions(tx).get(number) if number else None
    if subscription is None or subscription.state is not SubscriptionState.ACTIVE:
        return
    entry = context.projects.shown(subscription.project)
    result = f"not posted: {refusal.meaning}"
    Subscriptions(tx).change(subscription.id, last_result=result, last_run_at=refusal.at)
    if refusal.meaning.needs_operator:
        message = subscription_messages.not_posted(subscription, refusal, context.bot_name, entry)
    else:
        message = subscription_messages.paused(subscription, refusal, context.bot_name, entry)
        Subscriptions(tx).change(subscription.id, state=SubscriptionState.PAUSED, next_run_at=None)
        Questions(tx).withdraw(subscription.id)
    log.warning("subscription_refused", subscription=subscription.id, channel=subscription.channel)
    key = f"{delivery.what.key}:refused"
    notice = NewDelivery.private(key, subscription.channel, subscription.owner, message)
    Outbox(tx).add(notice, refusal.at)
