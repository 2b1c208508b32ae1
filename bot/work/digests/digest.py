"""The weekly digest: planned ahead, gathered within the budget, told once for each subscription and week."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import structlog

from bot.messages import subscriptions as say
from bot.messages.digests import digest as digest_message
from bot.model import (
    Access,
    Digest,
    DigestState,
    Message,
    NewDelivery,
    Period,
    Priority,
    ReadingProblem,
    Snapshot,
    SnapshotState,
    Subscription,
    SubscriptionState,
    UserId,
    VisitorsQuery,
    day_start,
    last_full_week,
)
from bot.store import LeaseLost, Transaction
from bot.work.access.check import decide
from bot.work.access.decision import AskSlack
from bot.work.access.denied import refuse_digest, refuse_subscription
from bot.work.context import WorkerContext
from bot.work.digests.post_outcome import first_run, week_key
from bot.work.digests.report import CURVE_WEEKS, weekly_report
from bot.work.ports import SlackError
from bot.work.visitors.windows import find_snapshot, request_snapshot

log = structlog.get_logger(__name__)
_AT_ONCE = 20
_AHEAD = timedelta(hours=6)
"""So early the numbers of a coming digest are read, so that digests do not all want them at once."""
_MADE_UP = timedelta(hours=24)
_NOW_SECONDS = 600.0
"""So long a digest that somebody asked for waits for its pages."""
_RETRY_SECONDS = (60.0, 300.0, 900.0, 1_800.0)


async def advance_digests(context: WorkerContext) -> int:
    """Prove new subscriptions, plan what is due, and tell what has been gathered."""
    now = context.clock()
    new, coming, gathering = await context.store.read(
        lambda tx: (
            tx.subscriptions.new(_AT_ONCE),
            tx.subscriptions.any_due(now + _AHEAD),
            tx.digests.any_due(now),
        )
    )
    for subscription in new:
        await _prove(context, subscription)
    if coming:
        await context.store.write(lambda tx: _plan(context, tx))
    if coming or gathering:
        claimed = await context.store.write(lambda tx: tx.digests.claim(context.claimer(), _AT_ONCE))
        await asyncio.gather(*(_advance(context, each) for each in claimed))
    return 0  # what waits is looked at again a moment later


async def _prove(context: WorkerContext, subscription: Subscription) -> None:
    """Post into the channel once: only what arrives there makes the subscription active."""
    denied = await _denied(context, subscription.owner)
    if denied is not None:
        await context.store.write(lambda tx: refuse_subscription(context, tx, subscription, denied))
        context.wake()
        return
    zone = subscription.weekly.zone if subscription.has_zone else await _zone_of(context, subscription)

    def post_first(tx: Transaction) -> bool:
        changed = tx.subscriptions.change(
            subscription.id, was=SubscriptionState.NEW, state=SubscriptionState.PROVING, zone=zone
        )
        known = tx.subscriptions.get(subscription.id)
        if not changed or known is None:
            return False
        key, words = f"subscription:{known.id}:first:{known.revision}", _first_words(context, tx, known)
        post = NewDelivery.post(key, known.channel, known.owner, words)
        tx.outbox.add(replace(post, subscription=known.id), context.clock())
        return True

    if await context.store.write(post_first):
        context.wake()


def _first_words(context: WorkerContext, tx: Transaction, known: Subscription) -> Message:
    """What the first post says: also which week the first digest is about."""
    run_at, zone = first_run(context, tx, known), context.analytics.zone
    week = last_full_week(run_at, zone)
    is_behind = last_full_week(run_at, ZoneInfo(known.weekly.zone)).first > week.first
    newer_at = day_start(week.end + timedelta(days=week.days), zone) if is_behind else None
    return say.first_post(known, run_at, week, newer_at=newer_at, counted_in=zone.key)


async def _denied(context: WorkerContext, user: UserId) -> Access | None:
    """Return why somebody may not use the bot; None when they may."""
    return (await decide(context, user, ask=AskSlack.FINAL)).denied


async def _zone_of(context: WorkerContext, subscription: Subscription) -> str:
    """The zone of who subscribed; UTC when Slack does not tell, which the first post then shows."""
    try:
        return await context.messenger.user_zone(subscription.owner) or "UTC"
    except SlackError as error:
        log.warning("zone_not_told", user=subscription.owner, reason=str(error))
        return "UTC"


def _plan(context: WorkerContext, tx: Transaction) -> None:
    """Write the digests that are due, and let the numbers of those that come soon be read."""
    now, weeks = context.clock(), set()
    for subscription in tx.subscriptions.due(now + _AHEAD, _AT_ONCE):
        run_at = subscription.next_run_at or now
        week = last_full_week(run_at, context.analytics.zone)
        if run_at <= now:
            _begin(tx, subscription, week, run_at, now)
        elif context.analytics.is_final(week, now):
            weeks.add(week)
    for week in weeks:
        for period in (week, week.before()):
            request_snapshot(tx, context.analytics, context.project, period, Priority.AHEAD, now)


def _begin(
    tx: Transaction, subscription: Subscription, week: Period, run_at: datetime, now: datetime
) -> None:
    """One digest for this week, and the time of the next. What is older than a day is not made up."""
    next_run_at = subscription.weekly.next_after(now)
    if now - run_at > _MADE_UP:
        result = f"skipped: {ReadingProblem.DOWN}"
        tx.subscriptions.change(
            subscription.id, next_run_at=next_run_at, last_result=result, last_run_at=run_at
        )
        log.warning("digest_skipped", subscription=subscription.id, run_at=run_at.isoformat())
        return
    tx.subscriptions.change(subscription.id, next_run_at=next_run_at)
    tx.digests.add(
        key=week_key(subscription, week),
        subscription=subscription.id,
        project=subscription.project,
        channel=subscription.channel,
        section=subscription.section,
        week=week,
        now=now,
    )


async def _advance(context: WorkerContext, each: Digest) -> None:
    asked_by = each.asked_by
    denied = await _denied(context, asked_by) if asked_by else None

    def settle(tx: Transaction) -> bool:
        if asked_by and denied is not None:
            refuse_digest(context, tx, each, asked_by, denied)
            return True
        return _look(context, tx, each)

    try:
        told = await context.store.write(settle)
    except LeaseLost:
        log.warning("digest_taken_over", digest=each.id)
        return
    if told:
        context.wake()
    else:
        context.wake_after(context.timeouts.reading_seconds * 1.1)


def _look(context: WorkerContext, tx: Transaction, each: Digest) -> bool:
    """Tell the digest if it can be told now; answers whether something was put into the outbox."""
    if _is_unwanted(tx, each):
        tx.digests.finish(each.id, DigestState.MISSED, owner=context.owner)
        return False
    now = context.clock()
    window = _part(context, tx, each, each.week, Priority.DIGEST, now)
    before = _part(context, tx, each, each.week.before(), Priority.DIGEST_COMPARED, now)
    history = [_week(context, tx, each, week, now) for week in _history(each.week)]
    age_seconds = (now - each.begun_at).total_seconds()
    failed = [part for part in (window, before) if part.state is SnapshotState.FAILED]
    in_time = age_seconds < (_NOW_SECONDS if each.asked_by else context.timeouts.digest_seconds)
    if (
        failed
        and not each.asked_by
        and (in_time or (window.totals is None and age_seconds < _MADE_UP.total_seconds()))
    ):
        return _try_again(context, tx, each, failed)
    if SnapshotState.REQUESTED in (window.state, before.state) and in_time:
        return _later(context, tx, each)
    if window.totals is None:
        return _without_numbers(context, tx, each, window)
    curve_open = any(week.state is SnapshotState.REQUESTED for week in history)
    if curve_open and age_seconds < context.timeouts.curve_seconds and _may_read(context, tx, now):
        return _later(context, tx, each)
    _tell(context, tx, each, window, before, now)
    return True


def _may_read(context: WorkerContext, tx: Transaction, now: datetime) -> bool:
    """Whether the budget still has room for what nobody asked for by name."""
    budget = tx.budget.read(context.project, context.analytics.calls_an_hour, now)
    return context.analytics.background_room(budget) > 0


def _is_unwanted(tx: Transaction, each: Digest) -> bool:
    """Whether its subscription was ended while its numbers were being read."""
    subscription = tx.subscriptions.get(each.subscription) if each.subscription else None
    return subscription is not None and subscription.state is SubscriptionState.ENDED


def _history(week: Period) -> list[Period]:
    """The weeks of the curve before the two that are compared, newest first."""
    weeks = [week]
    for _ in range(CURVE_WEEKS - 1):
        weeks.append(weeks[-1].before())
    return weeks[2:]


def _part(
    context: WorkerContext, tx: Transaction, each: Digest, period: Period, priority: Priority, now: datetime
) -> Snapshot:
    """A window with its pages. At the first look one that failed for somebody else is wanted anew."""
    known = tx.snapshots.begun_for(each.project, period, each.begun_at) if each.attempts else None
    # What rests does so for somebody else's sake, and is read on.
    rests = known is not None and known.state is SnapshotState.RESTING
    if known is not None and known.with_pages and not rests:
        return known
    return request_snapshot(tx, context.analytics, each.project, period, priority, now)


def _week(context: WorkerContext, tx: Transaction, each: Digest, week: Period, now: datetime) -> Snapshot:
    """A week of the curve: its totals are enough."""
    known = find_snapshot(tx, context.analytics, each.project, week, now)
    if known is not None and each.attempts and known.state is not SnapshotState.RESTING:
        return known
    return request_snapshot(
        tx, context.analytics, each.project, week, Priority.HISTORY, now, with_pages=False
    )


def _later(context: WorkerContext, tx: Transaction, each: Digest) -> bool:
    """Numbers are being read."""
    due_at = context.after(context.timeouts.reading_seconds)
    tx.digests.put_back(each.id, context.owner, due_at, max(each.attempts, 1))
    return False


def _try_again(context: WorkerContext, tx: Transaction, each: Digest, failed: list[Snapshot]) -> bool:
    """What could not be read is read again after a pause that grows."""
    pause_seconds = _RETRY_SECONDS[min(each.attempts, len(_RETRY_SECONDS)) - 1]
    due_at = context.after(pause_seconds)
    for part in failed:
        tx.snapshots.retry(part.id, due_at)
    tx.digests.put_back(each.id, context.owner, due_at, max(each.attempts, 1) + 1)
    return False


def _without_numbers(context: WorkerContext, tx: Transaction, each: Digest, window: Snapshot) -> bool:
    """The week could not be read in time: whoever expects it is told."""
    now, problem = context.clock(), window.problem or ReadingProblem.LATE
    url = tx.digests.response_url(each.id)
    tx.digests.finish(each.id, DigestState.MISSED, owner=context.owner)
    log.error("digest_missed", digest=each.id, reason=problem)
    subscription = tx.subscriptions.get(each.subscription) if each.subscription else None
    if subscription is not None:
        tx.subscriptions.change(subscription.id, last_result=f"not told: {problem}", last_run_at=now)
    owner = subscription.owner if subscription else each.asked_by
    failed = say.digest_failed(each.week, problem)
    message = say.missed(subscription, each.week, problem) if subscription else failed
    key = f"digest:{each.id}:missed"
    tx.outbox.add(NewDelivery.private(key, each.channel, owner, message, response_url=url), now)
    return True


def _tell(
    context: WorkerContext, tx: Transaction, each: Digest, window: Snapshot, before: Snapshot, now: datetime
) -> None:
    """The post and the state that says it was written, together."""
    subscription = tx.subscriptions.get(each.subscription) if each.subscription else None
    query = VisitorsQuery(each.week, each.week.before(), each.section)
    weekly = weekly_report(tx, context.analytics, query, window, before, each.project, subscription, now)
    tx.digests.finish(each.id, DigestState.TOLD, owner=context.owner)
    post = NewDelivery.post(f"digest:{each.id}", each.channel, each.asked_by, digest_message(weekly))
    tx.outbox.add(replace(post, subscription=each.subscription, digest=each.id), now)
    log.info("digest_told", digest=each.id, week=each.week.first.isoformat())
