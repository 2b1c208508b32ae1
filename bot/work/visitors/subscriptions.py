"""Subscribe a channel to the weekly digest, end that, ask for each week's digest, or for one at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

import structlog

from bot.access.admit import Allowed, zone_of
from bot.context import Context, WorkerContext
from bot.ids import ChannelId, Message, ProjectId, RequestKey, SubscriptionId
from bot.messages import digests as say
from bot.model.prompts import Act
from bot.model.questions import NOBODY, QuestionKind, Subscription, SubscriptionState, VisitorsQuery, Weekday
from bot.model.visitors import Period, ReadingProblem, SnapshotState, last_full_week
from bot.outbox.model import Delivery, NewDelivery, NotPosted
from bot.outbox.store import Outbox
from bot.ports import Origin
from bot.store import Transaction
from bot.store.audit import Audit
from bot.store.questions import Questions, Subscriptions
from bot.store.snapshots import Snapshots
from bot.work.visitors.question import LATEST, WANTED, ask, request_missed

log = structlog.get_logger(__name__)
_AT_ONCE = 20
_PLANNED_AHEAD = timedelta(hours=6)
"""How early the numbers of a planned digest are requested, to spread the calls to the analytics API."""
_TOP = 3
"""The pages that a digest names. *More* has the rest."""
_ASKED_AGAIN = timedelta(minutes=1)
"""The same digest is sent once within this time, however often somebody asks for it."""


@dataclass(frozen=True, slots=True)
class SubscribeRequest:
    """A request for a weekly digest in a channel.

    ``zone`` is None for the time zone of the requester, ``project`` for the project of the channel.
    """

    allowed: Allowed
    weekday: Weekday
    at: time
    zone: str | None
    section: str | None
    project: ProjectId | None = None


async def subscribe(context: Context, request: SubscribeRequest) -> Message:
    """Store or change a subscription, unless it is as requested already.

    It becomes active when the first post into the channel has arrived.
    """
    project, known = await context.store.write(lambda tx: _put(context, tx, request))
    shown = context.projects.shown(project)
    if known is not None and _is_same(known, request):
        return say.already_subscribed(known, shown)
    context.wake()
    return say.subscribing(
        request.weekday, request.at, request.zone, request.section, changes=known is not None, shown=shown
    )


def _put(
    context: Context, tx: Transaction, request: SubscribeRequest
) -> tuple[ProjectId, Subscription | None]:
    """Write the subscription unless it is the same. Return its project, and the one that there was."""
    project = request.project or context.project_of(tx, request.allowed.origin.channel).id
    in_channel = Subscriptions(tx).in_channel(request.allowed.origin.channel)
    same = [each for each in in_channel if each.section == request.section and each.project == project]
    known = same[0] if same else None
    if known is None or not _is_same(known, request):
        number = Subscriptions(tx).put(
            request.allowed.origin,
            project=project,
            section=request.section,
            weekday=request.weekday,
            at=request.at,
            zone=request.zone,
            now=context.clock(),
        )
        Audit(tx).subscribed(Act.SUBSCRIBED, request.allowed.origin, number, project, context.clock())
    return project, known


def _is_same(known: Subscription, request: SubscribeRequest) -> bool:
    """Return whether a subscription runs as requested. A paused one is to be started again.

    A request without a zone means that of its requester, which the owner's subscription may have.
    """
    weekly, is_owner = known.weekly, known.owner == request.allowed.origin.user
    same_time = (weekly.weekday, weekly.at) == (request.weekday, request.at)
    same_zone = weekly.zone == request.zone if request.zone else is_owner
    return same_time and same_zone and known.state is not SubscriptionState.PAUSED


async def unsubscribe(
    context: Context, allowed: Allowed, section: str | None, project: ProjectId | None = None
) -> Message:
    """End a channel's subscription, or ask which one if there are several.

    ``section``: only those to it, "" for the whole site. ``project``: only those of it.
    """

    def is_meant(each: Subscription) -> bool:
        return section in (None, each.section or "") and project in (None, each.project)

    def end(tx: Transaction) -> Message:
        known = Subscriptions(tx).in_channel(allowed.origin.channel)
        meant = [each for each in known if is_meant(each)]
        if len(meant) > 1:
            return say.which_to_end(meant, context.projects)
        return _end(context, tx, allowed.origin, meant, left=len(known) - len(meant))

    return await context.store.write(end)


async def unsubscribe_one(context: Context, allowed: Allowed, number: SubscriptionId) -> Message:
    """End the subscription with this number if it is one of the channel."""

    def end(tx: Transaction) -> Message:
        known = Subscriptions(tx).in_channel(allowed.origin.channel)
        meant = [each for each in known if each.id == number]
        return _end(context, tx, allowed.origin, meant, left=len(known) - len(meant))

    return await context.store.write(end)


def _end(
    context: Context, tx: Transaction, origin: Origin, meant: Sequence[Subscription], *, left: int
) -> Message:
    for each in meant:
        Subscriptions(tx).change(each.id, state=SubscriptionState.ENDED, next_run_at=None, response_url=None)
        Audit(tx).subscribed(Act.UNSUBSCRIBED, origin, each.id, each.project, context.clock())
    return say.unsubscribed(len(meant), left)


async def list_subscriptions(context: Context, channel: ChannelId) -> Message:
    """Return the list of a channel's subscriptions."""
    found = await context.store.read(lambda tx: Subscriptions(tx).in_channel(channel))
    return say.listed(found, context.clock(), context.projects)


async def digest_now(
    context: Context, allowed: Allowed, section: str | None, named: ProjectId | None
) -> Message:
    """Request a digest of the last full week for this channel, besides the weekly ones.

    The same one within a minute is not stored. ``named``: the project that the person named; None for that of
    the channel.
    """
    origin = allowed.origin

    def add(tx: Transaction) -> tuple[ProjectId, bool]:
        project, now = named or context.project_of(tx, origin.channel).id, context.clock()
        if not Questions(tx).has_key(origin.key):
            lately = Questions(tx).digests_since(project, origin.channel, now - _ASKED_AGAIN)
            if any(each.query.section == section for each in lately):
                return project, False
        week = last_full_week(now, context.analytics.zone)
        _ask_digest(context, tx, origin, project, section, week)
        return project, True

    project, is_added = await context.store.write(add)
    shown = context.projects.shown(project)
    if not is_added:
        return say.digest_again(section, shown)
    context.wake()
    return say.digest_coming(section, shown)


def _ask_digest(
    context: Context,
    tx: Transaction,
    origin: Origin,
    project: ProjectId,
    section: str | None,
    week: Period,
    subscription: SubscriptionId | None = None,
) -> None:
    query = VisitorsQuery(week, week.before(), section, top=_TOP)
    ask(context, tx, origin, query, project, QuestionKind.DIGEST, subscription)


# ---- the worker


async def plan_digests(context: WorkerContext) -> int:
    """Post for new subscriptions, ask for the digests that are due, and request the numbers of the next."""
    new = await context.store.read(lambda tx: Subscriptions(tx).new(_AT_ONCE))
    for subscription in new:
        await _post_first(context, subscription)
    if await context.store.write(lambda tx: _plan(context, tx)) or new:
        context.wake()
    return 0  # what was planned becomes due by itself


async def _post_first(context: WorkerContext, subscription: Subscription) -> None:
    """Post into the channel once. The subscription becomes active only when this post has arrived."""
    known_zone = subscription.weekly.zone if subscription.has_zone else None
    zone = known_zone or await zone_of(context, subscription.owner)

    def post_first(tx: Transaction) -> None:
        changed = Subscriptions(tx).change(
            subscription.id,
            was=SubscriptionState.NEW,
            revision=subscription.revision,
            state=SubscriptionState.PROVING,
            zone=zone,
        )
        known = Subscriptions(tx).get(subscription.id)
        if changed and known is not None:
            key, words = f"subscription:{known.id}:first:{known.revision}", _first_words(context, tx, known)
            post = NewDelivery.post(key, known.channel, known.owner, words)
            Outbox(tx).add(replace(post, subscription=known.id), context.clock())

    await context.store.write(post_first)


def _first_words(context: WorkerContext, tx: Transaction, known: Subscription) -> Message:
    """Return the first post of a subscription. It names the week of the first digest."""
    run_at = _first_run(context, tx, known)
    week = last_full_week(run_at, context.analytics.zone)
    shown = context.projects.shown(known.project)
    return say.first_post(known, run_at, week, now=context.clock(), shown=shown)


def _first_run(context: WorkerContext, tx: Transaction, subscription: Subscription) -> datetime:
    """Return when a new or changed subscription first runs. Skip a week that already has a digest."""
    run_at = subscription.weekly.next_after(context.clock())
    week = last_full_week(run_at, context.analytics.zone)
    is_asked = Questions(tx).has_key(_key(subscription, week))
    return subscription.weekly.next_after(run_at) if is_asked else run_at


def _key(subscription: Subscription, week: Period) -> RequestKey:
    """Return the unique key of a subscription's digest of a week."""
    return RequestKey(f"digest:{subscription.id}:{week.first.isoformat()}")


def _plan(context: WorkerContext, tx: Transaction) -> bool:
    """Ask for the digests that are due, and request the numbers of those that come soon.

    A digest more than a day late is skipped. Return whether there were any.
    """
    now, analytics = context.clock(), context.analytics
    coming = Subscriptions(tx).due(now + _PLANNED_AHEAD, _AT_ONCE)
    ahead: list[tuple[Subscription, Period, datetime]] = []
    for each in coming:
        run_at = each.next_run_at or now
        week = last_full_week(run_at, analytics.zone)
        if run_at > now:
            if analytics.is_final(week, now) and context.projects.serve(each.project):
                ahead.append((each, week, run_at))
            continue
        Subscriptions(tx).change(each.id, next_run_at=each.weekly.next_after(now))
        if now - run_at > LATEST:
            result = f"skipped: {ReadingProblem.DOWN}"
            Subscriptions(tx).change(each.id, last_result=result, last_run_at=run_at)
            log.warning("digest_skipped", subscription=each.id, run_at=run_at.isoformat())
            continue
        origin = Origin(_key(each, week), NOBODY, each.channel)
        _ask_digest(context, tx, origin, each.project, each.section, week, each.id)
    _read_ahead(context, tx, ahead)
    return bool(coming)


def _read_ahead(
    context: WorkerContext, tx: Transaction, coming: Sequence[tuple[Subscription, Period, datetime]]
) -> None:
    """Request the numbers of digests that come soon, each of a week, and want them until its time.

    No digest waits for what readers missed. So that is read when the pages of all with the same key are.
    """
    now, budget_of = context.clock(), context.projects.budget_of
    busy = set[ProjectId]()
    for each, week, run_at in coming:
        pages = [
            Snapshots(tx).request(each.project, period, with_pages=True, is_final=True, now=now)
            for period in week.earlier(2)
        ]
        Snapshots(tx).want([page.id for page in pages], QuestionKind.DIGEST, run_at + WANTED)
        if any(page.state is SnapshotState.REQUESTED for page in pages):
            busy.add(budget_of(each.project))
    for each, week, run_at in coming:
        if budget_of(each.project) not in busy:
            query = VisitorsQuery(week, week.before(), each.section)
            missed = request_missed(context, tx, each.project, query, now)
            Snapshots(tx).want([part.id for part in missed], QuestionKind.DIGEST, run_at + WANTED)


# ---- what came of a post


def posted(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    """Activate the subscription after its first post; note the result after a later one."""
    subscription = _of(tx, delivery)
    if delivery.what.question is not None:
        Subscriptions(tx).change(subscription.id, last_result="posted", last_run_at=context.clock())
        return
    next_run_at, active = _first_run(context, tx, subscription), SubscriptionState.ACTIVE
    was = SubscriptionState.PROVING
    Subscriptions(tx).change(
        subscription.id, was=was, state=active, next_run_at=next_run_at, response_url=None
    )


def refused(context: WorkerContext, tx: Transaction, delivery: Delivery, why: NotPosted) -> None:
    """End the subscription if its first post is refused; pause it if a later one is. Tell the owner.

    A refusal that only the operator can solve, such as a revoked token, does not pause the subscription.
    """
    known, now, change, bot_name = _of(tx, delivery), why.at, Subscriptions(tx).change, context.bot_name
    shown, url = context.projects.shown(known.project), None
    if delivery.what.question is None:
        if not change(known.id, was=SubscriptionState.PROVING, state=SubscriptionState.ENDED):
            return
        what, message = "refused", say.cannot_subscribe(why, bot_name)
        url = known.response_url
    else:
        change(known.id, last_result=f"not posted: {why.meaning}", last_run_at=now)
        if why.meaning.needs_operator:
            what, message = "refused", say.not_posted(known, why, bot_name, shown)
        elif change(known.id, was=SubscriptionState.ACTIVE, state=SubscriptionState.PAUSED, next_run_at=None):
            what, message = "paused", say.paused(known, why, bot_name, shown)
        else:
            return
    log.warning("subscription_refused", subscription=known.id, channel=known.channel)
    key = f"{delivery.what.key}:{what}"
    Outbox(tx).add(NewDelivery.private(key, known.channel, known.owner, message, response_url=url), now)


def _of(tx: Transaction, delivery: Delivery) -> Subscription:
    subscription = Subscriptions(tx).get(delivery.what.subscription) if delivery.what.subscription else None
    if subscription is None:
        raise LookupError(f"delivery {delivery.id} belongs to no subscription")
    return subscription
