"""What a message in Slack says to the bot: whether it is for it, by which door, and about which job."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from bot.context import Context
from bot.ids import JobNumber, RequestKey, is_direct_message
from bot.jobs.model.inbox import InboxMessage
from bot.jobs.model.intents import Door
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.store.inbox import Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.messages import slack_text
from bot.outbox.store import Outbox
from bot.ports import Origin, SharedFile, ThreadRef, message_key
from bot.store import Transaction

_NAMED = re.compile(r"#([0-9]{1,9})(?![^\s,:])[\s,:]*")
"""The name of a job at the start of a reply."""
_OVER = frozenset({JobState.REFUSED, JobState.WITHDRAWN, JobState.ARCHIVED})
"""States after which a mention in the job's thread starts a new job there."""


@dataclass(frozen=True, slots=True)
class SpokenThread:
    """A thread with a new reply.

    ``job``: the job that the reply steers. ``text``: the reply without the mention and the job's name.
    ``being_posted``: no job has this thread, and a status message whose timestamp is not stored yet may have
    begun the thread.
    """

    job: TrackedJob | None
    text: str
    being_posted: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """A message for the bot.

    ``text``: without the mention and the name of the job. ``job``: that of its thread.
    """

    origin: Origin
    door: Door
    text: str
    files: tuple[SharedFile, ...] = ()
    job: TrackedJob | None = None
    allow_key: bool = False
    is_sure: bool = False
    """See ``PromptRequest``."""
    parts: tuple[InboxMessage, ...] = ()
    """The messages that say it. A pressed button sends one of before."""
    instead_of: RequestKey | None = None
    """The earlier request of these messages."""


class Later(Enum):
    """Stands for a message whose thread is still being begun."""

    LATER = "later"


LATER = Later.LATER


def interpret(context: Context, tx: Transaction, message: InboxMessage) -> Heard | Later | None:
    """Return what a message says to the bot; None for one that is for others.

    A reply waits while the job of its thread, or the thread's timestamp, is not stored yet. Words that the
    author of a held message adds in its thread belong to it.
    """
    origin, raw = message.origin, message.text or ""
    text = slack_text.without_leading_mention(raw, context.bot_user)
    if message.is_mention:
        # It may have been edited since.
        is_for_us = is_direct_message(message.channel) or slack_text.mentions(raw, context.bot_user)
        if slack_text.is_aside(text) or not is_for_us:
            return None
        return Heard(origin, Door.FIRST, text, message.files, parts=(message,))
    thread = find_thread(tx, origin, text)
    is_mention = slack_text.mentions(raw, context.bot_user)
    door = Door.ADDRESSED if is_mention else Door.REPLY
    # An app_mention, and a change, does not name the first author of its thread.
    if thread.job is None and thread.being_posted and message.parent in (None, context.bot_user):
        return LATER
    if not is_meant_for_us(context, message, thread):
        return None
    job = thread.job
    if job is None or (is_mention and (job.is_forgotten or job.state in _OVER)):
        door = Door.FIRST
    return Heard(origin, door, thread.text, message.files, job, parts=(message,))


def part_text(context: Context, tx: Transaction, message: InboxMessage) -> str | None:
    """Return the words for the agent in a message that was an instruction; None if none are left."""
    raw = message.text or ""
    text = slack_text.without_leading_mention(raw, context.bot_user)
    needs_mention = message.door is not Door.REPLY and not is_direct_message(message.channel)
    if message.text is None or (needs_mention and not slack_text.mentions(raw, context.bot_user)):
        return None
    if slack_text.is_aside(text) or (not needs_mention and _is_for_others(context, raw, text)):
        return None
    if is_for_another_job(context, tx, message):
        return None
    if message.door is not Door.REPLY and (named := _NAMED.match(text)):
        text = text[named.end() :]
    elif message.thread is not None and message.door is not Door.FIRST:
        text = find_thread(tx, message.origin, text).text
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})) and not message.files:
        return None
    return text.strip()


def is_for_another_job(context: Context, tx: Transaction, message: InboxMessage) -> bool:
    """Return whether a mention names a job that is not the one of its request."""
    text = slack_text.without_leading_mention(message.text or "", context.bot_user)
    named = _NAMED.match(text)
    if message.door is Door.REPLY or named is None or message.request is None:
        return False
    return Prompts(tx).job_of(message.request) != JobNumber(int(named[1]))


def _is_for_others(context: Context, raw: str, text: str) -> bool:
    return slack_text.is_aside(text) or slack_text.mentions_somebody_else_first(
        raw, context.bot_user
    )


def find_thread(tx: Transaction, origin: Origin, text: str) -> SpokenThread:
    """Return the thread of a reply and the job that it steers."""
    # In this order, so that the second statement finds a timestamp that is stored between the two.
    being_posted = Outbox(tx).status_message_being_posted(origin.channel)
    if origin.thread is None:
        raise ValueError("a reply names its thread")
    thread = ThreadRef(origin.channel, origin.thread)
    newest = Jobs(tx).in_thread(thread)
    if newest is None and is_direct_message(thread.channel):
        # A direct message asked for this job, whose first message begins another thread.
        key = message_key(thread.channel, thread.ts)
        said = Inbox(tx).with_key(key)
        begun_with = Prompts(tx).job_of((said and said.request) or key)
        begun = Jobs(tx).get(begun_with) if begun_with is not None else None
        newest = begun if begun is not None and begun.channel == thread.channel else None
    if newest is None:
        return SpokenThread(None, text, being_posted=being_posted)
    named = _NAMED.match(text)
    job = Jobs(tx).get(JobNumber(int(named[1]))) if named else None
    if named and job is not None and job.thread == thread:
        return SpokenThread(job, text[named.end() :])
    return SpokenThread(newest, text)


def is_meant_for_us(context: Context, reply: InboxMessage, thread: SpokenThread) -> bool:
    """Return whether a reply is for the bot: it mentions it, or stands where every reply is for it."""
    raw = reply.text or ""
    if _is_for_others(context, raw, slack_text.without_leading_mention(raw, context.bot_user)):
        return False
    if slack_text.mentions(raw, context.bot_user):
        return True
    if thread.job is None:
        # In direct messages only the bot is there to talk to. Its own messages may get replies, too.
        return is_direct_message(reply.channel) and reply.parent not in (None, context.bot_user)
    return not thread.job.needs_mention
