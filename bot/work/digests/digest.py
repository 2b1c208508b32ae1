"""The worker that plans digests, waits for their numbers, and posts one for each subscription and week."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import structlog

from bot.messages import subscriptions as say
from bot.messages.digests import digest as digest_message
from bot.model.access import Access
from bot.model.digests import Digest, DigestState, Subscription, SubscriptionState
from bot.model.ids import UserId
from bot.model.message import Message
from bot.model.outbox import NewDelivery
from bot.model.period import Period, day_start, last_full_week
from bot.model.questions import VisitorsQuery
from bot.model.visitors import Priority, ReadingProblem, Snapshot, SnapshotState
from bot.store import LeaseLost, Transaction
from bot.work.access.check import AskSlack, decide
from bot.work.access.denied import refuse_digest, refuse_subscription
from bot.work.context import WorkerContext
from bot.work.digests.post_outcome import first_run, week_key
from bot.work.digests.report import CURVE_WEEKS, weekly_report
from bot.work.ports import SlackError
from bot.work.retry import retry_on_db_error
from bot.work.tasks import run_all
from bot.work.visitors.snapshots import find_snapshot, request_snapshot

log = structlog.get_logger(__name__)
_AT_ONCE = 20
_PLANNED_AHEAD = timedelta(hours=6)
"""How early the numbers of a planned digest are requested, to spread the calls to the analytics API."""
_CATCH_UP = timedelta(hours=24)
"""How late a digest may still be posted, for example after a stop of the bot."""
_ASKED_WAIT_SECONDS = 600.0
"""How long a digest that somebody asked for waits for its pages."""


async def advance_digests(context: WorkerContext) -> int:
    """Post for new subscriptions, plan digests that are due, and post those whose numbers are there."""
    now = context.clock()
    new, coming, gathering = await context.store.read(
        lambda tx: (
            tx.subscriptions.new(_AT_ONCE),
            tx.subscriptions.any_due(now + _PLANNED_AHEAD),
            tx.digests.any_due(now),
        )
    )
    for subscription in new:
        await _post_first(context, subscription)
    if coming:
        await context.store.write(lambda tx: _plan(context, tx))
        context.wake()
    if coming or gathering:
        claimed = await context.store.write(lambda tx: tx.digests.claim(context.claimer(), _AT_ONCE))
        await run_all(*(retry_on_db_error(partial(_advance, context, each)) for each in claimed))
    return 0  # a digest that waits becomes due again by itself


async def _post_first(context: WorkerContext, subscription: Subscription) -> None:
    """Post into the channel once. The subscription becomes active only when this post has arrived."""
    denied = await _denied(context, subscription.owner)
    if denied is not None:
        await context.store.write(lambda tx: refuse_subscription(context, tx, subscription, denied))
        context.wake()
        return
    zone = subscription.weekly.zone if subscription.has_zone else await _zone_of(context, subscription)

    def post_first(tx: Transaction) -> bool:
        changed = tx.subscriptions.change(
            subscription.id,
            was=SubscriptionState.NEW,
            revision=subscription.revision,
            state=SubscriptionState.PROVING,
            zone=zone,
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
    """Return the first post of a subscription. It names the week of the first digest."""
    run_at, zone = first_run(context, tx, known), context.analytics.zone
    week = last_full_week(run_at, zone)
    is_behind = last_full_week(run_at, ZoneInfo(known.weekly.zone)).first > week.first
    newer_at = day_start(week.end + timedelta(days=week.days), zone) if is_behind else None
    shown = context.projects.shown(known.project)
    return say.first_post(known, run_at, week, newer_at=newer_at, counted_in=zone.key, shown=shown)


async def _denied(context: WorkerContext, user: UserId) -> Access | None:
    """Return why somebody may not use the bot; None when they may."""
    return (await decide(context, user, ask=AskSlack.FINAL)).denied


async def _zone_of(context: WorkerContext, subscription: Subscription) -> str:
    """Return the subscriber's time zone, or UTC if Slack does not tell. The first post shows it."""
    try:
        return await context.messenger.user_zone(subscription.owner) or "UTC"
    except SlackError as error:
        log.warning("zone_not_told", user=subscription.owner, reason=str(error))
        return "UTC"


def _plan(context: WorkerContext, tx: Transaction) -> None:
    """Add the digests that are due, and request the numbers of those that come soon."""
    now, coming = context.clock(), set()
    for subscription in tx.subscriptions.due(now + _PLANNED_AHEAD, _AT_ONCE):
        run_at = subscription.next_run_at or now
        week = last_full_week(run_at, context.analytics.zone)
        if run_at <= now:
            _add_digest(tx, subscription, week, run_at, now)
        elif context.analytics.is_final(week, now) and context.projects.serve(subscription.project):
            coming.add((subscription.project, week))
    for project, week in coming:
        for period in (week, week.before()):
            request_snapshot(tx, context.analytics, project, period, Priority.AHEAD, now, is_patient=True)


def _add_digest(
    tx: Transaction, subscription: Subscription, week: Period, run_at: datetime, now: datetime
) -> None:
    """Add the digest of a week, and schedule the next one. A digest more than a day late is skipped."""
    next_run_at = subscription.weekly.next_after(now)
    if now - run_at > _CATCH_UP:
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
        return _settle(context, tx, each)

    try:
        told = await context.settle(settle)
    except LeaseLost:
        log.warning("digest_taken_over", digest=each.id)
        return
    if told:
        context.wake()
    else:
        context.wake_after(context.timeouts.reading_seconds * 1.1)


def _settle(context: WorkerContext, tx: Transaction, each: Digest) -> bool:
    """Post the digest if its numbers are there. Return whether a message was added to the outbox."""
    if _is_ended(tx, each):
        tx.digests.finish(each.id, DigestState.MISSED, owner=context.owner)
        return False
    if not context.projects.serve(each.project):
        return _tell_missed(context, tx, each, ReadingProblem.NOT_SERVED)
    now = context.clock()
    current = _snapshot(context, tx, each, each.week, Priority.DIGEST, now)
    before = _snapshot(context, tx, each, each.week.before(), Priority.DIGEST_COMPARED, now)
    history = [_totals(context, tx, each, week, now) for week in _earlier_weeks(each.week)]
    age_seconds = (now - each.begun_at).total_seconds()
    failed = [snapshot for snapshot in (current, before) if snapshot.state is SnapshotState.FAILED]
    in_time = age_seconds < (_ASKED_WAIT_SECONDS if each.asked_by else context.timeouts.digest_seconds)
    if (
        failed
        and not each.asked_by
        and (in_time or (current.totals is None and age_seconds < _CATCH_UP.total_seconds()))
    ):
        return _retry_failed(context, tx, each, failed)
    if SnapshotState.REQUESTED in (current.state, before.state) and in_time:
        return _wait(context, tx, each)
    if current.totals is None:
        return _tell_missed(context, tx, each, current.problem or ReadingProblem.LATE)
    curve_open = any(week.state is SnapshotState.REQUESTED for week in history)
    if (
        curve_open
        and age_seconds < context.timeouts.curve_seconds
        and _has_background_room(context, tx, each)
    ):
        return _wait(context, tx, each)
    _post(context, tx, each, current, before, now)
    return True


def _has_background_room(context: WorkerContext, tx: Transaction, each: Digest) -> bool:
    """Return whether the hourly budget has calls left for background requests."""
    return context.analytics.background_room(context.budget(tx, each.project)) > 0


def _is_ended(tx: Transaction, each: Digest) -> bool:
    """Return whether the digest's subscription was ended while its numbers were being fetched."""
    subscription = tx.subscriptions.get(each.subscription) if each.subscription else None
    return subscription is not None and subscription.state is SubscriptionState.ENDED


def _earlier_weeks(week: Period) -> list[Period]:
    """Return the weeks of the chart before the two that are compared, newest first."""
    weeks = [week]
    for _ in range(CURVE_WEEKS - 1):
        weeks.append(weeks[-1].before())
    return weeks[2:]


def _snapshot(
    context: WorkerContext, tx: Transaction, each: Digest, period: Period, priority: Priority, now: datetime
) -> Snapshot:
    """Return a snapshot with pages. If a person waits, one that failed for another request is tried again."""
    known = tx.snapshots.begun_for(each.project, period, each.begun_at) if each.attempts else None
    # Another request stopped the fetching of a resting snapshot. Requesting it again resumes it.
    rests = known is not None and known.state is SnapshotState.RESTING
    if known is not None and known.with_pages and not rests:
        return known
    is_patient = each.asked_by is None
    return request_snapshot(tx, context.analytics, each.project, period, priority, now, is_patient=is_patient)


def _totals(context: WorkerContext, tx: Transaction, each: Digest, week: Period, now: datetime) -> Snapshot:
    """Return the snapshot of a week of the chart, which needs totals only."""
    known = find_snapshot(tx, context.analytics, each.project, week, now)
    if known is not None and each.attempts and known.state is not SnapshotState.RESTING:
        return known
    return request_snapshot(
        tx, context.analytics, each.project, week, Priority.HISTORY, now, with_pages=False, is_patient=True
    )


def _wait(context: WorkerContext, tx: Transaction, each: Digest) -> bool:
    """Put the digest back until its numbers have been fetched."""
    due_at = context.after(context.timeouts.reading_seconds)
    tx.digests.put_back(each.id, context.owner, due_at, max(each.attempts, 1))
    return False


def _retry_failed(context: WorkerContext, tx: Transaction, each: Digest, failed: list[Snapshot]) -> bool:
    """Fetch failed snapshots again whose pause is over, and wait for the others."""
    for snapshot in failed:
        tx.snapshots.retry(snapshot.id, context.clock())
    due_at = max(min(each.due_at for each in failed), context.after(context.timeouts.reading_seconds))
    tx.digests.put_back(each.id, context.owner, due_at, max(each.attempts, 1))
    return False


def _tell_missed(context: WorkerContext, tx: Transaction, each: Digest, problem: str) -> bool:
    """Give up a digest whose numbers did not come in time, and tell the owner or who asked for it.

    The subscription ends with its project.
    """
    now = context.clock()
    url = tx.digests.response_url(each.id)
    tx.digests.finish(each.id, DigestState.MISSED, owner=context.owner)
    log.error("digest_missed", digest=each.id, reason=problem)
    subscription = tx.subscriptions.get(each.subscription) if each.subscription else None
    if subscription is not None:
        tx.subscriptions.change(subscription.id, last_result=f"not told: {problem}", last_run_at=now)
        if problem == ReadingProblem.NOT_SERVED:
            tx.subscriptions.change(subscription.id, state=SubscriptionState.ENDED, next_run_at=None)
    owner = subscription.owner if subscription else each.asked_by
    shown = context.projects.shown(each.project)
    failed = say.digest_failed(each.week, problem, shown)
    message = say.missed(subscription, each.week, problem, shown) if subscription else failed
    key = f"digest:{each.id}:missed"
    tx.outbox.add(NewDelivery.private(key, each.channel, owner, message, response_url=url), now)
    return True


def _post(
    context: WorkerContext, tx: Transaction, each: Digest, current: Snapshot, before: Snapshot, now: datetime
) -> None:
    """Add the digest's post to the outbox, and mark the digest as told."""
    subscription = tx.subscriptions.get(each.subscription) if each.subscription else None
    shown = context.projects.shown(each.project)
    label = shown.label if shown else None
    query = VisitorsQuery(each.week, each.week.before(), each.section, label=label)
    weekly = weekly_report(
        tx,
        context.analytics,
        query,
        current,
        before,
        each.project,
        subscription,
        each.channel,
        context.budget(tx, each.project),
        now,
    )
    tx.digests.finish(each.id, DigestState.TOLD, owner=context.owner)
    post = NewDelivery.post(f"digest:{each.id}", each.channel, each.asked_by, digest_message(weekly))
    tx.outbox.add(replace(post, subscription=each.subscription, digest=each.id), now)
    log.info("digest_told", digest=each.id, week=each.week.first.isoformat())
