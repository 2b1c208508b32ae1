"""What a message says to the bot: whether it is for it, about which job, and what is to be done."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from bot.context import Context
from bot.ids import JobNumber, is_direct_message
from bot.inbox.model import InboxMessage
from bot.inbox.store import Inbox
from bot.jobs.model.intents import Deed, Door, Intent, classify, deed_for
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.messages import slack_text
from bot.outbox.store import Outbox
from bot.ports import Origin, SharedFile, ThreadRef, message_key
from bot.projects import UnknownProject
from bot.store import Transaction

_NAMED = re.compile(r"#([0-9]{1,9})(?![^\s,:])[\s,:]*")
"""The name of a job at the start of a reply."""
_OVER = frozenset({JobState.REFUSED, JobState.WITHDRAWN, JobState.ARCHIVED})
"""States after which a mention in the job's thread starts a new job there."""


@dataclass(frozen=True, slots=True)
class SpokenThread:
    """A thread with a new reply.

    ``job``: the job that the reply steers; None if the thread is that of no job. ``text``: the reply without
    the job's name.
    """

    job: TrackedJob | None
    text: str


@dataclass(frozen=True, slots=True)
class Heard:
    """A message for the bot, decided."""

    origin: Origin
    door: Door
    text: str
    """The part for the bot: without its mention and the name of the job."""
    intent: Intent
    deed: Deed
    files: tuple[SharedFile, ...] = ()
    job: TrackedJob | None = None
    """The job of its thread."""

    @property
    def plain(self) -> str:
        """The part for the bot as a person reads it, with ids in place of names."""
        return slack_text.to_plain(self.text, {}, {})

    @property
    def is_blank(self) -> bool:
        """Whether it has no words."""
        return slack_text.is_blank(self.plain)


class Later(Enum):
    """Stands for a message whose thread is still being begun."""

    LATER = "later"


LATER = Later.LATER


def interpret(context: Context, tx: Transaction, message: InboxMessage) -> Heard | Later | None:
    """Return what a message says to the bot; None for one that is for others.

    A reply waits while the job of its thread, or the thread's timestamp, is not stored yet.
    """
    raw = message.text or ""
    is_by_app = message.user in context.settings.allowed_bots
    text = slack_text.without_leading_mention(raw, context.bot_user)
    if message.thread is None or is_by_app:
        # It may have been edited since.
        is_ours = is_direct_message(message.channel) or slack_text.mentions(raw, context.bot_user)
        if slack_text.is_aside(text) or not is_ours:
            return None
        job, rest = _find_named(tx, text)
        door = Door.FIRST if job is None else Door.ADDRESSED
        return _decide(context, message, door, rest, job)
    # In this order, so that the second statement finds a timestamp that is stored between the two.
    being_posted = Outbox(tx).status_message_being_posted(message.channel)
    thread = find_thread(tx, message.origin, text)
    if thread.job is None and Inbox(tx).is_undecided(message.channel, message.thread):
        return LATER
    # An app_mention, and a change, does not name the first author of its thread.
    if thread.job is None and being_posted and message.parent in (None, context.bot_user):
        return LATER
    if not is_for_us(context, message, thread.job):
        return None
    is_mention = slack_text.mentions(raw, context.bot_user)
    job, rest = thread.job, thread.text
    if is_mention:
        named, named_rest = _find_named(tx, text)
        job, rest = (named, named_rest) if named is not None else (job, rest)
    door = Door.ADDRESSED if is_mention else Door.REPLY
    if job is None or (is_mention and (job.is_forgotten or job.state in _OVER)):
        door = Door.FIRST
    return _decide(context, message, door, rest, job)


def _decide(
    context: Context, message: InboxMessage, door: Door, text: str, job: TrackedJob | None
) -> Heard:
    """Decide about the part for the bot by the table in ``bot/jobs/model/intents.py``."""
    plain = slack_text.to_plain(_without_project(context, text), {}, {})
    intent = classify(plain, door)
    deed = deed_for(intent, door, retries=job is not None and job.can_run_again)
    is_thanks = intent in (Intent.THANKS, Intent.REVIEWED)
    is_by_app = message.user in context.settings.allowed_bots
    # Files hold more than the words beside them, and apps cannot press buttons.
    if message.files and not is_thanks:
        deed = Deed.SEND
    if is_by_app and not is_thanks and not (context.discovery and intent is Intent.QUESTION):
        deed = Deed.SEND
    return Heard(message.origin, door, text, intent, deed, message.files, job)


def _find_named(tx: Transaction, text: str) -> tuple[TrackedJob | None, str]:
    """Return the job that the first word of a text names, and the text after that; else the text."""
    named = _NAMED.match(text)
    if named is None or slack_text.is_blank(text[named.end() :]):
        return None, text
    job = Jobs(tx).get(JobNumber(int(named[1])))
    return (None, text) if job is None else (job, text[named.end() :])


def _without_project(context: Context, text: str) -> str:
    with suppress(UnknownProject):
        text, _ = context.projects.take(text)
    return text


def is_talk(context: Context, raw: str) -> bool:
    """Return whether a reply in a job's own thread is plain talk, which needs no reaction."""
    text = _without_project(context, raw)
    intent = classify(slack_text.to_plain(text, {}, {}), Door.REPLY)
    return deed_for(intent, Door.REPLY, retries=False) is Deed.LEAVE


def find_thread(tx: Transaction, origin: Origin, text: str) -> SpokenThread:
    """Return the thread of a reply and the job that it steers."""
    if origin.thread is None:
        raise ValueError("a reply names its thread")
    thread = ThreadRef(origin.channel, origin.thread)
    newest = Jobs(tx).in_thread(thread)
    if newest is None and is_direct_message(thread.channel):
        newest = _begun_by_direct_message(tx, thread)
    if newest is None:
        return SpokenThread(None, text)
    named = _NAMED.match(text)
    job = Jobs(tx).get(JobNumber(int(named[1]))) if named else None
    if named and job is not None and job.thread == thread:
        return SpokenThread(job, text[named.end() :])
    return SpokenThread(newest, text)


def _begun_by_direct_message(tx: Transaction, thread: ThreadRef) -> TrackedJob | None:
    """Return the job that a direct message asked for, whose status message begins another thread."""
    said = Inbox(tx).at(thread.channel, thread.ts)
    key = message_key(thread.channel, thread.ts)
    number = Prompts(tx).job_of((said and said.request) or key)
    job = Jobs(tx).get(number) if number is not None else None
    return job if job is not None and job.channel == thread.channel else None


def is_for_us(context: Context, reply: InboxMessage, job: TrackedJob | None) -> bool:
    """Return whether a reply is for the bot: it mentions it, or stands where every reply is for it."""
    raw = reply.text or ""
    text = slack_text.without_leading_mention(raw, context.bot_user)
    if slack_text.is_aside(text):
        return False
    if slack_text.mentions_somebody_else_first(raw, context.bot_user):
        return False
    if slack_text.mentions(raw, context.bot_user):
        return True
    if job is None:
        # In direct messages only the bot is there to talk to. Its own messages may get replies, too.
        return is_direct_message(reply.channel) and reply.parent not in (None, context.bot_user)
    # A channel's choice about later replies does not concern an edit.
    return not (job.among_people or (job.by_mention and reply.request is None))
