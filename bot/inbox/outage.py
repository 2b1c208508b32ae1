"""Reading conversations again after an outage, and a channel to which the bot was invited."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import structlog

from bot.access.admit import NotAllowed, admit
from bot.context import Context, WorkerContext
from bot.engine import back_off_seconds, unless_taken_over
from bot.ids import ChannelId, MessageTs, is_direct_message
from bot.inbox import messages as say
from bot.inbox.model import Conversation, MissedSpan
from bot.inbox.receive import receive, receive_change
from bot.inbox.store import REDELIVERED_FOR, SETTLED_KEPT_FOR, Inbox, MissedMessages
from bot.outbox.private_answers import private_answer
from bot.outbox.store import Outbox
from bot.ports import (
    Changed,
    Mention,
    SlackError,
    SlackRefused,
    SlackThrottled,
    SlackUnclear,
    time_of,
    ts_at,
)
from bot.store import Transaction
from bot.store.upgrade import installed_at

log = structlog.get_logger(__name__)
_MAX_ATTEMPTS = 10
_OPERATOR_SECONDS = 600.0
"""Pause while Slack refuses the token, until an operator replaces it."""


class Outage:
    """Whether messages may have been missed: at the start, and whenever ``begin`` was called.

    An outage ends before a newer message is stored. Conversations are read from a while before the
    newest message in the inbox, and a newer one would hide those that were missed. Where messages
    may still be missed for a while, they are read after it.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._is_open = True
        self._goes_on_until = context.clock()
        self._longest = timedelta()
        self._ending = asyncio.Lock()

    def begin(self, lasting_seconds: float = 0.0) -> None:
        """Note that messages may have been missed, or may be for a while.

        ``lasting_seconds``: the seconds from now in which messages may still be missed.
        """
        self._is_open = True
        self._longest = max(self._longest, timedelta(seconds=lasting_seconds))
        until = self._context.clock() + timedelta(seconds=lasting_seconds)
        self._goes_on_until = max(self._goes_on_until, until)

    async def end(self) -> None:
        """Let a worker read the conversations again if there was one.

        After DatabaseTrouble it goes on.
        """
        async with self._ending:
            if not self._is_open:
                return
            self._is_open = False
            try:
                await self._context.store.write(self._let_read)
            except BaseException:
                self._is_open = True
                raise
        self._context.wake()

    def _let_read(self, tx: Transaction) -> None:
        now = self._context.clock()
        # The clock may have been set back since.
        due_at = min(max(now, self._goes_on_until), now + self._longest)
        newest = Inbox(tx).newest()
        earliest = [now - SETTLED_KEPT_FOR, installed_at(tx)]
        if newest is not None:
            earliest.append(time_of(newest) - REDELIVERED_FOR)
        MissedMessages(tx).add(ts_at(max(earliest)), due_at)


@dataclass
class _Reading:
    """The conversations that this process has still to read again."""

    remaining: deque[Conversation]
    attempts: int = 0
    """How often reading the first of them has failed."""


@dataclass
class Reader:
    """The worker that reads conversations again, one after the other.

    Only this process knows the remaining conversations. If it dies, another process begins anew.
    """

    _readings: dict[int, _Reading] = field(default_factory=dict)
    """Those that rest, by the id of their row. A channel has two rows if more was missed meanwhile."""

    async def claim(
        self, context: WorkerContext, _limit: int, _full: Collection[str] = ()
    ) -> Sequence[MissedSpan]:
        """Claim the missed messages, if they are due and no other process reads them."""
        return await context.store.write(lambda tx: MissedMessages(tx).claim(context.claimer()))

    async def read_again(self, context: WorkerContext, missed: MissedSpan) -> None:
        """Read the conversations in which messages may have been missed."""
        with unless_taken_over("conversation", missed.id):
            if missed.is_invited:
                await _offer_mention(context, missed)
                return
            reading = self._readings.get(missed.id)
            if reading is None:
                reading = await _list_missed(context, missed)
                await self._drop_ended(context)
                self._readings[missed.id] = reading
            while reading.remaining:
                if not await self._read_next(context, missed, reading):
                    return
            del self._readings[missed.id]
            await context.settle(lambda tx: MissedMessages(tx).end(missed, context.owner))

    async def _drop_ended(self, context: WorkerContext) -> None:
        """Drop the readings whose rows another process has ended, or newer rows have replaced."""
        spans = await context.store.read(lambda tx: MissedMessages(tx).list_ids())
        self._readings = {span: rest for span, rest in self._readings.items() if span in spans}

    async def _read_next(
        self, context: WorkerContext, missed: MissedSpan, reading: _Reading
    ) -> bool:
        """Read one conversation. Return False if the rest has to wait."""
        channel, thread = reading.remaining[0]
        since = max(missed.since_ts, ts_at(context.clock() - SETTLED_KEPT_FOR))
        try:
            found = await context.messenger.read_messages_since(channel, thread=thread, since=since)
        except SlackError as error:
            return await _put_back(context, missed, reading, error)
        if found:
            log.info("conversation_read_again", channel=channel, messages=len(found))
        said = [each for each in found if not isinstance(each, Changed)]
        await context.retry(partial(receive, context, said, is_missed=True))
        for change in found:
            if isinstance(change, Changed):
                await context.retry(partial(receive_change, context, change))
        reading.remaining.popleft()
        reading.attempts = 0
        await context.settle(lambda tx: MissedMessages(tx).renew(missed, context.claimer()))
        if reading.remaining:
            await asyncio.sleep(context.timeouts.unread_pace_seconds)
        return True


async def _list_missed(context: WorkerContext, missed: MissedSpan) -> _Reading:
    """List the conversations to read, the newest first."""
    if missed.channel is not None:
        found = await context.store.read(partial(_find_in_channel, missed.channel, missed.since_ts))
        return _Reading(deque(found))
    conversations, left_out = await context.store.read(
        lambda tx: Inbox(tx).conversations(context.clock())
    )
    if conversations:
        log.info("conversations_to_read_again", conversations=len(conversations), left_out=left_out)
    return _Reading(deque(conversations))


def _find_in_channel(
    channel: ChannelId, since: MessageTs, tx: Transaction
) -> Sequence[Conversation]:
    """Return a direct conversation, or the threads of a channel's requests since a time."""
    if is_direct_message(channel):
        return [Conversation(channel, None)]
    return Inbox(tx).threads_since(channel, since)


async def _put_back(
    context: WorkerContext, missed: MissedSpan, reading: _Reading, error: SlackError
) -> bool:
    """Postpone the other conversations after an error.

    Return True if the error is about one conversation alone."""
    channel, _ = reading.remaining[0]
    reading.attempts += 1
    log.warning(
        "conversation_not_read_again", channel=channel, reason=str(error), attempts=reading.attempts
    )
    needs_operator = isinstance(error, SlackRefused) and error.meaning.needs_operator
    is_unreadable = isinstance(error, SlackRefused) and not needs_operator
    is_given_up = isinstance(error, SlackUnclear) and reading.attempts > _MAX_ATTEMPTS
    if is_unreadable or is_given_up:
        reading.remaining.popleft()
        reading.attempts = 0
        return True
    seconds = back_off_seconds(reading.attempts, context.chance())
    if needs_operator:
        seconds = _OPERATOR_SECONDS
    elif isinstance(error, SlackThrottled):
        seconds = error.retry_after_seconds
    elif isinstance(error, SlackUnclear):
        # Perhaps only this one cannot be read.
        reading.remaining.rotate(-1)
    due_at = context.after(seconds)
    await context.settle(lambda tx: MissedMessages(tx).put_back(missed, context.owner, due_at))
    context.wake_after(seconds)
    return False


async def _offer_mention(context: WorkerContext, missed: MissedSpan) -> None:
    """Offer the newest mention that the bot missed in a channel to its author, once."""
    channel = missed.channel or ChannelId("")
    note = None
    try:
        found = await context.messenger.read_mentions_since(channel, since=missed.since_ts)
        mention = await context.store.read(partial(_find_unknown_mention, found))
        if mention is not None:
            await admit(context, mention.origin, channel=channel)
            offer = say.missed_mention(mention.origin)
            note = private_answer(context, mention.origin, "missed", offer)
    except (SlackError, NotAllowed) as error:
        # An offer is no promise: nothing was asked of a bot that was not there.
        log.info("missed_mention_not_offered", channel=channel, reason=type(error).__name__)

    def write(tx: Transaction) -> None:
        if note is not None:
            Outbox(tx).add(note, context.clock())
        MissedMessages(tx).end(missed, context.owner)

    await context.settle(write)


def _find_unknown_mention(mentions: Sequence[Mention], tx: Transaction) -> Mention | None:
    """Return the first of these mentions that the bot has not heard."""
    for mention in mentions:
        ts = mention.origin.message_ts
        if ts is not None and Inbox(tx).at(mention.origin.channel, ts) is None:
            return mention
    return None
