"""Sending the words of messages to the agent: as a follow-up of their thread's job, or to start a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import Message
from bot.inbox.model import InboxMessage
from bot.inbox.requests import moving, settle, show_taken, taking
from bot.jobs.access import Readable
from bot.jobs.ask import Also, ask, follow_up
from bot.jobs.gates import ask_first, note_doubt
from bot.jobs.messages import intents, job_answers
from bot.jobs.model.intents import Door
from bot.jobs.model.jobs import TakeThread, TrackedJob
from bot.jobs.model.prompts import PromptRequest
from bot.jobs.thread import say as say_in_thread
from bot.messages import slack_text
from bot.outbox.private_answers import answer_in_private, private_answer
from bot.outbox.store import Outbox
from bot.store import Transaction


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Words on their way to the agent."""

    text: str
    """Without the mention and the name of the job, with that of the project."""
    door: Door
    messages: Sequence[InboxMessage] = ()
    """The messages that say it, oldest first."""
    target: Readable | None = None
    """The job that they steer; None to start one."""
    held_until: datetime | None = None
    """Until when the author may change them; None if they are sent at once."""
    allow_key: bool = False
    is_sure: bool = False
    """See ``PromptRequest``."""
    is_moved: bool = False
    """A button sends them, so what had come of the messages before stays."""


async def send(context: Context, then: Context, allowed: Allowed, outgoing: Outgoing) -> None:
    """Store a prompt, or tell its author why none is stored.

    Args:
        context: The present.
        then: The same at the time when the words were written.
        allowed: The author, at the message.
        outgoing: The words.

    Raises HasKey, TooManyWaiting, UnknownProject and NotAllowed.
    """
    text, project, target = outgoing.text, None, outgoing.target
    if outgoing.door is not Door.REPLY or target is None:
        text, project = context.projects.take(text)
    if target is not None and project is not None and project.id != target.job.project:
        target = None
    files = tuple(file for message in outgoing.messages for file in message.files)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        nothing = job_answers.nothing_to_send([file.name for file in files])
        await _answer(context, allowed, outgoing, "greeting", nothing)
        return
    # Among people, the thread may go along.
    is_among_people = target is None or target.job.among_people
    takes_thread = allowed.origin.thread is not None and is_among_people
    request = PromptRequest(
        text,
        take_thread=TakeThread.IF_PUBLIC if takes_thread else None,
        files=files,
        project=project.id if project and target is None else None,
        allow_key=outgoing.allow_key,
        is_sure=outgoing.is_sure,
        held_until=outgoing.held_until,
        seen_at=context.clock(),
    )
    if target is None:
        await _start(context, then, allowed, outgoing, request)
    elif target.job.is_merged:
        await _start_after(context, then, allowed, outgoing, request, target.job)
    else:
        await _follow_up(context, then, allowed, outgoing, request, target)


async def _start(
    context: Context,
    then: Context,
    allowed: Allowed,
    outgoing: Outgoing,
    request: PromptRequest,
) -> None:
    origin = allowed.origin
    question = None
    if origin.user not in context.settings.allowed_bots:
        question = await ask_first(then, allowed, request, outgoing.text)
    if question is not None:
        await _answer(context, allowed, outgoing, "sure", question)
        return
    asked = await ask(then, allowed, request, _taking(context, allowed, outgoing))
    if asked.same:
        await _answer(context, allowed, outgoing, "same", job_answers.same_job(asked.job))
        return
    note = await note_doubt(then, origin, request, asked, outgoing.text)
    if note is not None:
        await answer_in_private(context, origin, "doubt", note)


async def _start_after(
    context: Context,
    then: Context,
    allowed: Allowed,
    outgoing: Outgoing,
    request: PromptRequest,
    merged: TrackedJob,
) -> None:
    """Start a job in the thread of one whose pull request is merged, and post that there."""
    goes_on = replace(request, take_thread=TakeThread.IF_PUBLIC, follows=merged.number)
    asked = await ask(then, allowed, goes_on, _taking(context, allowed, outgoing))
    if asked.same:
        await _answer(context, allowed, outgoing, "same", job_answers.same_job(asked.job))
        return
    note = intents.merged_before(merged)
    await context.store.write(
        lambda tx: say_in_thread(tx, merged, f"merged:{asked.job}", note, context.clock())
    )


async def _follow_up(
    context: Context,
    then: Context,
    allowed: Allowed,
    outgoing: Outgoing,
    request: PromptRequest,
    target: Readable,
) -> None:
    result = await follow_up(then, target, request, _taking(context, allowed, outgoing))
    job = result.job
    if not result.accepted:
        # Once for each message.
        occasion = f"unsent:{allowed.origin.message_ts}"
        refusal = job_answers.cannot_follow_up(job)

        def say(tx: Transaction) -> None:
            say_in_thread(tx, job, occasion, refusal, context.clock())

        await _settle(context, outgoing, say)
    elif result.same is not None:
        same = job_answers.same_follow_up(job.number, result.same)
        await _answer(context, allowed, outgoing, "same", same)


def _taking(context: Context, allowed: Allowed, outgoing: Outgoing) -> Also:
    """Return the function that makes the messages parts of the new prompt, in its transaction."""
    text = outgoing.text.strip()
    if outgoing.target is not None and outgoing.door is not Door.REPLY:
        text, _ = context.projects.take(text)
    key = allowed.origin.key
    take = taking(context, key, outgoing.messages, text)
    if outgoing.is_moved:
        take = moving(key, allowed.user, outgoing.messages, text)

    def write(tx: Transaction) -> None:
        take(tx)
        if outgoing.door is not Door.FIRST:
            for message in outgoing.messages:
                show_taken(tx, message, context.clock())

    return write


async def _answer(
    context: Context, allowed: Allowed, outgoing: Outgoing, occasion: str, answer: Message
) -> None:
    """Answer the author alone; nothing is sent."""
    note = private_answer(context, allowed.origin, occasion, answer)

    def tell(tx: Transaction) -> None:
        if note is not None:
            Outbox(tx).add(note, context.clock())

    await _settle(context, outgoing, tell)


async def _settle(
    context: Context, outgoing: Outgoing, also: Callable[[Transaction], None]
) -> None:
    def write(tx: Transaction) -> None:
        also(tx)
        settle(context, tx, outgoing.messages)

    await context.write(write)
