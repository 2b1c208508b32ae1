"""Call Slack safely: within the lease, as a member of the channel, and never twice for want of a search."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import structlog

from bot.model import ChannelId, Delivery, Refusal
from bot.store import LeaseLost
from bot.work.context import WorkerContext
from bot.work.ports import SlackRefused, SlackUnclear

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
_SHARE = 1 / 3
"""Of the lease: what the slowest call to Slack may take."""
_JOINABLE = frozenset({Refusal.NOT_A_MEMBER})


def check_lease(context: WorkerContext, delivery: Delivery) -> None:
    """Raise LeaseLost when there is not enough time left to say it.

    A process that was stopped for a while (a paused machine, a laptop asleep) must not say what another
    has said meanwhile. The row is looked for when its lease has run out.
    """
    needed = timedelta(seconds=context.timeouts.lease_seconds * _SHARE)
    if delivery.held_until is not None and context.clock() + needed > delivery.held_until:
        raise LeaseLost(f"delivery {delivery.id}")


async def as_member(
    context: WorkerContext,
    channel: ChannelId,
    call: Callable[[], Awaitable[Result]],
    joinable: frozenset[Refusal] = _JOINABLE,
) -> Result:
    """Make a call; after a refusal of one of these meanings join the public channel and call once more.

    When joining is refused too, the first refusal is raised: it is the one that explains.
    """
    try:
        return await call()
    except SlackRefused as refusal:
        if refusal.meaning not in joinable:
            raise
        try:
            await context.messenger.join(channel)
        except SlackRefused as second:
            if context.log_once.first("join", channel, second.code):
                log.warning("join_refused", channel=channel, reason=second.code)
            raise refusal from None
        return await call()


async def find_earlier(search: Awaitable[Result]) -> Result:
    """Return what a search for an earlier attempt found.

    A search that is refused as if for its blocks says nothing of the blocks that were sent, which may well
    stand there. Raises `SlackUnclear` then, so that nothing is said again without a search.
    """
    try:
        return await search
    except SlackRefused as refusal:
        if refusal.meaning is Refusal.BLOCKS:
            raise SlackUnclear(f"the look was refused: {refusal.code}") from None
        raise
