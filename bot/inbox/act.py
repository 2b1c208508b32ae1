"""The acts that follow from a message: it is sent, answered, asked about, or reacted to."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

from bot.access.admit import Allowed, NotAllowed, Untold, admit, is_colleague
from bot.answers.ask import asked_text
from bot.answers.colleagues import note_reply
from bot.answers.store import Inquiries
from bot.context import Context, WorkerContext
from bot.ids import Message, RequestKey, is_direct_message
from bot.inbox.meaning import HeardMessage
from bot.inbox.model import Door, InboxMessage, MessageState
from bot.inbox.requests import (
    JoinedPrompt,
    add_to,
    find_prompt_to_join,
    hold_end,
    join,
    leave_request,
    make_question_writer,
    settle,
)
from bot.inbox.send import Outgoing, send
from bot.inbox.store import Inbox
from bot.inbox.withdraw import take_back_last
from bot.intent.kinds import Kind
from bot.jobs.access import Manageable, Readable, find_manageable
from bot.jobs.gates import ask_first
from bot.jobs.job_words import answer_unreadable, job_of
from bot.jobs.messages import job_answers
from bot.jobs.model.jobs import Review, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptKind, PromptRequest
from bot.jobs.reviews import keep_review
from bot.jobs.store.jobs import Jobs
from bot.jobs.unsent_texts import respond
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.private_answers import private_answer
from bot.outbox.store import Outbox
from bot.ports import ThreadRef
from bot.store import Transaction

_THANKS_REACTION = "+1"
_QUESTION_KINDS = frozenset(
    {Kind.QUESTION, Kind.FURTHER_QUESTION, Kind.PRODUCT_QUESTION, Kind.TOPIC}
)
"""Kinds that are put to the docs."""


async def act_on(
    context: WorkerContext, then: Context, heard: HeardMessage, message: InboxMessage
) -> None:
    """Act on a message.

    Args:
        context: The present.
        then: The same at the time when the message was written.
        heard: The decision about the message.
        message: The message, as it was read.

    Raises Untold while Slack does not return its author's profile, NotAllowed, HasKey,
    TooManyWaiting, UnknownProject, and BeingSent.
    """
    if heard.kind is Kind.COLLEAGUE_ANSWER:
        await _note_reply(context, message)
        return
    is_thanks = _is_thanks(heard)
    try:
        allowed = await admit(then, heard.origin, channel=message.channel)
    except NotAllowed as error:
        if isinstance(error, Untold) or not is_thanks:
            raise
        await context.write(lambda tx: settle(context, tx, [message]))
        return
    managed = await find_manageable(then, allowed, heard.job)
    target = managed if isinstance(managed, Readable) else None
    if heard.job is not None and target is None:
        await _answer_invisible(context, then, heard, message, heard.job, managed)
    elif heard.is_for_agent:
        await _send(context, then, allowed, heard, message, target)
    elif is_thanks:
        await _react(context, message, None if heard.kind is Kind.THANKS else target)
    elif not await _is_taken_back(context, allowed, heard, message):
        await _answer_unsent(context, then, allowed, heard, message, target)


async def _note_reply(context: Context, message: InboxMessage) -> None:
    """Store that a colleague has answered the question of a thread, without their words.

    Raises Untold.
    """
    is_answer = await is_colleague(context, message.user)

    def note(tx: Transaction) -> None:
        if is_answer and message.thread is not None:
            thread = ThreadRef(message.channel, message.thread)
            note_reply(context, tx, thread, message.user)
        settle(context, tx, [message])

    await context.write(note)


def _is_thanks(heard: HeardMessage) -> bool:
    """Return whether a message gets an emoji: thanks, or "merged" in the thread of the job."""
    word = heard.meaning.decision.word
    if heard.kind is Kind.THANKS:
        return True
    if heard.job is None or word is None or word.name != "reviewed":
        return False
    return job_of(word) in (None, heard.job.number)


async def _react(context: Context, message: InboxMessage, reviewed: Readable | None) -> None:
    """React to thanks. ``reviewed``: the job that they call reviewed, merged or done."""
    key = f"{message.request_key}:thanks"
    reaction = NewDelivery(
        key,
        DeliveryKind.REACTION,
        message.channel,
        message_ts=message.ts,
        reaction=_THANKS_REACTION,
    )

    def react(tx: Transaction) -> None:
        if reviewed and Jobs(tx).get_or_raise(reviewed.job.number).awaits_review:
            keep_review(context, tx, reviewed, Review.REVIEWED)
        Outbox(tx).add(reaction, context.clock())
        settle(context, tx, [message])

    await context.write(react)


# ---- answering


async def _answer_invisible(
    context: Context,
    then: Context,
    heard: HeardMessage,
    message: InboxMessage,
    job: TrackedJob,
    managed: Manageable | None,
) -> None:
    """Answer whatever names a job that its author may not see as if there were no such job.

    ``managed``: the job for an admin.
    """
    answer = job_answers.no_such_job(str(job.number))
    if managed is not None and not job.is_forgotten:
        answer = await answer_unreadable(then, managed, is_unsent=heard.is_for_agent)
    await _answer(context, message, "unsent", answer)


async def _is_taken_back(
    context: Context, allowed: Allowed, heard: HeardMessage, message: InboxMessage
) -> bool:
    """Take back the last request of a message's author, if the message asks for it.

    Raises BeingSent.
    """
    word = heard.meaning.decision.word
    is_stop = heard.kind is Kind.STOP or (word is not None and word.name == "stop")
    if not is_stop or (word is not None and job_of(word) is not None):
        return False
    note = await take_back_last(context, allowed, message)
    if note is not None:
        await _answer(context, message, "unsent", note)
    return note is not None


async def _answer_unsent(
    context: Context,
    then: Context,
    allowed: Allowed,
    heard: HeardMessage,
    message: InboxMessage,
    target: Readable | None,
) -> None:
    """Answer a message that is not for the agent. A question is answered by a worker."""
    if heard.kind in _QUESTION_KINDS and message.request is not None:
        raw, _ = then.projects.take(heard.full_text)
        text = await asked_text(raw)
        if await context.write(partial(_keep_question, message, text)):
            return
    also = make_question_writer(context, message)
    reply = await respond(then, allowed, heard.meaning, heard.place, target=target, also=also)
    occasion = "unsent"
    key: RequestKey | None = None
    if heard.meaning.decision.is_asked_once and message.thread is not None:
        # About their language a person is asked only once in a thread.
        key = RequestKey(f"language:{message.channel}:{message.thread}:{message.user}")
    await context.write(partial(_settle_unless_asked, context, message, reply, occasion, key))


def _settle_unless_asked(
    context: Context,
    message: InboxMessage,
    reply: Message | None,
    occasion: str,
    key: RequestKey | None,
    tx: Transaction,
) -> None:
    """Write the answer to a message, and settle it unless it is a question to the docs now."""
    if reply is not None:
        origin = message.origin if key is None else replace(message.origin, key=key)
        note = private_answer(context, origin, occasion, reply)
        if note is not None:
            Outbox(tx).add(note, context.clock())
    now = Inbox(tx).at(message.channel, message.ts)
    is_asked = now is not None and now.request == message.request_key
    if not is_asked:
        settle(context, tx, [message])


def _keep_question(message: InboxMessage, text: str, tx: Transaction) -> bool:
    """Leave a message with its question if both have the same words. Return whether they have."""
    inquiry = Inquiries(tx).with_key(message.request) if message.request else None
    if inquiry is None or inquiry.text != text:
        return False
    Inbox(tx).take(message, inquiry.key, None)
    return True


async def _answer(context: Context, message: InboxMessage, occasion: str, answer: Message) -> None:
    """Answer the author of a message alone, and settle it."""
    note = private_answer(context, message.origin, occasion, answer)

    def write(tx: Transaction) -> None:
        if note is not None:
            Outbox(tx).add(note, context.clock())
        settle(context, tx, [message])

    await context.write(write)


# ---- sending


async def _send(
    context: WorkerContext,
    then: Context,
    allowed: Allowed,
    heard: HeardMessage,
    message: InboxMessage,
    target: Readable | None,
) -> None:
    """Send a message to the agent: as part of its author's unsent prompt, or as a new one.

    ``target``: the job that it steers or to which it belongs; None without one.
    """
    prompt = await context.store.read(lambda tx: find_prompt_to_join(context, tx, message, heard))
    if prompt is not None and await _add(context, then, allowed, heard, message, prompt):
        return
    if heard.is_blank:
        await context.write(partial(_hold_files, context, message))
        return
    held = await context.store.read(lambda tx: Inbox(tx).held_files(message))
    if heard.door is Door.FIRST:
        target = None
    held_until = None
    if message.user not in context.settings.allowed_bots:
        held_until = hold_end(context, message.said_at, message.said_at)
    outgoing = Outgoing(heard.meaning, heard.door, [*held, message], target, held_until)
    await send(context, then, _place(allowed, target), outgoing)


def _hold_files(context: WorkerContext, message: InboxMessage, tx: Transaction) -> None:
    """Let files wait for words of their author."""
    leave_request(context, tx, message)
    due_at = message.said_at + timedelta(seconds=context.timeouts.hold_seconds)
    Inbox(tx).save(message, state=MessageState.HELD, request=None, due_at=due_at)


async def _add(
    context: WorkerContext,
    then: Context,
    allowed: Allowed,
    heard: HeardMessage,
    message: InboxMessage,
    prompt: Prompt,
) -> bool:
    """Make a message part of an unsent prompt.

    Return False if it has to be a request of its own.
    """
    joined = await context.store.read(lambda tx: _join_words(context, tx, prompt, message, heard))
    content = joined.content
    if not content.text:
        return False
    if prompt.kind is PromptKind.START:
        request = PromptRequest(content.text, files=content.files, project=prompt.project)
        question = await ask_first(then, allowed, request, heard.full_text, besides=prompt.job)
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


def _join_words(
    context: Context, tx: Transaction, prompt: Prompt, message: InboxMessage, heard: HeardMessage
) -> JoinedPrompt:
    """Join the words of a prompt and of a message."""
    parts = [
        each for each in Inbox(tx).messages_of(RequestKey(prompt.key)) if each.id != message.id
    ]
    parts.append(replace(message, text=heard.full_text))
    return join(context, prompt.kind, sorted(parts, key=lambda part: part.ts))


def _place(allowed: Allowed, target: Readable | None) -> Allowed:
    """Return the request without its message if that is outside of the steered job's thread."""
    origin = allowed.origin
    if target is None:
        return allowed
    thread = target.job.thread
    is_in_thread = thread is not None and thread == (origin.channel, origin.thread)
    # In direct messages the thread under the message that asked counts, too.
    is_direct = is_direct_message(origin.channel) and target.job.channel == origin.channel
    is_here = is_in_thread or (is_direct and origin.thread is not None)
    return allowed if is_here else allowed.with_request(message_ts=None)
