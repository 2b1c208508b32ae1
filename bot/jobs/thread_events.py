"""The effect of messages in Slack: instructions are held and sent, other texts are answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import structlog

from bot.access.admit import Allowed, NotAllowed, Untold, admit
from bot.context import Context
from bot.ids import JobNumber, Message
from bot.jobs.access import Readable, if_visible, may_steer
from bot.jobs.ask import Also, Asked, ask, find_rival, follow_up
from bot.jobs.decisions import keep_review, review, run_again, to_withdraw
from bot.jobs.files import describe_files, fitting_files
from bot.jobs.interpret import Heard
from bot.jobs.messages import intents, job_answers
from bot.jobs.model.inbox import HeardState, InboxMessage
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
from bot.jobs.model.jobs import Review, TakeThread, TrackedJob
from bot.jobs.model.prompts import PromptRequest, Unsent
from bot.jobs.store.inbox import Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.waits import Waits
from bot.jobs.thread import say as say_in_thread
from bot.jobs.thread import status_message_link
from bot.jobs.welcome import welcome
from bot.messages import slack_text
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Origin
from bot.projects import UnknownProject
from bot.store import Transaction

REACTION = "+1"
log = structlog.get_logger(__name__)


def _taking(context: Context, heard: Heard) -> Also:
    """Return the function that notes the messages of a request as its parts."""
    key = heard.origin.key

    def write(tx: Transaction) -> None:
        if heard.parts:
            Inbox(tx).take(heard.parts, key, heard.door)
        else:
            before = heard.instead_of or key
            Inbox(tx).moved(before, key, HeardState.TAKEN, heard.origin.user, heard.door)
        if heard.door is not Door.FIRST:
            for message in heard.parts:
                show_taken(tx, message, context.clock())

    return write


def show_taken(tx: Transaction, message: InboxMessage, now: datetime) -> None:
    """Show that a message was taken. A new job's status message shows that by itself."""
    seen = NewDelivery(
        f"{message.key}:seen",
        DeliveryKind.REACTION,
        message.channel,
        message_ts=message.ts,
        reaction="eyes",
    )
    Outbox(tx).add(seen, now)


async def take(context: Context, heard: Heard) -> bool:
    """Handle a message that is no command, by the table in ``bot.jobs.model.intents``.

    Return True for an instruction, which is left to the caller.

    Raises Untold while Slack does not return its author's profile.
    """
    origin, job, parts = heard.origin, heard.job, heard.parts
    without_project = heard.text
    with suppress(UnknownProject):
        without_project, _ = context.projects.take(heard.text)
    plain = slack_text.to_plain(without_project, {}, {})
    intent = classify(plain, heard.door, context.own_words)
    deed = deed_for(intent, heard.door, retries=job is not None and job.can_run_again)
    is_by_app, thanks = (
        origin.user in context.settings.allowed_bots,
        (Intent.THANKS, Intent.REVIEWED),
    )
    if (heard.files or is_by_app) and intent not in thanks:
        # Files hold more than the words beside them, and apps cannot press buttons.
        deed = Deed.SEND
    if deed is Deed.LEAVE:
        await _settle(context, parts)
        return False
    try:
        allowed = await admit(context, origin, channel=origin.channel)
    except NotAllowed as error:
        if isinstance(error, Untold) or intent not in thanks:
            raise
        await _settle(context, parts)
        return False
    if deed is Deed.SEND and not heard.files and slack_text.is_blank(plain) and not is_by_app:
        await answer_in_private(context, origin, "greeting", await welcome(context, allowed), parts)
    elif deed is Deed.SEND:
        return True
    elif intent in thanks:
        target = await if_visible(context, allowed, job)
        await _react(context, heard, target if intent is Intent.REVIEWED else None)
    else:
        target = await if_visible(context, allowed, job)
        unsent = Unsent(origin.key, origin.thread, heard.text.strip())
        reply = await respond(context, allowed, plain, intent, unsent, target, _asking(heard))
        if reply is not None:
            await answer_in_private(context, origin, "unsent", reply, parts)
        elif intent is not Intent.QUESTION:
            await _settle(context, parts)
    return False


def _asking(heard: Heard) -> Also:
    """Return the function that notes a message as a question to the docs."""

    def write(tx: Transaction) -> None:
        for message in heard.parts:
            Inbox(tx).save(
                message,
                state=HeardState.ASKED,
                request=heard.origin.key,
                due_at=None,
                text=None,
                files=None,
                omitted=None,
            )

    return write


async def settle_word(context: Context, heard: Heard, message: Message | None) -> None:
    """Settle the message of a command, with its answer. One that stored a prompt is a part of it."""
    if message is None:
        await _settle(context, heard.parts)
    else:
        await answer_in_private(context, heard.origin, "answer", message, heard.parts)


async def _settle(context: Context, parts: Sequence[InboxMessage]) -> None:
    await context.store.write(lambda tx: close(tx, parts))


def close(tx: Transaction, parts: Sequence[InboxMessage]) -> None:
    """Settle messages. A part of a prompt stays one, without the change that was refused.

    A command stores its prompt by itself, under the key of its message.
    """
    for part in parts:
        if part.state is HeardState.TAKEN:
            Inbox(tx).drop_change(part)
        elif Prompts(tx).job_of(part.request_key) is not None:
            Inbox(tx).take([part], part.request_key, Door.ADDRESSED)
        else:
            Inbox(tx).settle([part])


async def send(context: Context, allowed: Allowed, heard: Heard, target: Readable | None) -> None:
    """Send a message to the agent: as a follow-up of its thread's job, or to start a job."""
    origin, parts = allowed.origin, heard.parts
    text, project = heard.text, None
    also = _taking(context, heard)
    if heard.door is not Door.REPLY or target is None:
        text, project = context.projects.take(text)
    if heard.door is Door.FIRST or (target and project and project.id != target.job.project):
        target = None
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        files = [file.name for file in heard.files]
        answer = job_answers.nothing_to_send(files) if files else await welcome(context, allowed)
        await answer_in_private(context, origin, "greeting", answer, parts)
        return
    # Among people, the thread may go along.
    takes_thread = origin.thread is not None and (target is None or target.job.among_people)
    request = PromptRequest(
        text,
        take_thread=TakeThread.IF_PUBLIC if takes_thread else None,
        files=heard.files,
        project=project.id if project and target is None else None,
        allow_key=heard.allow_key,
        is_sure=heard.is_sure,
    )
    if target is not None and target.job.is_merged:
        await _start_after(context, allowed, target.job, request, heard)
        return
    if target is None:
        is_by_app = origin.user in context.settings.allowed_bots
        question = None if is_by_app else await ask_first(context, allowed, request, heard.text)
        if question is not None:
            await answer_in_private(context, origin, "sure", question, parts)
            return
        asked = await ask(context, allowed, request, also)
        if asked.same:
            await answer_in_private(context, origin, "same", job_answers.same_job(asked.job), parts)
        elif note := await note_doubt(context, origin, request, asked, heard.text):
            await answer_in_private(context, origin, "doubt", note)
        return
    job, result = target.job, await follow_up(context, target, request, also)
    if not result.accepted:
        # Once for each reply.
        occasion, now = f"unsent:{origin.message_ts}", context.clock()
        refusal = job_answers.cannot_follow_up(job)
        await _tell(context, parts, lambda tx: say_in_thread(tx, job, occasion, refusal, now))
    elif result.same is not None:
        same = job_answers.same_follow_up(job.number, result.same)
        await answer_in_private(context, origin, "same", same, parts)


async def note_doubt(
    context: Context, origin: Origin, request: PromptRequest, asked: Asked, whole: str
) -> Message | None:
    """Return the note about a new job whose prompt may be a question that the docs answer; None for others.

    ``whole``: the prompt with its project.
    """
    is_plain = (
        not (request.is_sure or request.files or asked.repeated) and len(whole) <= Unsent.LONGEST
    )
    if not (context.discovery and is_plain) or not may_be_question(
        slack_text.to_plain(request.raw, {}, {})
    ):
        return None
    job = await context.store.read(lambda tx: Jobs(tx).get_or_raise(asked.job))
    draft = Unsent(origin.key, origin.thread, whole.strip())
    return intents.taken_as_task(draft) if job.project in context.discovery else None


async def ask_first(
    context: Context, allowed: Allowed, request: PromptRequest, whole: str
) -> Message | None:
    """Return the question to its author before a prompt starts a job; None if there is none.

    ``whole``: the prompt with its project.
    """
    if request.is_sure or len(whole) > Unsent.LONGEST:
        return None
    draft = Unsent(allowed.origin.key, allowed.origin.thread, whole.strip())
    files = await describe_files(context, request.files)
    if files and not fitting_files(files):
        return intents.files_cannot_go([file.name for file in files], draft)
    rival = await find_rival(context, allowed, request.raw, request.project)
    return (
        intents.page_is_taken(rival, status_message_link(context, rival), draft) if rival else None
    )


async def _start_after(
    context: Context, allowed: Allowed, merged: TrackedJob, request: PromptRequest, heard: Heard
) -> None:
    """Start a job in the thread of one whose pull request is merged, and post that there."""
    with_thread = replace(request, take_thread=TakeThread.IF_PUBLIC)
    asked = await ask(context, allowed, with_thread, _taking(context, heard))
    if asked.same:
        same = job_answers.same_job(asked.job)
        await answer_in_private(context, allowed.origin, "same", same, heard.parts)
        return
    note, now = intents.merged_before(merged), context.clock()
    await context.store.write(
        lambda tx: say_in_thread(tx, merged, f"merged:{asked.job}", note, now)
    )


async def _react(context: Context, heard: Heard, reviewed: Readable | None) -> None:
    """React to thanks. ``reviewed``: the job that they call reviewed, merged or done."""
    origin = heard.origin
    key = f"{origin.key}:thanks"
    kind, ts = DeliveryKind.REACTION, origin.message_ts
    reaction = NewDelivery(key, kind, origin.channel, message_ts=ts, reaction=REACTION)

    def react(tx: Transaction) -> None:
        # When its event comes again, the job may have another pull request.
        is_new = reviewed is not None and Outbox(tx).state_of(key) is None
        if reviewed and is_new and Jobs(tx).get_or_raise(reviewed.job.number).awaits_review:
            keep_review(context, tx, reviewed, Review.REVIEWED)
        Outbox(tx).add(reaction, context.clock())

    await _tell(context, heard.parts, react)


async def answer_in_private(
    context: Context,
    origin: Origin,
    occasion: str,
    message: Message,
    parts: Sequence[InboxMessage] = (),
) -> None:
    """Answer the author alone, in place, once for each of their messages and ``occasion``.

    Apps cannot get private messages. ``parts``: the messages that need nothing more.
    """
    if origin.user in context.settings.allowed_bots:
        log.info("app_not_told", user=origin.user, occasion=occasion)
        await _settle(context, parts)
        return
    key = f"{origin.key}:{occasion}"
    note = NewDelivery.whisper(key, origin.channel, origin.user, message, thread=origin.thread)
    await _tell(context, parts, lambda tx: Outbox(tx).add(note, context.clock()))


async def _tell(
    context: Context, parts: Sequence[InboxMessage], tell: Callable[[Transaction], None]
) -> None:
    """Answer messages, or changes of them, that ask the agent for nothing, or not any more."""

    def answer(tx: Transaction) -> None:
        tell(tx)
        close(tx, parts)

    await context.write(answer)


async def respond(
    context: Context,
    allowed: Allowed,
    text: str,
    intent: Intent,
    unsent: Unsent,
    target: Readable | None,
    also: Also = lambda _tx: None,
) -> Message | None:
    """Return the private answer to an unsent text; None if the thread shows the result.

    ``target``: the job that the text is about; None for the job that it names, or else the author's newest in
    the channel.
    """
    match intent:
        case Intent.NO:
            return intents.WHAT_SHOULD_CHANGE
        case Intent.QUESTION:
            for hooks in context.hooks:
                if hooks.ask_docs is not None:
                    return await hooks.ask_docs(context, allowed, unsent, also)
            return intents.cannot_answer(unsent)
        case Intent.PING:
            return intents.CANNOT_PING
        case Intent.THANKS:
            return intents.YOU_ARE_WELCOME
        case Intent.GREETING | Intent.HELP:
            return await welcome(context, allowed)
    number = job_number(text)
    if number is not None or target is None:
        target = await _find(
            context, allowed, number, of_all=intent in (Intent.STATUS, Intent.SLIP)
        )
    if intent is Intent.SLIP:
        return intents.did_you_mean(unsent, target.job if target else None)
    if target is None:
        return intents.NO_JOB_HERE if number is None else job_answers.no_such_job(str(number))
    if target.job.is_forgotten:
        return job_answers.forgotten(target.job)
    return await _about(context, allowed, text, intent, target)


async def _find(
    context: Context, allowed: Allowed, number: int | None, *, of_all: bool
) -> Readable | None:
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
            decides = [
                prompt for prompt in (waits, first) if prompt and may_steer(context, target, prompt)
            ]
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
