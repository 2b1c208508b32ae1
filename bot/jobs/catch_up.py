"""Handle messages that arrived while the bot was away: in jobs' threads and direct messages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

import structlog

from bot.access.admit import Untold
from bot.context import Context, WorkerContext
from bot.engine import back_off_seconds, unless_taken_over
from bot.jobs.corrections import take_change
from bot.jobs.model.jobs import UnreadConversation
from bot.jobs.store.conversations import Conversations
from bot.jobs.thread_events import TooEarly
from bot.ports import (
    Changed,
    Mention,
    SlackError,
    SlackRefused,
    SlackThrottled,
    SlackUnclear,
    ThreadReply,
    time_of,
)
from bot.store import Transaction

Take = Callable[[Context, ThreadReply | Mention], Awaitable[None]]
"""Handles a message; see ``bot/jobs/commands/catalogue.py``."""
log = structlog.get_logger(__name__)
_MOST_ATTEMPTS = 10
_OPERATOR_SECONDS = 600.0
"""Pause while Slack refuses the token, until an operator replaces it."""


class Gap:
    """Whether messages may have been missed: at the start, and whenever ``begin`` was called.

    A gap ends before a newer message is handled. Conversations are read from the newest message received, so
    a newer one would hide those that were missed. Where messages may still be missed for a while, they are
    read after it.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._is_open = True
        self._goes_on_until = context.clock()
        self._longest = timedelta()
        self._ending = asyncio.Lock()

    def begin(self, seconds: float = 0.0) -> None:
        """Note that messages may have been missed, or may be in the next ``seconds``."""
        self._is_open = True
        self._longest = max(self._longest, timedelta(seconds=seconds))
        until = self._context.clock() + timedelta(seconds=seconds)
        self._goes_on_until = max(self._goes_on_until, until)

    async def end(self) -> None:
        """Let workers read the conversations again if there is a gap. After DatabaseTrouble it stays."""
        async with self._ending:
            if not self._is_open:
                return
            self._is_open = False
            try:
                context = self._context
                now = context.clock()
                # The clock may have been set back since.
                due_at = min(max(now, self._goes_on_until), now + self._longest)
                count, left_out = await context.store.write(
                    lambda tx: Conversations(tx).begin_reading(now, due_at)
                )
            except BaseException:
                self._is_open = True
                raise
        if count:
            log.info("reading_again", conversations=count, left_out=left_out)
            context.wake()


async def claim_unread(
    context: WorkerContext, _limit: int, _full: Collection[str] = ()
) -> Sequence[UnreadConversation]:
    """Claim one conversation that is to be read again."""
    pace_seconds = context.timeouts.unread_pace_seconds
    unread = await context.store.write(
        lambda tx: Conversations(tx).claim(context.claimer(), context.after(pace_seconds))
    )
    if unread is None:
        return []
    context.wake_after(pace_seconds)
    return [unread]


async def catch_up(context: WorkerContext, unread: UnreadConversation, take: Take) -> None:
    """Read one conversation again and ``take`` its missed messages."""
    with unless_taken_over("conversation", unread.id):
        try:
            since, thread = unread.since, unread.thread
            messages = await context.messenger.read_messages_since(unread.channel, thread=thread, since=since)
            for received in messages:
                await context.retry(partial(_take_missed, context, received, take))
        except (SlackError, Untold, TooEarly) as error:
            failure = error if isinstance(error, SlackError) else SlackUnclear(type(error).__name__)
            await context.settle(partial(_settle_error, context, unread, failure))
            return
        if messages:
            log.info("missed_messages", channel=unread.channel, messages=len(messages))
        await context.settle(lambda tx: Conversations(tx).settle(unread, context.owner))


async def _take_missed(context: WorkerContext, received: ThreadReply | Mention | Changed, take: Take) -> None:
    """Handle a missed message as of the time when it was posted."""
    if isinstance(received, Changed):
        await take_change(context, received)
        return
    if received.origin.message_ts is None:
        return
    # Slack's clock may be ahead of this machine's, and the message would wait until then.
    said_at = min(time_of(received.origin.message_ts), context.clock())
    then = replace(context, clock=lambda: said_at)
    await take(then, received)


def _settle_error(
    context: WorkerContext, unread: UnreadConversation, error: SlackError, tx: Transaction
) -> None:
    """Write when the conversation is read next, or that it cannot be read."""
    log.warning("not_read_again", channel=unread.channel, reason=str(error), attempts=unread.attempts)
    is_refused = isinstance(error, SlackRefused)
    seconds = back_off_seconds(unread.attempts + 1, context.chance())
    if isinstance(error, SlackRefused) and error.meaning.needs_operator:
        seconds = _OPERATOR_SECONDS
    elif is_refused or (isinstance(error, SlackUnclear) and unread.attempts >= _MOST_ATTEMPTS):
        Conversations(tx).settle(unread, context.owner)
        return
    elif isinstance(error, SlackThrottled):
        seconds = error.retry_after_seconds
    until = context.after(seconds)
    Conversations(tx).put_back(unread, context.owner, until)
    if not isinstance(error, SlackUnclear):
        Conversations(tx).hold(until)  # the others would fare no better


async def forget_conversations(context: Context) -> int:
    """Forget the conversations that are too old to matter. Return 0, so that a worker rests."""
    await context.store.write(lambda tx: Conversations(tx).forget(context.clock()))
    return 0
