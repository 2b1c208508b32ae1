"""Handle messages that arrived while the bot was away: in jobs' threads and direct messages."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import partial

import structlog

from bot.context import Context, WorkerContext
from bot.engine import back_off_seconds, unless_taken_over
from bot.jobs.inbox import receive, receive_change
from bot.jobs.model.inbox import UnreadConversation
from bot.jobs.store.inbox import Inbox
from bot.ports import Changed, SlackError, SlackRefused, SlackThrottled, SlackUnclear, ts_at
from bot.store import Transaction

log = structlog.get_logger(__name__)
_MOST_ATTEMPTS = 10
_OPERATOR_SECONDS = 600.0
"""Pause while Slack refuses the token, until an operator replaces it."""


class Gap:
    """Whether messages may have been missed: at the start, and whenever ``begin`` was called.

    A gap ends before a newer message is stored. Conversations are read from a while before the newest message
    in the inbox, and a newer one would hide those that were missed. Where messages may still be missed for a
    while, they are read after it.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.began = ts_at(context.clock() - timedelta(seconds=1))
        """What was written before is nothing that this database has missed, unless it knows more."""
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
                    lambda tx: Inbox(tx).begin_reading(now, due_at)
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
        lambda tx: Inbox(tx).claim_unread(context.claimer(), context.after(pace_seconds))
    )
    if unread is None:
        return []
    context.wake_after(pace_seconds)
    return [unread]


async def catch_up(context: WorkerContext, unread: UnreadConversation) -> None:
    """Read one conversation again, and store what the inbox lacks."""
    with unless_taken_over("conversation", unread.id):
        try:
            since, thread = unread.since, unread.thread
            messages = await context.messenger.read_messages_since(
                unread.channel, thread=thread, since=since
            )
        except SlackError as error:
            await context.settle(partial(_settle_error, context, unread, error))
            return
        if messages:
            log.info("read_again", channel=unread.channel, messages=len(messages))
        for missed in messages:
            if isinstance(missed, Changed):
                await context.retry(partial(receive_change, context, missed))
            else:
                await context.retry(partial(receive, context, missed, born=None, missed=True))
        await context.settle(lambda tx: Inbox(tx).settle_unread(unread, context.owner))


def _settle_error(
    context: WorkerContext, unread: UnreadConversation, error: SlackError, tx: Transaction
) -> None:
    """Write when the conversation is read next, or that it cannot be read."""
    log.warning(
        "not_read_again", channel=unread.channel, reason=str(error), attempts=unread.attempts
    )
    is_refused = isinstance(error, SlackRefused)
    seconds = back_off_seconds(unread.attempts + 1, context.chance())
    if isinstance(error, SlackRefused) and error.meaning.needs_operator:
        seconds = _OPERATOR_SECONDS
    elif is_refused or (isinstance(error, SlackUnclear) and unread.attempts >= _MOST_ATTEMPTS):
        Inbox(tx).settle_unread(unread, context.owner)
        return
    elif isinstance(error, SlackThrottled):
        seconds = error.retry_after_seconds
    until = context.after(seconds)
    Inbox(tx).put_back_unread(unread, context.owner, until)
    if not isinstance(error, SlackUnclear):
        Inbox(tx).hold_unread(until)  # the others would fare no better
