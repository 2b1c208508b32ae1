"""Handle messages in Slack: a mention asks for a job or steers one, as does a reply in the bot's threads."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from bot import slack_text
from bot.messages import job_answers as say
from bot.messages.general import unknown_project
from bot.model.access import Access
from bot.model.along import SharedFile, TakeThread
from bot.model.ids import JobNumber, is_direct_message
from bot.model.jobs import JobState, Review, TrackedJob
from bot.model.message import Message
from bot.model.origin import Origin, message_key
from bot.model.outbox import DeliveryKind, NewDelivery
from bot.model.projects import Project, Projects, UnknownProject
from bot.store import Transaction
from bot.work.access.check import AskSlack, decide
from bot.work.access.denied import tell_denied
from bot.work.context import Context, FollowUps
from bot.work.jobs import thanks
from bot.work.jobs.along import asked_to_take
from bot.work.jobs.ask import AskRequest, TooManyWaiting, ask
from bot.work.jobs.decisions import keep_review
from bot.work.jobs.follow_up import FollowUpRequest, follow_up
from bot.work.jobs.thread import say as say_in_thread
from bot.work.ports import Mention, ThreadReply

log = structlog.get_logger(__name__)
_ASK_SLACK_SECONDS = 1.5
"""Less than the 3 s in which Slack expects an event's acknowledgement."""
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


async def heard_reply(context: Context, heard: ThreadReply) -> None:
    """Store a reply in a thread as a follow-up of a job there, or ask for a job, if the bot is meant.

    Raises TooEarly if the reply arrives after a face was posted and before its timestamp is stored.
    """
    text = slack_text.without_leading_mention(heard.text, context.bot_user)
    thread = await context.store.read(lambda tx: look(tx, heard.origin, text))
    if thread.being_posted and heard.parent == context.bot_user:
        raise TooEarly(heard.origin.key)
    if not is_meant_for_us(context, heard, thread):
        if thread.job is not None:
            await _note(context, heard.origin)
        return
    if await _was_told_same(context, heard.origin):
        return
    said = slack_text.to_plain(thread.text, {}, {})
    if thanks.is_thanks(said):
        await _thank(context, heard.origin, thread.job if thanks.says_reviewed(said) else None)
        return
    is_mention, job = slack_text.mentions(heard.text, context.bot_user), thread.job
    try:
        text, project = context.projects.take(thread.text) if is_mention else (thread.text, None)
    except UnknownProject as unknown:
        await _tell_unknown(context, heard.origin, unknown)
        return
    if job is None or (is_mention and _is_over(job)) or (project and project.id != job.project):
        await _ask(context, heard.origin, thread.text, heard.files)
    else:
        await _steer(context, job, heard, text, is_among_people=not thread.for_bot)


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


def is_meant_for_us(context: Context, heard: ThreadReply, thread: SpokenThread) -> bool:
    """Return whether a reply is for the bot: it mentions it, or stands where every reply is for it."""
    text = slack_text.without_leading_mention(heard.text, context.bot_user)
    if slack_text.is_aside(text) or slack_text.mentions_somebody_else_first(heard.text, context.bot_user):
        return False
    if slack_text.mentions(heard.text, context.bot_user):
        return True
    if thread.job is None:
        # In direct messages only the bot is there to talk to. Its own messages may get replies, too.
        return is_direct_message(heard.origin.channel) and heard.parent not in (None, context.bot_user)
    return thread.for_bot and context.follow_ups is FollowUps.REPLIES


def _is_over(job: TrackedJob) -> bool:
    return job.is_forgotten or job.state in _OVER


async def _steer(
    context: Context, job: TrackedJob, heard: ThreadReply, text: str, *, is_among_people: bool
) -> None:
    """Store a follow-up. ``is_among_people``: not everything that was said in the thread was for the bot."""
    text, take = asked_to_take(text, heard.origin) if is_among_people else (text, None)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        await _tell_not_sent(context, job, heard, empty=True)
        return
    request = FollowUpRequest(heard.origin, job.number, text, heard=True, take_thread=take, files=heard.files)
    try:
        result = await follow_up(context, request)
    except TooManyWaiting as full:
        await _tell_too_many(context, heard.origin, full)
        return
    if result and not result.accepted:
        await _tell_not_sent(context, job, heard, empty=False)
    elif result and result.same is not None:
        await _tell_in_private(context, heard.origin, "same", say.same_follow_up(job.number, result.same))


async def _tell_not_sent(context: Context, job: TrackedJob, heard: ThreadReply, *, empty: bool) -> None:
    """Tell the thread why a reply was not sent to the agent, once for each reply."""
    now, message = (
        context.clock(),
        say.nothing_to_send([each.name for each in heard.files]) if empty else say.cannot_follow_up(job),
    )
    occasion = f"unsent:{heard.origin.message_ts}"
    await _tell(context, heard.origin, lambda tx: say_in_thread(tx, job, occasion, message, now))


async def heard_mention(context: Context, heard: Mention) -> None:
    """Ask for a job with the text of a mention or a direct message. Without text, send the greeting."""
    text = slack_text.without_leading_mention(heard.text, context.bot_user)
    if slack_text.is_aside(text):
        await _note(context, heard.origin)
        return
    origin = heard.origin
    if await _was_told_same(context, origin):
        return
    if thanks.is_thanks(slack_text.to_plain(text, {}, {})):
        await _thank(context, origin)
        return
    await _ask(context, origin, text, heard.files)


async def _ask(context: Context, origin: Origin, text: str, files: tuple[SharedFile, ...]) -> None:
    """Ask for a job, whose face will be in the thread of the message. Without text, send the greeting."""
    try:
        text, take, project = words_for_job(context.projects, text, origin)
    except UnknownProject as unknown:
        await _tell_unknown(context, origin, unknown)
        return
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        names = [each.name for each in files]
        hint = say.nothing_to_send(names) if names else say.greeting(context.bot_name)
        await _tell_in_private(context, origin, "greeting", hint)
        return
    request = AskRequest(
        origin,
        text,
        heard=_is_noted(origin),
        take_thread=take,
        files=files,
        project=project.id if project else None,
    )
    try:
        asked = await ask(context, request)
    except TooManyWaiting as full:
        await _tell_too_many(context, origin, full)
        return
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


async def _tell_unknown(context: Context, origin: Origin, unknown: UnknownProject) -> None:
    prompt = slack_text.to_plain(unknown.text, {}, {})
    await _tell_in_private(
        context, origin, "project", unknown_project(unknown.name, context.projects, prompt)
    )


async def _thank(context: Context, origin: Origin, reviewed: TrackedJob | None = None) -> None:
    """React to a message that only thanks or agrees, unless its author may not use the bot.

    ``reviewed``: the job of which it says that its pull request is reviewed or merged.
    """
    denied = await why_denied(context, origin)
    key = f"{origin.key}:thanks"
    kind, ts = DeliveryKind.REACTION, origin.message_ts
    reaction = NewDelivery(key, kind, origin.channel, message_ts=ts, reaction=thanks.REACTION)

    def react(tx: Transaction) -> None:
        if denied is None:
            # When its event comes again, the job may have another pull request.
            if reviewed and tx.outbox.state_of(key) is None:
                keep_review(tx, reviewed.number, Review.REVIEWED, origin.user, context.clock())
            tx.outbox.add(reaction, context.clock())
        _note_heard(tx, origin)

    await context.store.write(react)
    context.wake()


async def answer_in_private(context: Context, origin: Origin, message: Message) -> None:
    """Tell only the author of a message its answer, where they wrote. Their access has been checked."""
    note = _private(origin, "answer", message)

    def answer(tx: Transaction) -> None:
        tx.outbox.add(note, context.clock())
        _note_heard(tx, origin)

    await context.store.write(answer)
    context.wake()


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
    note = _private(origin, occasion, message)
    await _tell(context, origin, lambda tx: tx.outbox.add(note, context.clock()))


def _private(origin: Origin, occasion: str, message: Message) -> NewDelivery:
    key = f"{origin.key}:{occasion}"
    return NewDelivery.whisper(key, origin.channel, origin.user, message, thread=origin.thread)


async def _tell_too_many(context: Context, origin: Origin, full: TooManyWaiting) -> None:
    message = say.too_many_waiting(full.limit, slack_text.to_plain(full.raw, {}, {}))
    await _tell_in_private(context, origin, "too_many", message)


async def _tell(context: Context, origin: Origin, tell: Callable[[Transaction], None]) -> None:
    """Answer a message that asks the agent for nothing, unless its author may not use the bot."""
    denied = await why_denied(context, origin)

    def answer(tx: Transaction) -> None:
        if denied is None:
            tell(tx)
        else:
            tell_denied(context, tx, origin, denied)
        _note_heard(tx, origin)

    await context.store.write(answer)
    context.wake()


async def why_denied(context: Context, origin: Origin) -> Access | None:
    """Return why the author of a message may not use the bot; None if they may.

    Slack is called before the event is acknowledged, because no worker decides later. So it gets 1.5 s.
    """
    try:
        async with asyncio.timeout(_ASK_SLACK_SECONDS):
            decision = await decide(context, origin.user, channel=origin.channel, ask=AskSlack.FINAL)
    except TimeoutError:
        return Access.UNTOLD
    return decision.denied


async def _was_told_same(context: Context, origin: Origin) -> bool:
    """Return whether the author knows that the message repeats another, which may be a minute old by now.

    A late delivery of the same event would otherwise count as a new request.
    """
    return await context.store.read(lambda tx: tx.outbox.state_of(f"{origin.key}:same")) is not None


async def _note(context: Context, origin: Origin) -> None:
    """Note a message as heard that the bot leaves alone, so that no later rule takes it after an outage."""
    await context.store.write(lambda tx: _note_heard(tx, origin))


def _note_heard(tx: Transaction, origin: Origin) -> None:
    if _is_noted(origin):
        tx.conversations.received(origin)


def _is_noted(origin: Origin) -> bool:
    """Return whether the message stands where messages are read again after an outage."""
    return origin.thread is not None or origin.is_direct
