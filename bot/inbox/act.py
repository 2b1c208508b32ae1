"""What follows from a message that was heard: it is sent, answered, asked about, or reacted to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

from bot.access.admit import Allowed, NotAllowed, Untold, admit
from bot.answers.ask import ask_docs, asked_text
from bot.answers.store import Inquiries
from bot.commands.command import Command
from bot.context import Context, WorkerContext
from bot.ids import Message, RequestKey, is_direct_message
from bot.inbox.meaning import Heard
from bot.inbox.model import InboxMessage, MessageState
from bot.inbox.requests import (
    Words,
    add_to,
    asking,
    find_prompt_to_join,
    hold_end,
    join,
    leave,
    settle,
)
from bot.inbox.send import Outgoing, send
from bot.inbox.store import Inbox
from bot.inbox.withdraw import take_back_last
from bot.jobs.access import Readable, if_visible
from bot.jobs.commands import followup
from bot.jobs.decisions import keep_review
from bot.jobs.gates import ask_first
from bot.jobs.messages import job_answers
from bot.jobs.model.intents import Deed, Door, Intent
from bot.jobs.model.jobs import Review
from bot.jobs.model.prompts import Prompt, PromptKind, PromptRequest, Unsent
from bot.jobs.own_words import respond
from bot.jobs.store.jobs import Jobs
from bot.jobs.welcome import welcome
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.private_answers import private_answer
from bot.outbox.store import Outbox
from bot.projects import UnknownProject
from bot.store import Transaction

_REACTION = "+1"
_THANKS = (Intent.THANKS, Intent.REVIEWED)


def find_command(context: Context, commands: Sequence[Command], heard: Heard) -> Command | None:
    """Return the command that a message means; None for a message that means none."""
    # The answers to commands are private, and apps cannot read any.
    if heard.origin.user in context.settings.allowed_bots:
        return None
    without_project: str | None = None
    with suppress(UnknownProject):
        without_project, _ = context.projects.take(heard.text)
    for command in commands:
        text = without_project if command.takes_project else heard.text
        if text is None or not command.meaning(text, context.projects, after_mention=True):
            continue
        # A reply that names a job, as "#7 is wrong" does: only a mention means the command.
        is_reply = command.name == followup.NAME and heard.door is Door.REPLY
        return None if is_reply else command
    return None


async def act_on(
    context: WorkerContext, then: Context, heard: Heard, message: InboxMessage
) -> None:
    """Act on a message that is no command.

    Args:
        context: The present.
        then: The same at the time when the message was written.
        heard: The decision about the message.
        message: The message, as it was read.

    Raises Untold while Slack does not return its author's profile, NotAllowed, HasKey, TooManyWaiting,
    UnknownProject, and BeingSent.
    """
    if heard.deed is Deed.LEAVE:
        await context.write(lambda tx: settle(context, tx, [message]))
        return
    try:
        allowed = await admit(then, heard.origin, channel=message.channel)
    except NotAllowed as error:
        if isinstance(error, Untold) or heard.intent not in _THANKS:
            raise
        await context.write(lambda tx: settle(context, tx, [message]))
        return
    is_by_app = message.user in context.settings.allowed_bots
    if heard.deed is Deed.SEND and heard.is_blank and not heard.files and not is_by_app:
        await _answer(context, message, "greeting", await welcome(then, allowed))
    elif heard.deed is Deed.SEND:
        await _send(context, then, allowed, heard, message)
    elif heard.intent in _THANKS:
        target = await if_visible(then, allowed, heard.job)
        is_reviewed = heard.intent is Intent.REVIEWED
        await _react(context, message, target if is_reviewed else None)
    elif heard.intent is Intent.QUESTION:
        await _ask(context, then, allowed, heard, message)
    else:
        await _respond(context, then, allowed, heard, message)


async def _answer(context: Context, message: InboxMessage, occasion: str, answer: Message) -> None:
    """Answer the author of a message alone, and settle it."""
    note = private_answer(context, message.origin, occasion, answer)

    def write(tx: Transaction) -> None:
        if note is not None:
            Outbox(tx).add(note, context.clock())
        settle(context, tx, [message])

    await context.write(write)


async def _react(context: Context, message: InboxMessage, reviewed: Readable | None) -> None:
    """React to thanks. ``reviewed``: the job that they call reviewed, merged or done."""
    key = f"{message.request_key}:thanks"
    reaction = NewDelivery(
        key,
        DeliveryKind.REACTION,
        message.channel,
        message_ts=message.ts,
        reaction=_REACTION,
    )

    def react(tx: Transaction) -> None:
        if reviewed and Jobs(tx).get_or_raise(reviewed.job.number).awaits_review:
            keep_review(context, tx, reviewed, Review.REVIEWED)
        Outbox(tx).add(reaction, context.clock())
        settle(context, tx, [message])

    await context.write(react)


async def _ask(
    context: Context, then: Context, allowed: Allowed, heard: Heard, message: InboxMessage
) -> None:
    """Put a question to the docs. The same question again changes nothing."""
    if message.request is not None and await context.write(
        partial(_keep_question, message, asked_text(then, heard.text))
    ):
        return
    unsent = Unsent(heard.origin.key, heard.origin.thread, heard.text.strip())
    answer = await ask_docs(then, allowed, unsent, asking(context, message))
    if answer is not None:
        await _answer(context, message, "unsent", answer)


def _keep_question(message: InboxMessage, text: str, tx: Transaction) -> bool:
    """Leave a message with its question if that has the same words. Return whether it has."""
    inquiry = Inquiries(tx).with_key(message.request) if message.request else None
    if inquiry is None or inquiry.text != text:
        return False
    Inbox(tx).take(message, inquiry.key, None)
    return True


async def _respond(
    context: Context, then: Context, allowed: Allowed, heard: Heard, message: InboxMessage
) -> None:
    """Carry out one of the bot's own words, or ask what should change."""
    if heard.intent is Intent.STOP:
        note = await take_back_last(context, allowed, message)
        if note is not None:
            await _answer(context, message, "unsent", note)
            return
    target = await if_visible(then, allowed, heard.job)
    unsent = Unsent(heard.origin.key, heard.origin.thread, heard.text.strip())
    reply = await respond(then, allowed, heard.plain, heard.intent, unsent, target)
    if reply is None:
        await context.write(lambda tx: settle(context, tx, [message]))
    else:
        await _answer(context, message, "unsent", reply)


# ---- sending


async def _send(
    context: WorkerContext, then: Context, allowed: Allowed, heard: Heard, message: InboxMessage
) -> None:
    """Send a message to the agent: as part of its author's unsent prompt, or as a new one."""
    prompt = await context.store.read(lambda tx: find_prompt_to_join(context, tx, message, heard))
    if prompt is not None and await _add(context, then, allowed, heard, message, prompt):
        return
    if heard.is_blank:
        await context.write(partial(_hold_files, context, message))
        return
    held = await context.store.read(lambda tx: Inbox(tx).held_files(message))
    target = None
    if heard.door is not Door.FIRST and heard.job is not None:
        target = await if_visible(then, allowed, heard.job)
        if target is None:
            no_job = job_answers.no_such_job(str(heard.job.number))
            await _answer(context, message, "unsent", no_job)
            return
    held_until = None
    if message.user not in context.settings.allowed_bots:
        held_until = hold_end(context, message.said_at, message.said_at)
    outgoing = Outgoing(heard.text, heard.door, [*held, message], target, held_until)
    await send(context, then, _place(allowed, target), outgoing)


def _hold_files(context: WorkerContext, message: InboxMessage, tx: Transaction) -> None:
    """Let files wait for words of their author."""
    leave(context, tx, message)
    due_at = message.said_at + timedelta(seconds=context.timeouts.hold_seconds)
    Inbox(tx).save(message, state=MessageState.HELD, request=None, due_at=due_at)


async def _add(
    context: WorkerContext,
    then: Context,
    allowed: Allowed,
    heard: Heard,
    message: InboxMessage,
    prompt: Prompt,
) -> bool:
    """Make a message part of an unsent prompt. Return False if it has to be a request of its own."""
    words = await context.store.read(lambda tx: _joined(context, tx, prompt, message, heard))
    if not words.raw:
        return False
    if prompt.kind is PromptKind.START:
        request = PromptRequest(words.raw, files=words.files, project=prompt.project)
        question = await ask_first(then, allowed, request, heard.text, besides=prompt.job)
        if question is not None:
            await _answer(context, message, "sure", question)
            return True

    def add(tx: Transaction) -> bool:
        found = find_prompt_to_join(context, tx, message, heard)
        if found is None or found.id != prompt.id:
            return False
        add_to(context, tx, message, heard, found)
        return True

    return await context.write(add)


def _joined(
    context: Context, tx: Transaction, prompt: Prompt, message: InboxMessage, heard: Heard
) -> Words:
    """Return the words of a prompt with those of a message."""
    parts = [each for each in Inbox(tx).parts(RequestKey(prompt.key)) if each.id != message.id]
    parts.append(replace(message, text=heard.text))
    return join(context, prompt.kind, sorted(parts, key=lambda part: part.ts))


def _place(allowed: Allowed, target: Readable | None) -> Allowed:
    """Return the request without its message if that is not in the thread of the job that it steers."""
    origin = allowed.origin
    if target is None:
        return allowed
    thread = target.job.thread
    is_in_thread = thread is not None and thread == (origin.channel, origin.thread)
    # In direct messages the thread under the message that asked counts, too.
    is_direct = is_direct_message(origin.channel) and target.job.channel == origin.channel
    is_here = is_in_thread or (is_direct and origin.thread is not None)
    return allowed if is_here else allowed.but(message_ts=None)
