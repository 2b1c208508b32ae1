"""Call Slack within the lease, and as a member of the channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import structlog

from bot.context import WorkerContext
from bot.ids import ChannelId, Refusal
from bot.outbox.model import Delivery
from bot.ports import SlackRefused, SlackUnclear
from bot.store import LeaseLost

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
_CALL_SHARE = 1 / 3
"""The share of a lease that the slowest call to Slack may take."""
_JOINABLE = frozenset({Refusal.NOT_A_MEMBER})


def check_lease(context: WorkerContext, delivery: Delivery) -> None:
    """Raise LeaseLost when less than a third of the lease is left for the call.

    A process that was suspended (a paused machine, a sleeping laptop) must not repeat another process's
    post. The delivery is claimed again when its lease has run out.
    """
    needed = timedelta(seconds=context.timeouts.lease_seconds * _CALL_SHARE)
    if delivery.held_until is not None and context.clock() + needed > delivery.held_until:
        raise LeaseLost(f"delivery {delivery.id}")


async def as_member(
    context: WorkerContext,
    channel: ChannelId,
    call: Callable[[], Awaitable[Result]],
    joinable: frozenset[Refusal] = _JOINABLE,
) -> Result:
    """Make a call. If Slack refuses it with a meaning in ``joinable``, join the channel and retry once.

    Only public channels can be joined. If joining is refused, raise the refusal of the call, which has
    the better code.
    """
    try:
        return await call()
    except SlackRefused as refusal:
        if refusal.meaning not in joinable:
            raise
        try:
            await context.messenger.join(channel)
        except SlackRefused as second:
            log.warning("join_refused", channel=channel, reason=second.code)
            raise refusal from None
        return await call()


async def find_earlier(search: Awaitable[Result]) -> Result:
    """Return the result of a search for an earlier attempt.

    Raises `SlackUnclear` if the search is refused with BLOCKS. That refusal concerns the search and not the
    blocks of the delivery, which may have been posted: it is posted again only after a search.
    """
    try:
        return await search
    except SlackRefused as refusal:
        if refusal.meaning is Refusal.BLOCKS:
            raise SlackUnclear(f"the look was refused: {refusal.code}") from None
        raise
