"""The effect of messages in Slack: instructions are held and sent, other texts are answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from bot.access.admit import Allowed, NotAllowed, Untold, admit
from bot.context import Context
from bot.ids import Message, RequestKey, is_direct_message
from bot.intent.kinds import STARTS_JOB, Kind
from bot.jobs.access import Readable, if_visible
from bot.jobs.ask import Also, ask, follow_up
from bot.jobs.decisions import keep_review
from bot.jobs.gates import ask_first, note_start
from bot.jobs.interpret import Heard
from bot.jobs.job_words import job_of
from bot.jobs.messages import job_answers, unsent
from bot.jobs.model.inbox import Door, HeardState, InboxMessage
from bot.jobs.model.jobs import Review, TakeThread, TrackedJob
from bot.jobs.model.prompts import PromptRequest
from bot.jobs.questions import find_answered
from bot.jobs.respond import respond
from bot.jobs.store.inbox import Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import say as say_in_thread
from bot.jobs.welcome import greet
from bot.messages import slack_text
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.private_answers import answer_in_private, private_answer
from bot.outbox.store import Outbox
from bot.ports import Origin, ThreadRef
from bot.store import Transaction

REACTION = "+1"


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


async def react(context: Context, heard: Heard) -> bool:
    """Handle a message by its meaning. Return True for one that is for the agent, left to the caller.

    Raises NotAllowed, and Untold while Slack does not return its author's profile.
    """
    origin = heard.origin
    thanks = _is_thanks(heard)
    try:
        allowed = await admit(context, origin, channel=origin.channel)
    except NotAllowed as error:
        if isinstance(error, Untold) or not thanks:
            raise
        await _settle(context, heard.parts)
        return False
    is_blank = slack_text.is_blank(slack_text.to_plain(heard.text, {}, {}))
    if heard.kind in STARTS_JOB or (heard.files and is_blank):
        return True
    target = await if_visible(context, allowed, heard.job)
    if thanks:
        await _react(context, heard, None if heard.kind is Kind.THANKS else target)
        return False
    reply = await respond(
        context, allowed, heard.meaning, heard.place, target=target, also=_asking(heard)
    )
    if reply is not None:
        await _answer(context, heard, reply)
    elif not await _is_asked(context, heard):
        await _settle(context, heard.parts)
    return False


def _is_thanks(heard: Heard) -> bool:
    """Return whether a message gets an emoji: thanks, or "merged" in the thread of the job."""
    word = heard.meaning.decision.word
    if heard.kind is Kind.THANKS:
        return True
    if heard.job is None or word is None or word.name != "reviewed":
        return False
    return job_of(word) in (None, heard.job.number)


async def _answer(context: Context, heard: Heard, reply: Message) -> None:
    """Answer a message in private. About its language a person is asked only once in a thread."""
    origin = heard.origin
    occasion = "unsent"
    if heard.meaning.decision.is_asked_once and origin.thread is not None:
        key = RequestKey(f"language:{origin.channel}:{origin.thread}:{origin.user}")
        await answer_messages(context, replace(origin, key=key), occasion, reply, heard.parts)
        return
    await answer_messages(context, origin, occasion, reply, heard.parts)


async def _is_asked(context: Context, heard: Heard) -> bool:
    """Return whether a message is a question to the docs now, which a worker answers."""
    messages = await context.store.read(lambda tx: Inbox(tx).parts(heard.origin.key))
    return any(message.state is HeardState.ASKED for message in messages)


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
    text = heard.text
    project = None
    if heard.door is not Door.REPLY or target is None:
        text, project = context.projects.take(text)
    if heard.door is Door.FIRST or (target and project and project.id != target.job.project):
        target = None
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        await _answer_files(context, allowed, heard)
        return
    request = PromptRequest(
        text,
        files=heard.files,
        project=project.id if project and target is None else None,
        allow_key=heard.allow_key,
        is_sure=heard.is_sure,
    )
    if target is None or target.job.is_merged:
        await _start(context, allowed, heard, request, target.job if target else None)
    else:
        await _follow_up(context, heard, request, target)


async def _answer_files(context: Context, allowed: Allowed, heard: Heard) -> None:
    """Answer files whose author has said nothing about them."""
    files = [file.name for file in heard.files]
    answer = job_answers.nothing_to_send(files) if files else greet(context, allowed)
    await answer_messages(context, allowed.origin, "greeting", answer, heard.parts)


async def _start(
    context: Context,
    allowed: Allowed,
    heard: Heard,
    request: PromptRequest,
    merged: TrackedJob | None,
) -> None:
    """Start a job. ``merged``: the job whose pull request is merged, in whose thread it was asked for."""
    origin = allowed.origin
    request = await _with_background(context, heard, request, merged)
    is_by_app = origin.user in context.settings.allowed_bots
    asks_first = merged is None and not is_by_app
    question = await ask_first(context, allowed, request, heard.text) if asks_first else None
    if question is not None:
        await answer_messages(context, origin, "sure", question, heard.parts)
        return
    asked = await ask(context, allowed, request, _taking(context, heard))
    if asked.same:
        await answer_messages(context, origin, "same", job_answers.same_job(asked.job), heard.parts)
        return
    if merged is not None:
        reply = unsent.merged_before(merged)
        occasion = f"merged:{asked.job}"
        now = context.clock()
        await context.store.write(lambda tx: say_in_thread(tx, merged, occasion, reply, now))
    if not heard.is_sure and not asked.repeated:
        note = await note_start(context, allowed, heard.meaning, asked.job, is_held=not is_by_app)
        if note is not None:
            await answer_in_private(context, origin, "start", note)


async def _with_background(
    context: Context, heard: Heard, request: PromptRequest, merged: TrackedJob | None
) -> PromptRequest:
    """Return the request for a job with what it takes along from its thread."""
    thread = heard.origin.thread
    if thread is None:
        return request
    follows = merged.number if merged else None
    request = replace(request, take_thread=TakeThread.IF_PUBLIC, follows=follows)
    if heard.kind is not Kind.ANSWER_TO_PAGE:
        return request
    where = ThreadRef(heard.origin.channel, thread)
    answered = await context.store.read(lambda tx: find_answered(context, tx, where))
    if answered is None:
        return request
    request = replace(request, about=answered.about)
    if not is_direct_message(where.channel):
        return request
    # A direct conversation has nobody's words but those of its one person, and its answers.
    return replace(request, take_thread=TakeThread.GIVEN, given=answered.conversation)


async def _follow_up(
    context: Context, heard: Heard, request: PromptRequest, target: Readable
) -> None:
    origin = heard.origin
    job = target.job
    if job.among_people and origin.thread is not None:
        request = replace(request, take_thread=TakeThread.IF_PUBLIC)
    result = await follow_up(context, target, request, _taking(context, heard))
    if not result.accepted:
        # Once for each reply.
        occasion = f"unsent:{origin.message_ts}"
        refusal = job_answers.cannot_follow_up(job)
        now = context.clock()
        await _tell(context, heard.parts, lambda tx: say_in_thread(tx, job, occasion, refusal, now))
    elif result.same is not None:
        same = job_answers.same_follow_up(job.number, result.same)
        await answer_messages(context, origin, "same", same, heard.parts)


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


async def answer_messages(
    context: Context,
    origin: Origin,
    occasion: str,
    message: Message,
    parts: Sequence[InboxMessage],
) -> None:
    """Answer the author of messages that need nothing more in private."""
    note = private_answer(context, origin, occasion, message)
    if note is None:
        await _settle(context, parts)
        return
    await _tell(context, parts, lambda tx: Outbox(tx).add(note, context.clock()))


async def _tell(
    context: Context, parts: Sequence[InboxMessage], tell: Callable[[Transaction], None]
) -> None:
    """Answer messages, or changes of them, that ask the agent for nothing, or not any more."""

    def answer(tx: Transaction) -> None:
        tell(tx)
        close(tx, parts)

    await context.write(answer)
