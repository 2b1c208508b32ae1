"""What a message in Slack says to the bot: its place, its job, and the decision about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum

from bot.commands.meaning import Meaning, find_meaning
from bot.context import Context
from bot.ids import JobNumber, RequestKey, is_direct_message
from bot.intent.kinds import SILENT, STARTS_JOB, Kind, Place
from bot.intent.own_words import FoundWord
from bot.jobs.model.inbox import Door, InboxMessage
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptKind, PromptState
from bot.jobs.questions import find_answered
from bot.jobs.respond import place_of_job
from bot.jobs.store.inbox import Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.messages import slack_text
from bot.outbox.store import Outbox
from bot.ports import Origin, SharedFile, ThreadRef, message_key
from bot.store import Transaction

FOLLOW_UP_COMMAND = "/docs-followup"
"""The command that a mention means which begins with the name of a job elsewhere: ``#7 shorter``."""
_NAMED = re.compile(r"#([0-9]{1,9})(?![^\s,:])[\s,:]*")
"""The name of a job at the start of a text."""
_OVER = frozenset({JobState.REFUSED, JobState.WITHDRAWN, JobState.ARCHIVED})
"""States after which a mention in the job's thread starts a new job there."""
_UNSENT = frozenset({PromptState.NEW, PromptState.WAITING})
_NOT_READ_AGAIN = STARTS_JOB | SILENT | {Kind.THANKS, Kind.DISAPPROVAL, Kind.STOP}
"""Kinds of edited requests that need no reaction once the request is taken back."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a message stands."""

    place: Place
    job: TrackedJob | None = None
    """The job that it steers there; None if it may only start one."""
    is_named: bool = False
    """It begins with the name of the job."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A message for the bot, and what it means."""

    origin: Origin
    door: Door
    place: Place
    meaning: Meaning
    files: tuple[SharedFile, ...] = ()
    job: TrackedJob | None = None
    """The job of its thread, or the one that it adds to."""
    allow_key: bool = False
    is_sure: bool = False
    """See ``PromptRequest``."""
    parts: tuple[InboxMessage, ...] = ()
    """The messages that say it. A pressed button sends one of before."""
    instead_of: RequestKey | None = None
    """The earlier request of these messages."""

    @property
    def text(self) -> str:
        """The part for the bot as wire text, with the name of its project."""
        return self.meaning.whole

    @property
    def kind(self) -> Kind:
        return self.meaning.kind


class Later(Enum):
    """Stands for a message whose thread is still being begun."""

    LATER = "later"


LATER = Later.LATER


def interpret(context: Context, tx: Transaction, message: InboxMessage) -> Heard | Later | None:
    """Return what a message says to the bot; None for one that is for others.

    A reply waits while the job of its thread, or the thread's timestamp, is not stored yet.
    """
    spot = find_spot(context, tx, message)
    if not isinstance(spot, Spot):
        return spot
    raw = message.text or ""
    has_files = bool(message.files)
    meaning = find_meaning(context, raw, spot.place, author=message.user, has_files=has_files)
    if meaning.kind in SILENT:
        return None
    if spot.is_named:
        meaning = replace(meaning, text=_NAMED.sub("", meaning.text, count=1))
    elif spot.job is None:
        meaning = _of_named_job(meaning)
    return Heard(
        message.origin,
        _door(context, message, spot),
        spot.place,
        meaning,
        message.files,
        spot.job,
        parts=(message,),
    )


def _door(context: Context, message: InboxMessage, spot: Spot) -> Door:
    if message.thread is None or spot.job is None:
        return Door.FIRST
    is_mention = slack_text.mentions(message.text or "", context.bot_user)
    return Door.ADDRESSED if is_mention else Door.REPLY


def _of_named_job(meaning: Meaning) -> Meaning:
    """Return the follow-up to a job elsewhere, if a text begins with its name: ``#7 shorter``."""
    named = _NAMED.match(meaning.text)
    if named is None or named.end() == len(meaning.text):
        return meaning
    plain = slack_text.to_plain(meaning.text, {}, {})
    word = FoundWord(named[0].strip(" ,:"), plain, (FOLLOW_UP_COMMAND,))
    return replace(meaning, decision=replace(meaning.decision, kind=Kind.OWN_WORD, word=word))


# ---- where it stands


def find_spot(context: Context, tx: Transaction, message: InboxMessage) -> Spot | Later | None:
    """Return where a message stands; None for a reply where only mentions of the bot are for it."""
    is_direct = is_direct_message(message.channel)
    if message.thread is None:
        job = _held_job(context, tx, message) if is_direct else None
        if job is not None:
            return Spot(place_of_job(job), job)
        return Spot(Place.DIRECT if is_direct else Place.CHANNEL)
    thread = find_thread(context, tx, message)
    is_mention = slack_text.mentions(message.text or "", context.bot_user)
    job = thread.job
    if job is None:
        # An app_mention, and a change, does not name the first author of its thread.
        if thread.being_posted and message.parent in (None, context.bot_user):
            return LATER
    elif not is_mention:
        # A channel's choice about later replies does not concern an edit.
        is_for_people = job.among_people or (job.by_mention and message.request is None)
        return None if is_for_people else Spot(place_of_job(job), job, thread.is_named)
    elif not (job.is_forgotten or job.state in _OVER):
        return Spot(place_of_job(job), job, thread.is_named)
    where = ThreadRef(message.channel, message.thread)
    if find_answered(context, tx, where) is not None:
        return Spot(Place.DIRECT_ANSWER if is_direct else Place.ANSWER)
    return Spot(Place.DIRECT if is_direct else Place.PEOPLE)


def _held_job(context: Context, tx: Transaction, message: InboxMessage) -> TrackedJob | None:
    """Return the job that the author of a direct message asked for just now, and may add to."""
    joined = Prompts(tx).with_key(message.request) if message.request else None
    if joined is not None and _has_joined(message, joined):
        return Jobs(tx).get(joined.job)
    within = timedelta(seconds=context.timeouts.hold_seconds)
    for part in Inbox(tx).taken_beside(message, within):
        prompt = Prompts(tx).with_key(part.request) if part.request else None
        if prompt is not None and part.ts < message.ts and prompt.state in _UNSENT:
            return Jobs(tx).get(prompt.job)
    return None


@dataclass(frozen=True, slots=True)
class SpokenThread:
    """A thread with a new reply."""

    job: TrackedJob | None
    """The job that the reply steers; None if no job has the thread."""
    is_named: bool = False
    """The reply begins with the name of the job."""
    being_posted: bool = False
    """No job has the thread, but a status message whose timestamp is not stored yet may begin it."""


def find_thread(context: Context, tx: Transaction, message: InboxMessage) -> SpokenThread:
    """Return the thread of a reply and the job that it steers."""
    # In this order, so that the second statement finds a timestamp that is stored between the two.
    being_posted = Outbox(tx).status_message_being_posted(message.channel)
    if message.thread is None:
        raise ValueError("a reply names its thread")
    thread = ThreadRef(message.channel, message.thread)
    begun = _begun_by(tx, message)
    newest = Jobs(tx).in_thread(thread, before=begun)
    if newest is None and begun is None and is_direct_message(thread.channel):
        newest = _begun_by_direct_message(tx, thread)
    if newest is None:
        return SpokenThread(None, being_posted=being_posted and begun is None)
    text = slack_text.without_leading_mention(message.text or "", context.bot_user)
    named = _NAMED.match(text)
    job = Jobs(tx).get(JobNumber(int(named[1]))) if named else None
    if named and job is not None and job.thread == thread:
        return SpokenThread(job, is_named=True)
    return SpokenThread(newest)


def _begun_by(tx: Transaction, message: InboxMessage) -> JobNumber | None:
    """Return the job that a message has begun; None for another message."""
    prompt = Prompts(tx).with_key(message.request) if message.request else None
    if prompt is None or prompt.kind is not PromptKind.START or _has_joined(message, prompt):
        return None
    return prompt.job


def _has_joined(message: InboxMessage, prompt: Prompt) -> bool:
    """Return whether a message was added to a prompt that an earlier one had begun."""
    return prompt.message_ts not in (None, message.ts)


def _begun_by_direct_message(tx: Transaction, thread: ThreadRef) -> TrackedJob | None:
    """Return the job that a direct message asked for, whose status message begins another thread."""
    key = message_key(thread.channel, thread.ts)
    said = Inbox(tx).with_key(key)
    number = Prompts(tx).job_of((said and said.request) or key)
    job = Jobs(tx).get(number) if number is not None else None
    return job if job is not None and job.channel == thread.channel else None


# ---- a request whose messages are edited or deleted


def part_text(context: Context, tx: Transaction, part: InboxMessage, prompt: Prompt) -> str | None:
    """Return the words for the agent in a message of a request; None if it asks for nothing any more."""
    heard = interpret(context, tx, part) if part.text is not None else None
    if not isinstance(heard, Heard):
        return None
    named = find_named_job(heard)
    if named is not None and named != prompt.job:
        return None
    text = heard.text.strip()
    if named is not None:
        text = _NAMED.sub("", text, count=1)
        job = Jobs(tx).get_or_raise(prompt.job)
        meaning = find_meaning(context, text, place_of_job(job), author=part.user)
        heard = replace(heard, meaning=meaning, place=place_of_job(job))
    if not _asks_agent(context, heard, prompt):
        return None
    is_blank = slack_text.is_blank(slack_text.to_plain(text, {}, {}))
    return None if is_blank and not part.files else text


def find_named_job(heard: Heard) -> JobNumber | None:
    """Return the job elsewhere that a message begins with; None for another message."""
    word = heard.meaning.decision.word
    if heard.kind is not Kind.OWN_WORD or word is None or word.commands != (FOLLOW_UP_COMMAND,):
        return None
    named = _NAMED.match(heard.meaning.text)
    return JobNumber(int(named[1])) if named else None


def _asks_agent(context: Context, heard: Heard, prompt: Prompt) -> bool:
    """Return whether a message is for the agent: by its meaning, or because it means what was sent.

    A question that its author had sent anyway stays a request when its words change.
    """
    if heard.kind in STARTS_JOB or not heard.meaning.text:
        return True
    was = find_meaning(context, prompt.raw, heard.place, author=heard.origin.user)
    return heard.kind is was.kind


def is_read_again(heard: Heard | Later | None) -> bool:
    """Return whether a message needs a reaction once its request is taken back, such as an answer."""
    return isinstance(heard, Heard) and heard.kind not in _NOT_READ_AGAIN
