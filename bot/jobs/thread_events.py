"""Messages in Slack: whether they are for the bot, by which door, and their effect."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

import structlog

from bot.access.admit import Allowed, NotAllowed, Untold, admit
from bot.access.model import Members, access_fingerprint
from bot.context import Context
from bot.ids import JobNumber, Message, is_direct_message
from bot.jobs.access import Readable, if_visible, may_steer
from bot.jobs.ask import Asked, HasKey, TooManyWaiting, ask, find_rival, follow_up
from bot.jobs.decisions import keep_review, review, run_again, to_withdraw
from bot.jobs.messages import intents, job_answers
from bot.jobs.model.intents import (
    Deed,
    Door,
    Intent,
    asks_yes_or_no,
    classify,
    deed_for,
    job_number,
    may_be_question,
)
from bot.jobs.model.jobs import JobState, Review, TakeThread, TrackedJob
from bot.jobs.model.prompts import PromptRequest, Unsent
from bot.jobs.prepare import fitting_files
from bot.jobs.store.conversations import RETRIED_FOR, Conversations
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.waits import Waits
from bot.jobs.thread import say as say_in_thread
from bot.jobs.thread import status_message_link
from bot.jobs.welcome import welcome
from bot.messages import slack_text
from bot.messages.general import unknown_project
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Mention, Origin, SharedFile, ThreadRef, ThreadReply, message_key
from bot.projects import UnknownProject
from bot.store import Transaction

REACTION = "+1"
log = structlog.get_logger(__name__)
_NAMED = re.compile(r"#([0-9]{1,9})(?![^\s,:])[\s,:]*")
"""The name of a job at the start of a reply."""
_OVER = frozenset({JobState.REFUSED, JobState.WITHDRAWN, JobState.ARCHIVED})
"""States after which a mention in the job's thread starts a new job there."""


class TooEarly(Exception):
    """An event that came before its subject was stored. Slack should deliver it again."""


@dataclass(frozen=True, slots=True)
class AskDocs:
    """Takes a question about the docs, and returns an immediate reply."""

    ask: Callable[[Context, Allowed, Unsent], Awaitable[Message | None]]


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


@asynccontextmanager
async def telling_refusals(context: Context, origin: Origin) -> AsyncIterator[None]:
    """Answer a refused message in private, with the reason that the block raises.

    While Slack does not return the author's profile, Untold leaves the event to Slack, which delivers it
    again. After that the conversation is read once more.
    """
    try:
        yield
    except Untold:
        later = context.clock() + RETRIED_FOR
        await context.store.write(lambda tx: Conversations(tx).read_later(origin, later))
        raise
    except NotAllowed as error:
        refusal, rule = error.message, access_fingerprint(context.settings)

        def refuse(tx: Transaction) -> None:
            now = context.clock()
            if Members(tx).may_tell_denied(origin.user, rule, now):
                key, thread = f"{origin.key}:not_allowed", origin.thread
                note = NewDelivery.whisper(key, origin.channel, origin.user, refusal, thread=thread)
                Outbox(tx).add(note, now)

        await _tell(context, origin, refuse)
    except (HasKey, TooManyWaiting) as declined:
        end = "key" if isinstance(declined, HasKey) else "too_many"
        await answer_in_private(context, origin, end, declined.answer("", is_form=False))
    except UnknownProject as unknown:
        prompt = slack_text.to_plain(unknown.text, {}, {})
        message = unknown_project(unknown.name, context.projects, prompt)
        await answer_in_private(context, origin, "project", message)


async def hear(context: Context, message: ThreadReply | Mention) -> Heard | None:
    """Return a message that is for the bot; None for others, which are left alone.

    Raises TooEarly for a reply that arrives after a status message was posted and before its timestamp is
    stored.
    """
    origin, text = message.origin, slack_text.without_leading_mention(message.text, context.bot_user)
    if isinstance(message, Mention):
        if not slack_text.is_aside(text):
            return Heard(origin, Door.FIRST, text, message.files)
        await _note(context, origin)
        return None
    thread = await context.store.read(lambda tx: find_thread(tx, origin, text))
    if thread.being_posted and message.parent == context.bot_user:
        raise TooEarly(origin.key)
    if not is_meant_for_us(context, message, thread):
        if thread.job is not None:
            await _note(context, origin)
        return None
    job, is_mention = thread.job, slack_text.mentions(message.text, context.bot_user)
    door = Door.ADDRESSED if is_mention else Door.REPLY
    if job is None or (is_mention and (job.is_forgotten or job.state in _OVER)):
        door = Door.FIRST
    return Heard(origin, door, thread.text, message.files, job)


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
        begun_with = Prompts(tx).job_of(message_key(thread.channel, thread.ts))
        begun = Jobs(tx).get(begun_with) if begun_with is not None else None
        newest = begun if begun is not None and begun.channel == thread.channel else None
    if newest is None:
        return SpokenThread(None, text, being_posted=being_posted)
    named = _NAMED.match(text)
    job = Jobs(tx).get(JobNumber(int(named[1]))) if named else None
    if named and job is not None and job.thread == thread:
        return SpokenThread(job, text[named.end() :])
    return SpokenThread(newest, text)


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
    return not thread.job.needs_mention


async def take(context: Context, heard: Heard) -> None:
    """Handle a message that is no command, by the table in ``bot.jobs.model.intents``.

    Raises Untold while Slack does not return its author's profile.
    """
    origin, job = heard.origin, heard.job
    if await context.store.read(lambda tx: Outbox(tx).state_of(f"{origin.key}:same")) is not None:
        # Its author has the answer that it repeats another, which may be a minute old by now. A late delivery
        # of the same event would otherwise count as a new request.
        return
    without_project = heard.text
    with suppress(UnknownProject):
        without_project, _ = context.projects.take(heard.text)
    plain = slack_text.to_plain(without_project, {}, {})
    intent = classify(plain, heard.door)
    deed = deed_for(intent, heard.door, retries=job is not None and job.can_run_again)
    is_by_app, thanks = origin.user in context.settings.allowed_bots, (Intent.THANKS, Intent.REVIEWED)
    if (heard.files or is_by_app) and intent not in thanks:
        # Files hold more than the words beside them, and apps cannot press buttons.
        deed = Deed.SEND
    if deed is Deed.LEAVE:
        await _note(context, origin)
        return
    try:
        allowed = await admit(context, origin, channel=origin.channel)
    except NotAllowed as error:
        if isinstance(error, Untold) or intent not in thanks:
            raise
        await _note(context, origin)
        return
    target = await if_visible(context, allowed, job)
    if deed is Deed.SEND:
        await send(context, allowed, heard, target)
    elif intent in thanks:
        await _react(context, origin, target if intent is Intent.REVIEWED else None)
    else:
        unsent = Unsent(origin.key, origin.thread, heard.text.strip())
        if (answer := await respond(context, allowed, plain, intent, unsent, target)) is not None:
            await answer_in_private(context, origin, "unsent", answer)


async def send(context: Context, allowed: Allowed, heard: Heard, target: Readable | None) -> None:
    """Send a message to the agent: as a follow-up of its thread's job, or to start a job."""
    origin, text, project = allowed.origin, heard.text, None
    if heard.door is not Door.REPLY or target is None:
        text, project = context.projects.take(text)
    if heard.door is Door.FIRST or (target and project and project.id != target.job.project):
        target = None
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        files = [file.name for file in heard.files]
        answer = job_answers.nothing_to_send(files) if files else await welcome(context, allowed)
        await answer_in_private(context, origin, "greeting", answer)
        return
    # Among people, the thread may go along.
    takes_thread = origin.thread is not None and (target is None or target.job.among_people)
    request = PromptRequest(
        text,
        received=_is_noted(origin),
        take_thread=TakeThread.IF_PUBLIC if takes_thread else None,
        files=heard.files,
        project=project.id if project and target is None else None,
        allow_key=heard.allow_key,
        is_sure=heard.is_sure,
    )
    if target is not None and target.job.is_merged:
        await _start_after(context, allowed, target.job, request)
        return
    if target is None:
        is_by_app = origin.user in context.settings.allowed_bots
        question = None if is_by_app else await ask_first(context, allowed, request, heard.text)
        if question is not None:
            await answer_in_private(context, origin, "sure", question)
            return
        asked = await ask(context, allowed, request)
        if asked.same:
            await answer_in_private(context, origin, "same", job_answers.same_job(asked.job))
        elif note := await note_doubt(context, origin, request, asked, heard.text):
            await answer_in_private(context, origin, "doubt", note)
        return
    job, result = target.job, await follow_up(context, target, request)
    if not result.accepted:
        # Once for each reply.
        occasion, now = f"unsent:{origin.message_ts}", context.clock()
        refusal = job_answers.cannot_follow_up(job)
        await _tell(context, origin, lambda tx: say_in_thread(tx, job, occasion, refusal, now))
    elif result.same is not None:
        await answer_in_private(context, origin, "same", job_answers.same_follow_up(job.number, result.same))


async def note_doubt(
    context: Context, origin: Origin, request: PromptRequest, asked: Asked, whole: str
) -> Message | None:
    """Return the note about a new job whose prompt may be a question that the docs answer; None for others.

    ``whole``: the prompt with its project.
    """
    is_plain = not (request.is_sure or request.files or asked.repeated) and len(whole) <= Unsent.LONGEST
    if not (context.discovery and is_plain) or not may_be_question(slack_text.to_plain(request.raw, {}, {})):
        return None
    job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(asked.job))
    draft = Unsent(origin.key, origin.thread, whole.strip())
    return intents.taken_as_task(draft) if job.project in context.discovery else None


async def ask_first(context: Context, allowed: Allowed, request: PromptRequest, whole: str) -> Message | None:
    """Return the question to its author before a prompt starts a job; None if there is none.

    ``whole``: the prompt with its project.
    """
    if request.is_sure or len(whole) > Unsent.LONGEST:
        return None
    draft = Unsent(allowed.origin.key, allowed.origin.thread, whole.strip())
    if request.files and not fitting_files(request.files):
        return intents.files_cannot_go([file.name for file in request.files], draft)
    rival = await find_rival(context, allowed, request.raw, request.project)
    return intents.page_is_taken(rival, status_message_link(context, rival), draft) if rival else None


async def _start_after(
    context: Context, allowed: Allowed, merged: TrackedJob, request: PromptRequest
) -> None:
    """Start a job in the thread of one whose pull request is merged, and post that there."""
    asked = await ask(context, allowed, replace(request, take_thread=TakeThread.IF_PUBLIC))
    if asked.same:
        await answer_in_private(context, allowed.origin, "same", job_answers.same_job(asked.job))
        return
    note, now = intents.merged_before(merged), context.clock()
    await context.store.write(lambda tx: say_in_thread(tx, merged, f"merged:{asked.job}", note, now))


async def _react(context: Context, origin: Origin, reviewed: Readable | None) -> None:
    """React to thanks. ``reviewed``: the job that they call reviewed, merged or done."""
    key = f"{origin.key}:thanks"
    kind, ts = DeliveryKind.REACTION, origin.message_ts
    reaction = NewDelivery(key, kind, origin.channel, message_ts=ts, reaction=REACTION)

    def react(tx: Transaction) -> None:
        # When its event comes again, the job may have another pull request.
        is_new = reviewed is not None and Outbox(tx).state_of(key) is None
        if reviewed and is_new and Jobs(tx).get_or_raise(reviewed.job.number).awaits_review:
            keep_review(context, tx, reviewed, Review.REVIEWED)
        Outbox(tx).add(reaction, context.clock())

    await _tell(context, origin, react)


def is_answered(tx: Transaction, origin: Origin) -> bool:
    """Return whether the command in this message has been answered."""
    return Outbox(tx).state_of(f"{origin.key}:answer") is not None


async def answer_in_private(context: Context, origin: Origin, occasion: str, message: Message) -> None:
    """Answer the author alone, in place, once for each of their messages and ``occasion``.

    Apps cannot get private messages.
    """
    if origin.user in context.settings.allowed_bots:
        log.info("app_not_told", user=origin.user, occasion=occasion)
        await _note(context, origin)
        return
    key = f"{origin.key}:{occasion}"
    note = NewDelivery.whisper(key, origin.channel, origin.user, message, thread=origin.thread)
    await _tell(context, origin, lambda tx: Outbox(tx).add(note, context.clock()))


async def _tell(context: Context, origin: Origin, tell: Callable[[Transaction], None]) -> None:
    """Answer a message that asks the agent for nothing."""

    def answer(tx: Transaction) -> None:
        tell(tx)
        _note_received(tx, origin)

    await context.write(answer)


async def _note(context: Context, origin: Origin) -> None:
    """Note an ignored message as received, so that no later rule takes it after an outage."""
    await context.store.write(lambda tx: _note_received(tx, origin))


def _note_received(tx: Transaction, origin: Origin) -> None:
    if _is_noted(origin):
        Conversations(tx).received(origin)


def _is_noted(origin: Origin) -> bool:
    """Return whether the message stands where messages are read again after an outage."""
    return origin.thread is not None or origin.is_direct


async def respond(
    context: Context, allowed: Allowed, text: str, intent: Intent, unsent: Unsent, target: Readable | None
) -> Message | None:
    """Return the private answer to an unsent text; None if the thread shows the result.

    ``target``: the job that the text is about; None for the job that it names, or else the author's newest in
    the channel.
    """
    match intent:
        case Intent.NO:
            return intents.WHAT_SHOULD_CHANGE
        case Intent.QUESTION:
            for docs in context.hooks_of(AskDocs):
                return await docs.ask(context, allowed, unsent)
            return intents.cannot_answer(unsent)
        case Intent.PING:
            return intents.CANNOT_PING
        case Intent.THANKS:
            return intents.YOU_ARE_WELCOME
        case Intent.GREETING | Intent.HELP:
            return await welcome(context, allowed)
    number = job_number(text)
    if number is not None or target is None:
        target = await _find(context, allowed, number, of_all=intent in (Intent.STATUS, Intent.SLIP))
    if intent is Intent.SLIP:
        return intents.did_you_mean(unsent, target.job if target else None)
    if target is None:
        return intents.NO_JOB_HERE if number is None else job_answers.no_such_job(str(number))
    if target.job.is_forgotten:
        return job_answers.forgotten(target.job)
    return await _about(context, allowed, text, intent, target)


async def _find(context: Context, allowed: Allowed, number: int | None, *, of_all: bool) -> Readable | None:
    """Return the job with this number, or else the author's newest here; ``of_all``, or anybody's."""
    user, channel = allowed.origin.user, allowed.origin.channel

    def look(tx: Transaction) -> TrackedJob | None:
        if number is not None:
            return Jobs(tx).get(JobNumber(number))
        newest = Jobs(tx).in_channel(channel, 1, user) if of_all else ()
        return Jobs(tx).latest_of(user, channel) or next(iter(newest), None)

    return await if_visible(context, allowed, await context.store.read(look))


async def answer_status(context: Context, job: TrackedJob, *, asks: bool = False) -> Message:
    """Return the status of a job in one line. ``asks``: somebody wants a yes or a no."""
    now = context.clock()
    waiting, usual = await context.store.read(
        lambda tx: (Waits(tx).of_job(job.number, now), Jobs(tx).usual_time(job.project))
    )
    return intents.status_line(job, waiting, usual, asks=asks)


async def _about(
    context: Context, allowed: Allowed, text: str, intent: Intent, target: Readable
) -> Message | None:
    """Carry out one of the bot's own words about a job."""
    job = target.job
    match intent:
        case Intent.STOP:
            waits = await to_withdraw(context, job.number, allowed.user)
            first = await context.store.read(lambda tx: Prompts(tx).starting(job.number))
            decides = [prompt for prompt in (waits, first) if prompt and may_steer(context, target, prompt)]
            return intents.cannot_stop(job, withdraws=waits in decides, may_steer=first in decides)
        case Intent.RETRY if job.can_run_again:
            await run_again(context, target, allowed.origin.key)
            return None
        case Intent.RETRY:
            return intents.not_failed(job)
        case Intent.MERGE:
            return intents.cannot_merge(job)
        case Intent.REVIEWED:
            if job.awaits_review:
                await review(context, target, Review.REVIEWED)
                job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(job.number))
            return intents.reviewed(job)
        case _:
            return await answer_status(context, job, asks=asks_yes_or_no(text))
