"""The meaning of a message for the bot: its place, its job, and its kind."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum

from bot.answers.colleagues import awaits_reply
from bot.commands.meaning import Meaning, find_meaning
from bot.context import Context
from bot.ids import JobNumber, is_direct_message
from bot.inbox.model import Door, InboxMessage, MessageState
from bot.inbox.store import Inbox
from bot.intent.kinds import KINDS_THAT_START_JOBS, UNANSWERED_KINDS, Kind, Place
from bot.intent.own_words import FoundWord
from bot.jobs.commands.followup import NAME as FOLLOW_UP_COMMAND
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptKind, PromptState
from bot.jobs.questions import find_answered
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.unsent_texts import NEVER_SENT, place_of_job
from bot.messages import slack_text
from bot.outbox.store import Outbox
from bot.ports import Mention, Origin, SharedFile, ThreadRef, ThreadReply, message_key
from bot.store import Transaction

_NAMED_PATTERN = re.compile(r"#([0-9]{1,9})(?![^\s,:])[\s,:]*")
"""The name of a job at the start of a text."""
_FINISHED_STATES = frozenset({JobState.REFUSED, JobState.WITHDRAWN, JobState.ARCHIVED})
"""States after which a mention in the job's thread starts a new job there."""
_UNSENT_STATES = frozenset({PromptState.NEW, PromptState.WAITING})


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a message."""

    place: Place
    job: TrackedJob | None = None
    """The job that it steers; None if it may only start one."""
    is_named: bool = False
    """It begins with the name of the job."""
    is_elsewhere: bool = False
    """It names a job of another thread, which is said on purpose."""
    is_job_unsent: bool = False
    """The job has not gone to the agent, and has no thread around the message."""


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """A message for the bot, decided."""

    origin: Origin
    door: Door
    place: Place
    meaning: Meaning
    files: tuple[SharedFile, ...] = ()
    job: TrackedJob | None = None
    """The job that it steers."""
    is_for_agent: bool = False
    """It asks for a change."""

    @property
    def full_text(self) -> str:
        """The part for the bot as wire text, with the name of its project."""
        return self.meaning.full_text

    @property
    def kind(self) -> Kind:
        return self.meaning.kind

    @property
    def is_blank(self) -> bool:
        """Whether the message has no words."""
        return slack_text.is_blank(slack_text.to_plain(self.full_text, {}, {}))


class Later(Enum):
    """Stands for a message whose thread is still being begun."""

    LATER = "later"


LATER = Later.LATER


def interpret(
    context: Context, tx: Transaction, message: InboxMessage
) -> HeardMessage | Later | None:
    """Return the meaning of a message for the bot; None for a message to others.

    A reply waits while the job of its thread, or the thread's timestamp, is not stored yet.
    """
    spot = find_spot(context, tx, message)
    if not isinstance(spot, Spot):
        return spot
    raw = message.text or ""
    has_files = bool(message.files)
    meaning = find_meaning(
        context,
        raw,
        spot.place,
        author=message.user,
        has_files=has_files,
        is_job_unsent=spot.is_job_unsent,
    )
    if meaning.kind in UNANSWERED_KINDS:
        return None
    if spot.is_named:
        text = _NAMED_PATTERN.sub("", meaning.text, count=1)
        meaning = find_meaning(context, text, spot.place, author=message.user, has_files=has_files)
    elif spot.job is None:
        meaning = _find_unknown_job(meaning)
    heard = HeardMessage(
        message.origin,
        _find_door(context, message, spot),
        spot.place,
        meaning,
        message.files,
        spot.job,
    )
    return replace(heard, is_for_agent=_is_for_agent(context, tx, message, heard, spot))


def _find_door(context: Context, message: InboxMessage, spot: Spot) -> Door:
    if spot.job is None:
        return Door.FIRST
    is_mention = slack_text.mentions(message.text or "", context.bot_user)
    is_reply = message.thread is not None and not spot.is_elsewhere
    return Door.REPLY if is_reply and not is_mention else Door.ADDRESSED


def _find_unknown_job(meaning: Meaning) -> Meaning:
    """Return the follow-up to a job that is unknown, if a text begins with its name."""
    named = _NAMED_PATTERN.match(meaning.text)
    if named is None or named.end() == len(meaning.text):
        return meaning
    plain = slack_text.to_plain(meaning.text, {}, {})
    word = FoundWord(named[0].strip(" ,:"), plain, (FOLLOW_UP_COMMAND,))
    return replace(meaning, decision=replace(meaning.decision, kind=Kind.OWN_WORD, word=word))


def _is_for_agent(
    context: Context, tx: Transaction, message: InboxMessage, heard: HeardMessage, spot: Spot
) -> bool:
    """Return whether a message asks for a change, by its meaning or its earlier request.

    A question that its author had sent anyway stays a request when its words change.
    """
    if heard.kind in KINDS_THAT_START_JOBS or (heard.is_blank and heard.files):
        return True
    if spot.is_elsewhere:
        return heard.kind not in NEVER_SENT
    prompt = Prompts(tx).with_key(message.request) if message.request else None
    if prompt is None or heard.is_blank:
        return False
    was = find_meaning(context, prompt.raw, heard.place, author=message.user)
    return heard.kind is was.kind


def is_talk(context: Context, message: ThreadReply, job: TrackedJob) -> bool:
    """Return whether a reply in a job's own thread is plain talk, which needs no reaction."""
    place = place_of_job(job)
    meaning = find_meaning(context, message.text, place, author=message.origin.user)
    return meaning.kind in UNANSWERED_KINDS


def may_answer(context: Context, tx: Transaction, message: ThreadReply | Mention) -> bool:
    """Return whether a reply among people may answer the question of its thread."""
    origin = message.origin
    if origin.thread is None or origin.user in context.settings.allowed_bots:
        return False
    if not awaits_reply(tx, ThreadRef(origin.channel, origin.thread), origin.user):
        return False
    meaning = find_meaning(context, message.text, Place.ANSWER, author=origin.user)
    return meaning.kind is Kind.COLLEAGUE_ANSWER


# ---- the place of a message


def find_spot(context: Context, tx: Transaction, message: InboxMessage) -> Spot | Later | None:
    """Return the place of a message; None for a reply that is not for the bot.

    In some threads only mentions of the bot are for it.
    """
    if message.thread is None or message.user in context.settings.allowed_bots:
        return _find_spot_outside_threads(context, tx, message)
    raw = message.text or ""
    is_direct = is_direct_message(message.channel)
    is_mention = slack_text.mentions(raw, context.bot_user)
    # In this order, so that the next statements find a timestamp that is stored between the two.
    being_posted = Outbox(tx).status_message_being_posted(message.channel)
    thread = find_thread(context, tx, message.origin, raw, _find_begun_job(tx, message))
    job = thread.job
    if job is None:
        if _is_below_held_files(tx, message):
            # Its author talks to the bot, as in direct messages.
            return Spot(Place.DIRECT)
        if Inbox(tx).is_undecided(message.channel, message.thread):
            return LATER
        # An app_mention, and a change, does not name the first author of its thread.
        is_begun_now = _find_begun_job(tx, message) is None and being_posted
        if is_begun_now and message.parent_user in (None, context.bot_user):
            return LATER
    elif not is_mention:
        # A channel's choice about later replies does not concern an edit.
        is_for_people = job.among_people or (job.is_mention_only and message.request is None)
        return None if is_for_people else Spot(place_of_job(job), job, thread.is_named)
    if is_mention:
        named = _find_named_job(context, tx, message)
        if named is not None and named != job:
            return Spot(place_of_job(named), named, is_named=True, is_elsewhere=True)
    if job is not None and not (job.is_forgotten or job.state in _FINISHED_STATES):
        return Spot(place_of_job(job), job, thread.is_named)
    if not (is_mention or is_direct):
        where = ThreadRef(message.channel, message.thread)
        return Spot(Place.ANSWER) if awaits_reply(tx, where, message.user) else None
    return _find_spot_without_job(context, tx, message, is_direct=is_direct)


def _find_spot_outside_threads(
    context: Context, tx: Transaction, message: InboxMessage
) -> Spot | None:
    """Return the place of a message outside of threads; None if it is for people."""
    is_direct = is_direct_message(message.channel)
    # It may have been edited since.
    if not (is_direct or slack_text.mentions(message.text or "", context.bot_user)):
        return None
    named = _find_named_job(context, tx, message)
    if named is not None:
        return Spot(place_of_job(named), named, is_named=True, is_elsewhere=True)
    unsent = _find_unsent_job(context, tx, message) if is_direct else None
    if unsent is not None:
        return Spot(place_of_job(unsent), unsent, is_job_unsent=True)
    return Spot(Place.DIRECT if is_direct else Place.CHANNEL)


def _is_below_held_files(tx: Transaction, message: InboxMessage) -> bool:
    """Return whether a reply has the words for which its author's files above it are held."""
    root = Inbox(tx).at(message.channel, message.thread) if message.thread else None
    if root is None or root.state is not MessageState.HELD:
        return False
    return (root.conversation_ts, root.user) == (message.conversation_ts, message.user)


def _find_spot_without_job(
    context: Context, tx: Transaction, message: InboxMessage, *, is_direct: bool
) -> Spot:
    where = ThreadRef(message.channel, message.thread or message.ts)
    if find_answered(context, tx, where) is not None:
        return Spot(Place.DIRECT_ANSWER if is_direct else Place.ANSWER)
    return Spot(Place.DIRECT if is_direct else Place.PEOPLE)


def _find_named_job(context: Context, tx: Transaction, message: InboxMessage) -> TrackedJob | None:
    """Return the job that the first word of a message names, if more words follow."""
    text = slack_text.without_leading_mention(message.text or "", context.bot_user)
    named = _NAMED_PATTERN.match(text)
    if named is None or slack_text.is_blank(text[named.end() :]):
        return None
    return Jobs(tx).get(JobNumber(int(named[1])))


def _find_unsent_job(context: Context, tx: Transaction, message: InboxMessage) -> TrackedJob | None:
    """Return the job that the author of a direct message asked for just now, and may add to."""
    joined = Prompts(tx).with_key(message.request) if message.request else None
    if joined is not None and _has_joined(message, joined):
        return Jobs(tx).get(joined.job)
    within = timedelta(seconds=context.timeouts.hold_seconds)
    for part in Inbox(tx).taken_beside(message, within):
        prompt = Prompts(tx).with_key(part.request) if part.request else None
        if prompt is not None and part.ts < message.ts and prompt.state in _UNSENT_STATES:
            return Jobs(tx).get(prompt.job)
    return None


@dataclass(frozen=True, slots=True)
class SpokenThread:
    """A thread with a new reply."""

    job: TrackedJob | None
    """The job that the reply steers; None if no job has the thread."""
    is_named: bool = False
    """The reply begins with the name of the job."""


def find_thread(
    context: Context, tx: Transaction, origin: Origin, raw: str, begun: JobNumber | None = None
) -> SpokenThread:
    """Return the thread of a reply and the job that it steers.

    ``begun``: the job that it has begun.
    """
    if origin.thread is None:
        raise ValueError("a reply names its thread")
    thread = ThreadRef(origin.channel, origin.thread)
    newest = Jobs(tx).in_thread(thread, before=begun)
    if newest is None and begun is None and is_direct_message(thread.channel):
        newest = _find_directly_begun_job(tx, thread)
    if newest is None:
        return SpokenThread(None)
    named = _NAMED_PATTERN.match(slack_text.without_leading_mention(raw, context.bot_user))
    job = Jobs(tx).get(JobNumber(int(named[1]))) if named else None
    if named and job is not None and job.thread == thread:
        return SpokenThread(job, is_named=True)
    return SpokenThread(newest)


def _find_begun_job(tx: Transaction, message: InboxMessage) -> JobNumber | None:
    """Return the job that a message has begun; None for another message."""
    prompt = Prompts(tx).with_key(message.request) if message.request else None
    if prompt is None or prompt.kind is not PromptKind.START or _has_joined(message, prompt):
        return None
    return prompt.job


def _has_joined(message: InboxMessage, prompt: Prompt) -> bool:
    """Return whether a message was added to a prompt that an earlier one had begun."""
    return prompt.message_ts not in (None, message.ts)


def _find_directly_begun_job(tx: Transaction, thread: ThreadRef) -> TrackedJob | None:
    """Return the job of a direct message whose status message begins another thread."""
    said = Inbox(tx).at(thread.channel, thread.ts)
    key = message_key(thread.channel, thread.ts)
    number = Prompts(tx).job_of((said and said.request) or key)
    job = Jobs(tx).get(number) if number is not None else None
    return job if job is not None and job.channel == thread.channel else None
