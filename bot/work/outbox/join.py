"""Posting and looking take a member of the channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from bot.model import ChannelId, Refusal
from bot.work.context import WorkerContext
from bot.work.ports import SlackRefused

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
JOINABLE = frozenset({Refusal.NOT_A_MEMBER})


async def as_member(
    context: WorkerContext,
    channel: ChannelId,
    call: Callable[[], Awaitable[Result]],
    joinable: frozenset[Refusal] = JOINABLE,
) -> Result:
    """Do it; where one of these refusals says that we are outside, the public channel is joined on the way.

    When that is refused too, the first refusal is the one that explains.
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
