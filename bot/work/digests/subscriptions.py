"""Subscribe a channel to the weekly digest, end that, and ask for a digest at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time, timedelta

from bot.messages import subscriptions as say
from bot.model.audit import Act
from bot.model.digests import Subscription, SubscriptionState
from bot.model.ids import ChannelId, ProjectId
from bot.model.message import Message
from bot.model.origin import Origin
from bot.model.period import last_full_week
from bot.model.weekly_time import Weekday
from bot.store import Transaction
from bot.work.context import Context

_ASKED_AGAIN = timedelta(minutes=1)
"""Whoever asks for the same digest twice within this time is asked before it is sent again."""


@dataclass(frozen=True, slots=True)
class SubscribeRequest:
    """A request for a weekly digest in a channel.

    ``zone`` is None for the time zone of the requester, ``project`` for the project of the channel.
    """

    origin: Origin
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
    project = request.project or context.project_of(tx, request.origin.channel).id
    in_channel = tx.subscriptions.in_channel(request.origin.channel)
    same = [each for each in in_channel if each.section == request.section and each.project == project]
    known = same[0] if same else None
    if known is None or not _is_same(known, request):
        number = tx.subscriptions.put(
            request.origin,
            project=project,
            section=request.section,
            weekday=request.weekday,
            at=request.at,
            zone=request.zone,
            now=context.clock(),
        )
        tx.audit.subscribed(Act.SUBSCRIBED, request.origin, number, project, context.clock())
    return project, known


def _is_same(known: Subscription, request: SubscribeRequest) -> bool:
    """Return whether a subscription runs as requested. A paused one is to be started again.

    A request without a zone means that of its requester, which the owner's subscription may have.
    """
    weekly, is_owner = known.weekly, known.owner == request.origin.user
    same_time = (weekly.weekday, weekly.at) == (request.weekday, request.at)
    same_zone = weekly.zone == request.zone if request.zone else is_owner
    return same_time and same_zone and known.state is not SubscriptionState.PAUSED


async def unsubscribe(
    context: Context, origin: Origin, section: str | None, project: ProjectId | None = None
) -> Message:
    """End a channel's subscriptions: those to a section, of a project, or all of them if both are None."""

    def end(tx: Transaction) -> tuple[int, int]:
        known = tx.subscriptions.in_channel(origin.channel)
        ended = [
            each for each in known if section in (None, each.section) and project in (None, each.project)
        ]
        for each in ended:
            tx.subscriptions.change(
                each.id, state=SubscriptionState.ENDED, next_run_at=None, response_url=None
            )
            tx.audit.subscribed(Act.UNSUBSCRIBED, origin, each.id, each.project, context.clock())
        return len(ended), len(known) - len(ended)

    return say.unsubscribed(*await context.store.write(end))


async def list_subscriptions(context: Context, channel: ChannelId) -> Message:
    """Return the list of a channel's subscriptions."""
    found = await context.store.read(lambda tx: tx.subscriptions.in_channel(channel))
    return say.listed(found, context.clock(), context.projects)


async def digest_now(
    context: Context,
    origin: Origin,
    section: str | None,
    named: ProjectId | None = None,
    *,
    again: bool = False,
) -> tuple[Message, bool]:
    """Request a digest of the last full week for this channel, besides the weekly ones.

    Return the message for the person, and whether a digest was stored: the same one within a minute is only
    if they confirm it (``again``). ``named``: the project that they named; None for that of the channel.
    """

    def add(tx: Transaction) -> tuple[ProjectId, bool]:
        project = named or context.project_of(tx, origin.channel).id
        return project, _add_digest(context, tx, origin, project, section, again=again)

    project, is_added = await context.store.write(add)
    shown = context.projects.shown(project)
    if not is_added:
        return say.digest_again(section, shown), False
    context.wake()
    return say.digest_coming(section, shown), True


def _add_digest(
    context: Context,
    tx: Transaction,
    origin: Origin,
    project: ProjectId,
    section: str | None,
    *,
    again: bool,
) -> bool:
    """Add the digest. Return False if the channel was sent the same one a moment ago, so that nothing is."""
    now, key = context.clock(), f"now:{origin.key}"
    asks = not again and not tx.digests.has_key(key)
    if asks and tx.digests.asked_since(project, origin.channel, section, now - _ASKED_AGAIN):
        return False
    tx.digests.add(
        key=key,
        subscription=None,
        project=project,
        channel=origin.channel,
        section=section,
        week=last_full_week(now, context.analytics.zone),
        now=now,
        origin=origin,
    )
    return True
