"""Handle messages in Slack: mentions and replies ask or steer, and what is no instruction costs nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import structlog

from bot import slack_text
from bot.messages import job_answers as say
from bot.messages import unsent as unsent_words
from bot.messages.general import unknown_project
from bot.messages.help import hello
from bot.model.access import Origin, message_key
from bot.model.ids import JobNumber, Message, is_direct_message
from bot.model.jobs import JobState, Review, SharedFile, TakeThread, TrackedJob
from bot.model.outbox import DeliveryKind, NewDelivery
from bot.model.projects import Project, Projects, UnknownProject
from bot.model.prompts import PromptRequest, Unsent
from bot.model.reflexes import Judge, Reflex, Taken
from bot.store import Transaction
from bot.store.conversations import RETRIED_FOR
from bot.work.access import (
    Allowed,
    NotAllowed,
    Readable,
    Untold,
    admit,
    may_steer,
    readable,
    tell_not_allowed,
)
from bot.work.context import Context
from bot.work.jobs.ask import TooManyWaiting, ask, follow_up
from bot.work.jobs.attachments import asked_to_take
from bot.work.jobs.decisions import keep_review
from bot.work.jobs.examples import examples_for
from bot.work.jobs.thread import say as say_in_thread
from bot.work.ports import Mention, ThreadReply

REACTION = "+1"
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


async def take_reply(context: Context, received: ThreadReply, judge: Judge) -> None:
    """Store a reply in a thread as a follow-up of a job there, or ask for a job, if the bot is meant.

    What ``judge`` takes for no prompt is answered and not sent.

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
    async with telling_refusals(context, origin):
        if await _is_answered_unsent(context, received, judge, thread.text, thread.job):
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
    return thread.for_bot and not thread.job.by_mention


def _is_over(job: TrackedJob) -> bool:
    return job.is_forgotten or job.state in _OVER


async def _steer(
    context: Context, readable: Readable, text: str, files: tuple[SharedFile, ...], *, is_among_people: bool
) -> None:
    """Store a follow-up. ``is_among_people``: not everything that was said in the thread was for the bot."""
    job, origin = readable.job, readable.allowed.origin
    text, take = asked_to_take(text, origin) if is_among_people else (text, None)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        await _tell_wordless(context, origin, files)
        return
    result = await follow_up(
        context, readable, PromptRequest(text, received=True, take_thread=take, files=files)
    )
    if result and not result.accepted:
        # Once for each reply.
        occasion, answer, now = f"unsent:{origin.message_ts}", say.cannot_follow_up(job), context.clock()
        await _tell(context, origin, lambda tx: say_in_thread(tx, job, occasion, answer, now))
    elif result and result.same is not None:
        await _tell_in_private(context, origin, "same", say.same_follow_up(job.number, result.same))


async def _tell_wordless(context: Context, origin: Origin, files: tuple[SharedFile, ...]) -> None:
    """Say hello to the author of a message without words, or that its files alone are not sent."""
    here = await context.store.read(lambda tx: examples_for(context, tx, origin))
    answer = say.nothing_to_send([each.name for each in files]) if files else hello(here)
    await _tell_in_private(context, origin, "greeting", answer)


async def take_mention(context: Context, received: Mention, judge: Judge) -> None:
    """Ask for a job with the text of a mention or a direct message. Without text, send the greeting.

    What ``judge`` takes for no prompt is answered and not sent.

    Raises Untold while Slack does not say who its author is.
    """
    origin = received.origin
    text = slack_text.without_leading_mention(received.text, context.bot_user)
    if slack_text.is_aside(text):
        await _note(context, origin)
        return
    async with telling_refusals(context, origin):
        if await _is_answered_unsent(context, received, judge, text):
            return
        await _ask(context, await admit(context, origin, channel=origin.channel), text, received.files)


async def _ask(context: Context, allowed: Allowed, text: str, files: tuple[SharedFile, ...]) -> None:
    """Ask for a job, whose face will be in the thread of the message. Without text, send the greeting."""
    origin = allowed.origin
    text, take, project = words_for_job(context.projects, text, origin)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        await _tell_wordless(context, origin, files)
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


async def _is_answered_unsent(
    context: Context, received: ThreadReply | Mention, judge: Judge, text: str, job: TrackedJob | None = None
) -> bool:
    """Answer a message that is no prompt, for nothing. Return False for a prompt.

    ``text``: what of it is for the agent. ``job``: the job of its thread.
    """
    origin = received.origin
    if await context.store.read(lambda tx: tx.outbox.state_of(f"{origin.key}:same")) is not None:
        # Its author knows that it repeats another, which may be a minute old by now. A late delivery of the
        # same event would otherwise count as a new request.
        return True
    with suppress(UnknownProject):
        text, _ = context.projects.take(text)
    plain = slack_text.to_plain(text, {}, {})
    raw = slack_text.without_leading_mention(received.text, context.bot_user).strip()
    taken = judge(plain) if len(raw) <= Unsent.LONGEST else None
    is_by_app = origin.user in context.access_policy.bots
    is_soft = taken is not None and taken.reflex in (Reflex.THANKS, Reflex.REVIEWED)
    if taken is None or ((received.files or is_by_app) and not is_soft):
        # Files say more than the words beside them, and apps can press no button.
        return False
    try:
        allowed = await admit(context, origin, channel=origin.channel)
    except NotAllowed as why:
        if isinstance(why, Untold) or not is_soft:
            raise
        await _note(context, origin)
        return True
    known = await readable(context, allowed, job)
    if is_soft and (job is not None or is_by_app):
        await _react(context, origin, known if taken.reflex is Reflex.REVIEWED else None)
    else:
        unsent = Unsent(origin.key, origin.thread, None, raw)
        message = await _unsent_answer(context, known, taken, plain, unsent)
        await _tell_in_private(context, origin, "unsent", message)
    return True


async def _react(context: Context, origin: Origin, reviewed: Readable | None) -> None:
    """React to thanks. ``reviewed``: the job of which they say that it is reviewed, merged or done."""
    key = f"{origin.key}:thanks"
    kind, ts = DeliveryKind.REACTION, origin.message_ts
    reaction = NewDelivery(key, kind, origin.channel, message_ts=ts, reaction=REACTION)

    def react(tx: Transaction) -> None:
        # When its event comes again, the job may have another pull request.
        is_new = reviewed is not None and tx.outbox.state_of(key) is None
        if reviewed and is_new and tx.jobs.known(reviewed.job.number).awaits_review:
            keep_review(context, tx, reviewed, Review.REVIEWED)
        tx.outbox.add(reaction, context.clock())

    await _tell(context, origin, react)


async def _unsent_answer(
    context: Context, known: Readable | None, taken: Taken, plain: str, unsent: Unsent
) -> Message:
    """Return the private answer to what is not sent: in a job's thread, about that job."""
    if known is None or known.job.is_forgotten:
        return unsent_words.not_sent(taken, plain, unsent)
    job, now = known.job, context.clock()
    if taken.reflex is Reflex.STOP:
        prompt = await context.store.read(lambda tx: tx.prompts.starting(job.number))
        return unsent_words.cannot_stop(
            job, unsent, may_steer=prompt is not None and may_steer(context, known, prompt)
        )
    names_others = bool({int(each) for each in re.findall("[0-9]{1,9}", plain)} - {job.number})
    names_others |= "jobs" in plain.casefold()
    if taken.reflex is Reflex.STATUS and not names_others:
        return unsent_words.status_unsent(
            job, await context.store.read(lambda tx: tx.waits.of_job(job.number, now)), unsent
        )
    return unsent_words.not_sent(taken, plain, unsent)


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


async def _note(context: Context, origin: Origin) -> None:
    """Note a message as heard that the bot leaves alone, so that no later rule takes it after an outage."""
    await context.store.write(lambda tx: _note_received(tx, origin))


def _note_received(tx: Transaction, origin: Origin) -> None:
    if _is_noted(origin):
        tx.conversations.received(origin)


def _is_noted(origin: Origin) -> bool:
    """Return whether the message stands where messages are read again after an outage."""
    return origin.thread is not None or origin.is_direct
