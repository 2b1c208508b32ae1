"""Handle messages in Slack: a mention asks or steers, a reply steers, and thanks cost nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from bot import slack_text
from bot.messages import job_answers as say
from bot.messages.general import unknown_project
from bot.model.access import Origin, message_key
from bot.model.ids import JobNumber, Message, is_direct_message
from bot.model.jobs import JobState, Review, SharedFile, TakeThread, TrackedJob
from bot.model.outbox import DeliveryKind, NewDelivery
from bot.model.projects import Project, Projects, UnknownProject
from bot.model.prompts import PromptRequest
from bot.store import Transaction
from bot.store.conversations import RETRIED_FOR
from bot.work.access import Allowed, NotAllowed, Readable, Untold, admit, readable, tell_not_allowed
from bot.work.context import Context, FollowUps
from bot.work.jobs.ask import TooManyWaiting, ask, follow_up
from bot.work.jobs.attachments import asked_to_take
from bot.work.jobs.decisions import keep_review
from bot.work.jobs.thread import say as say_in_thread
from bot.work.ports import Mention, ThreadReply

REACTION = "+1"
_EMOJI_NAME = re.compile(r":[a-z0-9_+'-]+:(?::skin-tone-[2-6]:)?", re.IGNORECASE)


def _phrases(joined: str) -> frozenset[str]:
    return frozenset(joined.split("|"))


_THANKS = _phrases(
    "+1|thanks|thanks a lot|thanks so much|thanks a bunch|many thanks|thank you|"
    "thank you so much|thank you very much|thx|thnx|tnx|ty|tysm|cheers|much appreciated|"
    "appreciated|ok|okay|lgtm|looks good|looks good to me|looks great|sounds good|great|awesome|"
    "nice|cool|perfect|excellent|amazing|brilliant|love it|well done|good job|great job|"
    "great work|nice work|good work|nice one|got it|ok thanks|great thanks|perfect thanks|"
    "cool thanks|nice thanks|done|all done|done thanks|thanks done"
)
"""Whole messages, without marks at the end and in lower case."""
_REVIEWED = _phrases(
    "merged|merged it|i merged it|i've merged it|we merged it|it's merged|its merged|pr merged|"
    "the pr is merged|just merged|merged now|merging|merging now|ok merged|ok merging|ok merging now|"
    "lgtm merged|lgtm merging|thanks merged|merged thanks|merged thank you|approved|approved thanks|"
    "approved and merged|reviewed|reviewed it|i reviewed it|reviewed and merged|reviewed or merged|"
    "lgtm approved"
)


def is_thanks(text: str) -> bool:
    """Return whether a whole message only thanks or agrees in English, or is only emoji.

    ``text`` is plain text. Marks at the end and emoji beside the words do not count.
    """
    said, emoji = _said(text)
    return said in _THANKS or said in _REVIEWED or (not said and emoji)


def says_reviewed(text: str) -> bool:
    """Return whether a whole message says that a pull request is reviewed or merged. All these are thanks."""
    return _said(text)[0] in _REVIEWED


def _said(text: str) -> tuple[str, bool]:
    """Return the words without marks and emoji, in lower case, and whether there was an emoji."""
    words, emoji = _without_emoji(text)
    return " ".join(re.sub(r"[,.!…~]+", " ", words).replace("’", "'").casefold().split()), emoji


def _without_emoji(text: str) -> tuple[str, bool]:
    """Return the text without emoji, and whether it had any."""
    words, names = _EMOJI_NAME.subn(" ", text)
    kept = "".join(" " if _is_emoji(character) else character for character in words)
    return kept, names > 0 or kept != words


def _is_emoji(character: str) -> bool:
    """Return whether a character is an emoji, or joins or colours one."""
    return (
        unicodedata.category(character) in ("So", "Sk") and ord(character) > 0x2000
    ) or character in "\ufe0f\u200d"


log = structlog.get_logger(__name__)
_NAMED = re.compile(r"#([0-9]{1,9})(?![^\s,:])[\s,:]*")
_OVER = frozenset({JobState.REFUSED, JobState.WITHDRAWN, JobState.ARCHIVED})
"""States after which a mention in the job's thread starts a new job there."""


class TooEarly(Exception):
    """An event that came before what it is about is stored. Slack should deliver it again."""


@dataclass(frozen=True, slots=True)
class SpokenThread:
    """A thread in which something was said.

    ``job``: the job that the reply steers. ``text``: the reply without the mention and the job's name.
    ``for_bot``: the thread was begun by a face, or by a message that asked the bot. ``being_posted``: no job
    is known here, and a face whose timestamp is not known yet may have begun the thread.
    """

    job: TrackedJob | None
    text: str
    for_bot: bool
    being_posted: bool = False


@asynccontextmanager
async def telling_refusals(context: Context, origin: Origin) -> AsyncIterator[None]:
    """Tell the author of a message in private why it has no effect, if the block raises that.

    While Slack does not say who they are, Untold leaves the event to Slack, which delivers it again. After
    that the conversation is read once more, which names nobody.
    """
    try:
        yield
    except Untold:
        later = context.clock() + RETRIED_FOR
        await context.store.write(lambda tx: tx.conversations.read_later(origin, later))
        raise
    except NotAllowed as why:
        refusal = why
        await _tell(context, origin, lambda tx: tell_not_allowed(context, tx, origin, refusal))
    except TooManyWaiting as full:
        plain = slack_text.to_plain(full.raw, {}, {})
        await _tell_in_private(context, origin, "too_many", say.too_many_waiting(full.limit, plain))
    except UnknownProject as unknown:
        prompt = slack_text.to_plain(unknown.text, {}, {})
        message = unknown_project(unknown.name, context.projects, prompt)
        await _tell_in_private(context, origin, "project", message)


async def take_reply(context: Context, received: ThreadReply) -> None:
    """Store a reply in a thread as a follow-up of a job there, or ask for a job, if the bot is meant.

    Raises TooEarly if the reply arrives after a face was posted and before its timestamp is stored, and
    Untold while Slack does not say who its author is.
    """
    origin = received.origin
    text = slack_text.without_leading_mention(received.text, context.bot_user)
    thread = await context.store.read(lambda tx: look(tx, origin, text))
    if thread.being_posted and received.parent == context.bot_user:
        raise TooEarly(origin.key)
    if not is_meant_for_us(context, received, thread):
        if thread.job is not None:
            await _note(context, origin)
        return
    if await _was_told_same(context, origin):
        return
    async with telling_refusals(context, origin):
        plain = slack_text.to_plain(thread.text, {}, {})
        if is_thanks(plain):
            await _thank(context, origin, thread.job if says_reviewed(plain) else None)
            return
        allowed = await admit(context, origin, channel=origin.channel)
        is_mention = slack_text.mentions(received.text, context.bot_user)
        text, project = context.projects.take(thread.text) if is_mention else (thread.text, None)
        job = await readable(context, allowed, thread.job)
        if job is None or (is_mention and _is_over(job.job)) or (project and project.id != job.job.project):
            await _ask(context, allowed, thread.text, received.files)
        else:
            await _steer(context, job, text, received.files, is_among_people=not thread.for_bot)


def look(tx: Transaction, origin: Origin, text: str) -> SpokenThread:
    """Return the thread of a reply and the job that it steers."""
    # In this order, so that the second statement finds a timestamp that is stored between the two.
    being_posted = tx.outbox.face_being_posted(origin.channel)
    thread = origin.thread_ref
    if thread is None:
        raise ValueError("a reply names its thread")
    newest = tx.jobs.in_thread(thread)
    begun_with = tx.prompts.job_of(message_key(thread.channel, thread.ts))
    if newest is None and begun_with is not None and is_direct_message(thread.channel):
        # A direct message asked for this job, whose face begins another thread.
        begun = tx.jobs.get(begun_with)
        newest = begun if begun is not None and begun.channel == thread.channel else None
    if newest is None:
        return SpokenThread(None, text, for_bot=False, being_posted=being_posted)
    for_bot = begun_with is not None or tx.jobs.with_face(thread) is not None
    named = named_job(text)
    job = tx.jobs.get(named[0]) if named else None
    if named and job is not None and job.thread == thread:
        return SpokenThread(job, named[1], for_bot)
    return SpokenThread(newest, text, for_bot)


def named_job(text: str) -> tuple[JobNumber, str] | None:
    """Return the job that a text names at its start (``#7``), and the rest of the text."""
    found = _NAMED.match(text)
    return (JobNumber(int(found[1])), text[found.end() :]) if found else None


def is_meant_for_us(context: Context, received: ThreadReply, thread: SpokenThread) -> bool:
    """Return whether a reply is for the bot: it mentions it, or stands where every reply is for it."""
    text = slack_text.without_leading_mention(received.text, context.bot_user)
    if slack_text.is_aside(text) or slack_text.mentions_somebody_else_first(received.text, context.bot_user):
        return False
    if slack_text.mentions(received.text, context.bot_user):
        return True
    if thread.job is None:
        # In direct messages only the bot is there to talk to. Its own messages may get replies, too.
        return is_direct_message(received.origin.channel) and received.parent not in (None, context.bot_user)
    return thread.for_bot and context.follow_ups is FollowUps.REPLIES


def _is_over(job: TrackedJob) -> bool:
    return job.is_forgotten or job.state in _OVER


async def _steer(
    context: Context, readable: Readable, text: str, files: tuple[SharedFile, ...], *, is_among_people: bool
) -> None:
    """Store a follow-up. ``is_among_people``: not everything that was said in the thread was for the bot."""
    job, origin = readable.job, readable.allowed.origin
    text, take = asked_to_take(text, origin) if is_among_people else (text, None)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        await _tell_not_sent(context, readable, say.nothing_to_send([each.name for each in files]))
        return
    result = await follow_up(
        context, readable, PromptRequest(text, received=True, take_thread=take, files=files)
    )
    if result and not result.accepted:
        await _tell_not_sent(context, readable, say.cannot_follow_up(job))
    elif result and result.same is not None:
        await _tell_in_private(context, origin, "same", say.same_follow_up(job.number, result.same))


async def _tell_not_sent(context: Context, readable: Readable, message: Message) -> None:
    """Tell the thread why a reply was not sent to the agent, once for each reply."""
    origin, now = readable.allowed.origin, context.clock()
    occasion = f"unsent:{origin.message_ts}"
    await _tell(context, origin, lambda tx: say_in_thread(tx, readable.job, occasion, message, now))


async def take_mention(context: Context, received: Mention) -> None:
    """Ask for a job with the text of a mention or a direct message. Without text, send the greeting.

    Raises Untold while Slack does not say who its author is.
    """
    origin = received.origin
    text = slack_text.without_leading_mention(received.text, context.bot_user)
    if slack_text.is_aside(text):
        await _note(context, origin)
        return
    if await _was_told_same(context, origin):
        return
    async with telling_refusals(context, origin):
        if is_thanks(slack_text.to_plain(text, {}, {})):
            await _thank(context, origin)
            return
        await _ask(context, await admit(context, origin, channel=origin.channel), text, received.files)


async def _ask(context: Context, allowed: Allowed, text: str, files: tuple[SharedFile, ...]) -> None:
    """Ask for a job, whose face will be in the thread of the message. Without text, send the greeting."""
    origin = allowed.origin
    text, take, project = words_for_job(context.projects, text, origin)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        names = [each.name for each in files]
        hint = say.nothing_to_send(names) if names else say.greeting(context.bot_name)
        await _tell_in_private(context, origin, "greeting", hint)
        return
    request = PromptRequest(
        text,
        received=_is_noted(origin),
        take_thread=take,
        files=files,
        project=project.id if project else None,
    )
    asked = await ask(context, allowed, request)
    if asked.same:
        await _tell_in_private(context, origin, "same", say.same_job(asked.job))


def words_for_job(
    projects: Projects, text: str, origin: Origin
) -> tuple[str, TakeThread | None, Project | None]:
    """Return a text that asks for a job without the words about its thread and its project, and these.

    The words may stand in either order. Raises UnknownProject.
    """
    text, project = projects.take(text)
    text, take = asked_to_take(text, origin)
    if project is None:
        text, project = projects.take(text)
    return text, take, project


async def _thank(context: Context, origin: Origin, reviewed: TrackedJob | None = None) -> None:
    """React to a message that only thanks or agrees, unless its author may not use the bot.

    ``reviewed``: the job of which it says that its pull request is reviewed or merged.
    """
    try:
        allowed = await admit(context, origin, channel=origin.channel)
    except Untold:
        raise
    except NotAllowed:
        await _note(context, origin)
        return
    job, key = await readable(context, allowed, reviewed), f"{origin.key}:thanks"
    kind, ts = DeliveryKind.REACTION, origin.message_ts
    reaction = NewDelivery(key, kind, origin.channel, message_ts=ts, reaction=REACTION)

    def react(tx: Transaction) -> None:
        # When its event comes again, the job may have another pull request.
        if job and tx.outbox.state_of(key) is None:
            keep_review(tx, job, Review.REVIEWED, context.clock())
        tx.outbox.add(reaction, context.clock())

    await _tell(context, origin, react)


async def answer_in_private(context: Context, allowed: Allowed, message: Message) -> None:
    """Tell only the author of a message the answer to the command in it, where they wrote."""
    await _tell_in_private(context, allowed.origin, "answer", message)


def is_answered(tx: Transaction, origin: Origin) -> bool:
    """Return whether ``answer_in_private`` has told the answer to this message."""
    return tx.outbox.state_of(f"{origin.key}:answer") is not None


async def _tell_in_private(context: Context, origin: Origin, occasion: str, message: Message) -> None:
    """Tell only the author, where they wrote, once for each of their messages and ``occasion``.

    Nothing can be told to an app in private.
    """
    if origin.user in context.access_policy.bots:
        log.info("app_not_told", user=origin.user, occasion=occasion)
        await _note(context, origin)
        return
    key = f"{origin.key}:{occasion}"
    note = NewDelivery.whisper(key, origin.channel, origin.user, message, thread=origin.thread)
    await _tell(context, origin, lambda tx: tx.outbox.add(note, context.clock()))


async def _tell(context: Context, origin: Origin, tell: Callable[[Transaction], None]) -> None:
    """Answer a message that asks the agent for nothing."""

    def answer(tx: Transaction) -> None:
        tell(tx)
        _note_received(tx, origin)

    await context.store.write(answer)
    context.wake()


async def _was_told_same(context: Context, origin: Origin) -> bool:
    """Return whether the author knows that the message repeats another, which may be a minute old by now.

    A late delivery of the same event would otherwise count as a new request.
    """
    return await context.store.read(lambda tx: tx.outbox.state_of(f"{origin.key}:same")) is not None


async def _note(context: Context, origin: Origin) -> None:
    """Note a message as heard that the bot leaves alone, so that no later rule takes it after an outage."""
    await context.store.write(lambda tx: _note_received(tx, origin))


def _note_received(tx: Transaction, origin: Origin) -> None:
    if _is_noted(origin):
        tx.conversations.received(origin)


def _is_noted(origin: Origin) -> bool:
    """Return whether the message stands where messages are read again after an outage."""
    return origin.thread is not None or origin.is_direct
