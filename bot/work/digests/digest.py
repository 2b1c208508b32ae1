"""The weekly digest: planned ahead, gathered within the budget, told once for each subscription and week."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import structlog

from bot.messages import subscriptions as say
from bot.messages.digests import digest as digest_message
from bot.messages.problems import ReadingProblem
from bot.model import (
    DeliveryKind,
    Digest,
    DigestState,
    Message,
    Need,
    NewDelivery,
    Period,
    Snapshot,
    SnapshotState,
    Standing,
    Subscription,
    SubscriptionState,
    UserId,
    Wish,
    day_start,
    last_full_week,
)
from bot.store import LeaseLost, Tables
from bot.work.access.check import admit_or_not
from bot.work.access.denied import say_not_allowed
from bot.work.digests.post_outcome import first_run, week_key
from bot.work.digests.report import CURVE_WEEKS, weekly_report
from bot.work.ports import SlackError
from bot.work.worker_context import Workshop

log = structlog.get_logger(__name__)
_AT_ONCE = 20
_AHEAD = timedelta(hours=6)
"""So early the numbers of a coming digest are read, so that digests do not all want them at once."""
_MADE_UP = timedelta(hours=24)
_NOW_SECONDS = 600.0
"""So long a digest that somebody asked for waits for its pages."""
_RETRY_SECONDS = (60.0, 300.0, 900.0, 1_800.0)


async def digest_round(shop: Workshop) -> int:
    """Prove new subscriptions, plan what is due, and tell what has been gathered."""
    async with shop.registry.look() as tables:
        new = await tables.subscriptions.new(_AT_ONCE)
        coming = await tables.subscriptions.any_due(shop.clock() + _AHEAD)
        gathering = await tables.digests.any_due(shop.clock())
    for subscription in new:
        await _prove(shop, subscription)
    if coming:
        await _plan(shop)
    if coming or gathering:
        async with shop.registry.transaction() as tables:
            claimed = await tables.digests.claim(shop.claimer(), _AT_ONCE)
        await asyncio.gather(*(_advance(shop, each) for each in claimed))
    return 0  # what waits is looked at again a moment later


async def _prove(shop: Workshop, subscription: Subscription) -> None:
    """Post into the channel once: only what arrives there makes the subscription active."""
    standing = await _standing(shop, subscription.owner)
    if not standing.may:
        await _turn_away(shop, subscription, standing)
        return
    zone = subscription.weekly.zone if subscription.has_zone else await _zone_of(shop, subscription)
    now = shop.clock()
    async with shop.registry.transaction() as tables:
        changed = await tables.subscriptions.change(
            subscription.id, was=SubscriptionState.NEW, state=SubscriptionState.PROVING, zone=zone
        )
        known = await tables.subscriptions.get(subscription.id)
        if not changed or known is None:
            return
        post = NewDelivery(
            f"subscription:{known.id}:first:{known.round}",
            DeliveryKind.POST,
            known.channel,
            user=known.owner,
            message=await _first_words(shop, tables, known),
            subscription=known.id,
        )
        await tables.deliveries.add(post, now)
    shop.wake()


async def _first_words(shop: Workshop, tables: Tables, known: Subscription) -> Message:
    """What the first post says: also which week the first digest is about."""
    run_at, zone = await first_run(shop, tables, known), shop.analytics.zone
    week = last_full_week(run_at, zone)
    is_behind = last_full_week(run_at, ZoneInfo(known.weekly.zone)).first > week.first
    newer_at = day_start(week.end + timedelta(days=week.days), zone) if is_behind else None
    return say.first_post(known, run_at, week, newer_at=newer_at, counted_in=zone.key)


async def _standing(shop: Workshop, user: UserId) -> Standing:
    return await admit_or_not(shop.registry, shop.messenger, shop.admission, shop.clock, user)


async def _turn_away(shop: Workshop, subscription: Subscription, standing: Standing) -> None:
    """Somebody who may not use the bot subscribes nothing."""
    async with shop.registry.transaction() as tables:
        url = await tables.subscriptions.response_url(subscription.id)
        changed = await tables.subscriptions.change(
            subscription.id, was=SubscriptionState.NEW, state=SubscriptionState.ENDED, response_url=None
        )
        if changed:
            what = f"subscription:{subscription.id}:{subscription.round}"
            now, channel, owner = shop.clock(), subscription.channel, subscription.owner
            await say_not_allowed(tables, what, channel, owner, standing, url, now)
    shop.wake()


async def _zone_of(shop: Workshop, subscription: Subscription) -> str:
    """The zone of who subscribed; UTC when Slack does not tell, which the first post then shows."""
    try:
        return await shop.messenger.user_zone(subscription.owner) or "UTC"
    except SlackError as error:
        log.warning("zone_not_told", user=subscription.owner, reason=str(error))
        return "UTC"


async def _plan(shop: Workshop) -> None:
    """Write the digests that are due, and let the numbers of those that come soon be read."""
    now = shop.clock()
    async with shop.registry.transaction() as tables:
        weeks = set()
        for subscription in await tables.subscriptions.due(now + _AHEAD, _AT_ONCE):
            run_at = subscription.next_run_at or now
            week = last_full_week(run_at, shop.analytics.zone)
            if run_at <= now:
                await _begin(tables, subscription, week, run_at, now)
            elif shop.analytics.is_final(week, now):
                weeks.add(week)
        for week in weeks:
            for period in (week, week.before()):
                await shop.analytics.want(tables, shop.project, period, Need.AHEAD, now)


async def _begin(
    tables: Tables, subscription: Subscription, week: Period, run_at: datetime, now: datetime
) -> None:
    """One digest for this week, and the time of the next. What is older than a day is not made up."""
    next_run_at = subscription.weekly.next_after(now)
    if now - run_at > _MADE_UP:
        result = f"skipped: {ReadingProblem.DOWN}"
        await tables.subscriptions.change(
            subscription.id, next_run_at=next_run_at, last_result=result, last_run_at=run_at
        )
        log.warning("digest_skipped", subscription=subscription.id, run_at=run_at.isoformat())
        return
    await tables.subscriptions.change(subscription.id, next_run_at=next_run_at)
    await tables.digests.add(
        key=week_key(subscription, week),
        subscription=subscription.id,
        project=subscription.project,
        channel=subscription.channel,
        section=subscription.section,
        week=week,
        now=now,
    )


async def _advance(shop: Workshop, each: Digest) -> None:
    standing = await _standing(shop, each.asked_by) if each.asked_by else Standing.MEMBER
    try:
        async with shop.registry.transaction() as tables:
            told = (
                await _refuse(shop, tables, each, each.asked_by, standing)
                if each.asked_by and not standing.may
                else await _look(shop, tables, each)
            )
    except LeaseLost:
        log.warning("digest_taken_over", digest=each.id)
        return
    if told:
        shop.wake()


async def _refuse(shop: Workshop, tables: Tables, each: Digest, asked_by: UserId, standing: Standing) -> bool:
    """A digest asked for by somebody who may not use the bot."""
    url = await tables.digests.response_url(each.id)
    await tables.digests.settle(each.id, owner=shop.owner, state=DigestState.MISSED, response_url=None)
    now = shop.clock()
    await say_not_allowed(tables, f"digest:{each.id}", each.channel, asked_by, standing, url, now)
    return True


async def _look(shop: Workshop, tables: Tables, each: Digest) -> bool:
    """Tell the digest if it can be told now; answers whether something was put into the outbox."""
    if await _is_unwanted(tables, each):
        await tables.digests.settle(each.id, owner=shop.owner, state=DigestState.MISSED, response_url=None)
        return False
    now = shop.clock()
    window = await _part(shop, tables, each, each.week, Need.DIGEST, now)
    before = await _part(shop, tables, each, each.week.before(), Need.DIGEST_COMPARED, now)
    history = [await _week(shop, tables, each, week, now) for week in _history(each.week)]
    age_seconds = (now - each.begun_at).total_seconds()
    failed = [part for part in (window, before) if part.state is SnapshotState.FAILED]
    in_time = age_seconds < (_NOW_SECONDS if each.asked_by else shop.patience.digest_seconds)
    if (
        failed
        and not each.asked_by
        and (in_time or (window.totals is None and age_seconds < _MADE_UP.total_seconds()))
    ):
        return await _try_again(shop, tables, each, failed)
    if SnapshotState.WANTED in (window.state, before.state) and in_time:
        return await _later(shop, tables, each)
    if window.totals is None:
        return await _without_numbers(shop, tables, each, window)
    curve_open = any(week.state is SnapshotState.WANTED for week in history)
    if curve_open and age_seconds < shop.patience.curve_seconds and await _may_read(shop, tables, now):
        return await _later(shop, tables, each)
    await _tell(shop, tables, each, window, before, now)
    return True


async def _may_read(shop: Workshop, tables: Tables, now: datetime) -> bool:
    """Whether the budget still has room for what nobody asked for by name."""
    budget = await tables.budget.look(shop.project, shop.analytics.calls_an_hour, now)
    return shop.analytics.background_room(budget) > 0


async def _is_unwanted(tables: Tables, each: Digest) -> bool:
    """Whether its subscription was ended while its numbers were being read."""
    subscription = await tables.subscriptions.get(each.subscription) if each.subscription else None
    return subscription is not None and subscription.state is SubscriptionState.ENDED


def _history(week: Period) -> list[Period]:
    """The weeks of the curve before the two that are compared, newest first."""
    weeks = [week]
    for _ in range(CURVE_WEEKS - 1):
        weeks.append(weeks[-1].before())
    return weeks[2:]


async def _part(
    shop: Workshop, tables: Tables, each: Digest, period: Period, need: Need, now: datetime
) -> Snapshot:
    """A window with its pages. At the first look one that failed for somebody else is wanted anew."""
    known = await tables.snapshots.begun_for(each.project, period, each.begun_at) if each.attempts else None
    # What rests does so for somebody else's sake, and is read on.
    rests = known is not None and known.state is SnapshotState.RESTING
    if known is not None and known.with_pages and not rests:
        return known
    return await shop.analytics.want(tables, each.project, period, need, now)


async def _week(shop: Workshop, tables: Tables, each: Digest, week: Period, now: datetime) -> Snapshot:
    """A week of the curve: its totals are enough."""
    known = await shop.analytics.peek(tables, each.project, week, now)
    if known is not None and each.attempts and known.state is not SnapshotState.RESTING:
        return known
    return await shop.analytics.want(tables, each.project, week, Need.HISTORY, now, with_pages=False)


async def _later(shop: Workshop, tables: Tables, each: Digest) -> bool:
    """Numbers are being read."""
    due_at = shop.after(shop.patience.reading_seconds)
    shop.wake_after(shop.patience.reading_seconds * 1.1)
    await tables.digests.settle(each.id, owner=shop.owner, due_at=due_at, attempts=max(each.attempts, 1))
    return False


async def _try_again(shop: Workshop, tables: Tables, each: Digest, failed: list[Snapshot]) -> bool:
    """What could not be read is read again after a pause that grows."""
    pause_seconds = _RETRY_SECONDS[min(each.attempts, len(_RETRY_SECONDS)) - 1]
    due_at = shop.after(pause_seconds)
    for part in failed:
        await tables.snapshots.retry(part.id, due_at)
    await tables.digests.settle(each.id, owner=shop.owner, due_at=due_at, attempts=max(each.attempts, 1) + 1)
    return False


async def _without_numbers(shop: Workshop, tables: Tables, each: Digest, window: Snapshot) -> bool:
    """The week could not be read in time: whoever expects it is told."""
    now, problem = shop.clock(), window.problem or ReadingProblem.LATE
    url = await tables.digests.response_url(each.id)
    await tables.digests.settle(each.id, owner=shop.owner, state=DigestState.MISSED, response_url=None)
    log.error("digest_missed", digest=each.id, reason=problem)
    subscription = await tables.subscriptions.get(each.subscription) if each.subscription else None
    if subscription is not None:
        await tables.subscriptions.change(
            subscription.id, last_result=f"not told: {problem}", last_run_at=now
        )
    note = NewDelivery(
        f"digest:{each.id}:missed",
        DeliveryKind.PRIVATE,
        each.channel,
        user=subscription.owner if subscription else each.asked_by,
        message=say.missed(subscription, each.week, problem)
        if subscription
        else say.digest_failed(each.week, problem),
        response_url=url,
    )
    await tables.deliveries.add(note, now)
    return True


async def _tell(
    shop: Workshop, tables: Tables, each: Digest, window: Snapshot, before: Snapshot, now: datetime
) -> None:
    """The post and the state that says it was written, together."""
    subscription = await tables.subscriptions.get(each.subscription) if each.subscription else None
    wish = Wish(each.week, each.week.before(), each.section)
    weekly = await weekly_report(
        tables, shop.analytics, wish, window, before, each.project, subscription, now
    )
    await tables.digests.settle(each.id, owner=shop.owner, state=DigestState.TOLD, response_url=None)
    post = NewDelivery(
        f"digest:{each.id}",
        DeliveryKind.POST,
        each.channel,
        user=each.asked_by,
        message=digest_message(weekly),
        subscription=each.subscription,
        digest=each.id,
    )
    await tables.deliveries.add(post, now)
    log.info("digest_told", digest=each.id, week=each.week.first.isoformat())
