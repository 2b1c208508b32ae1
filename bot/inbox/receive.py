"""The writing of Slack's events to the inbox, before they are acknowledged.

Nobody is asked here, neither Slack nor a service: a listener filters and stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from functools import partial

from bot.context import Context
from bot.ids import MessageTs, is_direct_message
from bot.inbox.meaning import find_thread, is_talk, may_answer
from bot.inbox.model import DELETED, InboxMessage, MessageState
from bot.inbox.store import REDELIVERED_FOR, SETTLED, SETTLED_KEPT_FOR, Inbox, MissedMessages
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.store.prompts import Prompts
from bot.messages import slack_text
from bot.outbox.store import Outbox
from bot.ports import Changed, Content, Mention, ThreadReply, time_of, ts_at
from bot.store import Transaction
from bot.store.trials import token_in
from bot.store.upgrade import installed_at

Message = ThreadReply | Mention


class Relevance(Enum):
    """The part of a message that is stored."""

    NOTHING = "nothing"
    """It is for others."""
    KEY = "key"
    """It is for others by a choice or by words that may change, so its place and time are kept."""
    ALL = "all"


async def receive(
    context: Context, messages: Sequence[Message], *, is_missed: bool = False
) -> None:
    """Store the messages of a conversation that may be for the bot, all at once.

    ``is_missed``: they were read after an outage, and count as of the times when they were written.
    """
    possible = [message for message in messages if _may_be_relevant(context, message)]
    if not possible:
        return
    relevance = [Relevance.ALL] * len(possible)
    if any(isinstance(message, ThreadReply) for message in possible):

        def find_relevance(tx: Transaction) -> list[Relevance]:
            return [relevance_of(context, message, tx) for message in possible]

        relevance = await context.store.read(find_relevance)
    pairs = zip(possible, relevance, strict=True)
    kept = [pair for pair in pairs if pair[1] is not Relevance.NOTHING]

    if not kept:
        return

    def store(tx: Transaction) -> bool:
        is_new = [_store(context, tx, message, how, is_missed=is_missed) for message, how in kept]
        return any(is_new)

    has_new = await context.store.write(store)
    if has_new:
        context.wake()


def _may_be_relevant(context: Context, message: Message) -> bool:
    text = slack_text.without_leading_mention(message.text, context.bot_user)
    if message.origin.message_ts is None or slack_text.is_aside(text):
        return False
    # The token of a trial starts nothing, also where the message is read again after an outage.
    return token_in(text) is None


def relevance_of(context: Context, message: Message, tx: Transaction) -> Relevance:
    """Return how much of a message is stored.

    The message mentions the bot, or is in a place where the bot may have a part.
    """
    origin = message.origin
    if isinstance(message, Mention) or origin.thread is None:
        return Relevance.ALL
    if slack_text.mentions(message.text, context.bot_user):
        return Relevance.ALL
    # Asked first, so that the next statement finds a timestamp that is stored between the two.
    being_posted = Outbox(tx).status_message_being_posted(origin.channel)
    thread = find_thread(context, tx, origin, message.text)
    if thread.job is not None:
        return _find_relevance_in_job(context, message, thread.job)
    # A change does not name the thread's first author, and a status message may have begun it just
    # now.
    may_be_status_message = message.parent_user in (None, context.bot_user)
    if being_posted and may_be_status_message:
        return Relevance.ALL
    if is_direct_message(origin.channel) or Inbox(tx).is_undecided(origin.channel, origin.thread):
        return Relevance.ALL
    return Relevance.ALL if may_answer(context, tx, message) else Relevance.NOTHING


def _find_relevance_in_job(context: Context, message: ThreadReply, job: TrackedJob) -> Relevance:
    """Return the part to store of a reply in a job's thread without a mention of the bot."""
    if job.needs_mention:
        return Relevance.KEY
    is_plain_talk = not message.content.files and is_talk(context, message, job)
    # Another version of the bot may read the thread again, and must not decide again.
    return Relevance.KEY if is_plain_talk else Relevance.ALL


def _store(
    context: Context, tx: Transaction, message: Message, relevance: Relevance, *, is_missed: bool
) -> bool:
    origin = message.origin
    now = context.clock()
    ts = origin.message_ts or MessageTs("")
    if relevance is Relevance.KEY:
        Inbox(tx).add_settled(origin, message.version, now)
        return False
    said_at = now
    if is_missed:
        # Slack's clock may be ahead of this machine's, and the message would wait until then.
        said_at = min(time_of(ts), now)
    is_first = origin.is_direct and not is_missed and not Inbox(tx).knows_channel(origin.channel)
    is_new = Inbox(tx).add(message, said_at)
    if is_new and is_first:
        # Others around it may have been missed by a bot that did not know of the conversation.
        since = max(time_of(ts) - REDELIVERED_FOR, installed_at(tx))
        MissedMessages(tx).add(ts_at(since), now, origin.channel)
    elif is_new and not is_missed:
        _read_thread_of_late_mention(context, tx, message)
    return is_new


def _read_thread_of_late_mention(context: Context, tx: Transaction, message: Message) -> None:
    """Let the thread of a new mention be read if it comes late.

    Slack delivers an event again, and a reply that came before its mention was for others.
    """
    channel = message.origin.channel
    ts = message.origin.message_ts
    is_mention = isinstance(message, Mention) or slack_text.mentions(message.text, context.bot_user)
    if ts is None or not is_mention or is_direct_message(channel):
        return
    now = context.clock()
    # The bot's clock may be behind Slack's.
    age = abs(now - time_of(ts))
    if age > timedelta(seconds=context.timeouts.late_seconds):
        MissedMessages(tx).add(ts, now, channel)


async def receive_change(context: Context, changed: Changed) -> None:
    """Store an edit of a message, or its deletion, also before the message itself has arrived."""
    origin = changed.origin
    if origin.message_ts is None:
        return
    relevance = await context.store.read(partial(_find_relevance_of_change, context, changed))
    if relevance is Relevance.NOTHING:
        return
    if await context.store.write(partial(store_change, context, changed, relevance)):
        context.wake()


def _find_relevance_of_change(context: Context, changed: Changed, tx: Transaction) -> Relevance:
    origin = changed.origin
    known = Inbox(tx).at(origin.channel, origin.message_ts or MessageTs(""))
    if known is not None and known.state is not MessageState.SETTLED:
        return Relevance.ALL
    if known is not None and changed.text is None:
        return Relevance.KEY
    age = _age(changed)
    if changed.text is not None and age <= SETTLED_KEPT_FOR:
        now = _find_relevance_if_new(context, changed, changed.text, tx)
        if now is not Relevance.NOTHING:
            return now
    # The event of the message may still come, with the text from before the edit.
    is_to_come = known is None and changed.before is not None and age <= REDELIVERED_FOR
    if is_to_come and _find_relevance_if_new(context, changed, changed.before or "", tx) is not (
        Relevance.NOTHING
    ):
        return Relevance.KEY
    return Relevance.NOTHING


def _age(changed: Changed) -> timedelta:
    """Return how long a message was there when it was changed, by Slack's clock."""
    ts = changed.origin.message_ts
    return time_of(MessageTs(changed.version)) - time_of(ts) if ts else timedelta.max


def _find_relevance_if_new(
    context: Context, changed: Changed, text: str, tx: Transaction
) -> Relevance:
    message = _to_message(changed, text)
    if not _may_be_relevant(context, message):
        return Relevance.NOTHING
    is_outside = isinstance(message, Mention) and not message.origin.is_direct
    if is_outside and not slack_text.mentions(text, context.bot_user):
        return Relevance.NOTHING
    return relevance_of(context, message, tx)


def _to_message(changed: Changed, text: str) -> Message:
    kind = Mention if changed.origin.thread is None else ThreadReply
    content = replace(_content(changed), text=text)
    return kind(changed.origin, content, version=changed.version)


def _content(changed: Changed) -> Content:
    return changed.content or Content("")


def store_change(context: Context, changed: Changed, relevance: Relevance, tx: Transaction) -> bool:
    """Write an edit or a deletion. Return whether a worker has to look at it."""
    origin = changed.origin
    now = context.clock()
    message = Inbox(tx).at(origin.channel, origin.message_ts or MessageTs(""))
    if message is None and relevance is Relevance.ALL and changed.text is not None:
        return _add_edited(context, tx, changed, _to_message(changed, changed.text))
    if message is None:
        version = DELETED if changed.text is None else changed.version
        Inbox(tx).add_settled(origin, version, now)
        return False
    if changed.text is None:
        return _delete(tx, message, now)
    if changed.version <= message.version:
        return False  # the same edit again, or an earlier edit that arrives later
    if message.state is MessageState.SETTLED:
        return _reopen(tx, message, changed, relevance, now)
    if origin.user != message.user:
        return False
    _write_edit(tx, message, changed, now)
    _hold_request(tx, message, now)
    return True


def _add_edited(context: Context, tx: Transaction, changed: Changed, message: Message) -> bool:
    """Store an edited message that has not come itself. Return whether it is new."""
    is_new = Inbox(tx).add(message, context.clock())
    # Earlier replies were for others: the edit made the message a mention.
    was_mention = slack_text.mentions(changed.before or "", context.bot_user)
    if is_new and was_mention:
        _read_thread_of_late_mention(context, tx, message)
    return is_new


def _reopen(
    tx: Transaction, message: InboxMessage, changed: Changed, relevance: Relevance, now: datetime
) -> bool:
    """Let a settled message be decided again, since its author has edited it."""
    if relevance is not Relevance.ALL:
        Inbox(tx).change(message, version=changed.version)
        return False
    _write_edit(tx, message, changed, now)
    return True


def _write_edit(tx: Transaction, message: InboxMessage, changed: Changed, now: datetime) -> None:
    """Write the new text of a message, so that it is decided again."""
    content = _content(changed)
    Inbox(tx).change(
        message,
        state=MessageState.NEW,
        user=changed.origin.user,
        text=changed.text,
        files=content.files or None,
        omitted_parts=content.omitted_parts or None,
        version=changed.version,
        said_at=now,
        due_at=now,
    )


def _delete(tx: Transaction, message: InboxMessage, now: datetime) -> bool:
    """Erase the words of a deleted message. Its request is made anew without the message."""
    if message.request is None:
        Inbox(tx).change(message, version=DELETED, **SETTLED)
        return False
    if message.version == DELETED:
        return False
    Inbox(tx).change(
        message,
        state=MessageState.NEW,
        text=None,
        files=None,
        omitted_parts=None,
        version=DELETED,
        due_at=now,
    )
    _hold_request(tx, message, now)
    return True


def _hold_request(tx: Transaction, message: InboxMessage, now: datetime) -> None:
    """Let nothing be sent before an edit or a deletion of its messages is carried out."""
    if message.request is not None:
        Prompts(tx).hold(message.request, now)
