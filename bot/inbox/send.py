"""Sending the words of messages to the agent: as a follow-up in a job's thread, or as a new job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.access.admit import Allowed
from bot.commands.meaning import Meaning
from bot.context import Context
from bot.ids import Message, is_direct_message
from bot.inbox.model import Door, InboxMessage
from bot.inbox.requests import make_messages_writer, make_parts_writer, settle, show_taken
from bot.intent.kinds import Kind
from bot.jobs.access import Readable
from bot.jobs.ask import ask, follow_up
from bot.jobs.gates import ask_first, note_start
from bot.jobs.hooks import Also
from bot.jobs.messages import job_answers, unsent
from bot.jobs.model.jobs import AttachThread, TrackedJob
from bot.jobs.model.prompts import PromptRequest, UnsentText
from bot.jobs.questions import find_answered
from bot.jobs.thread import say as say_in_thread
from bot.messages import slack_text
from bot.outbox.private_answers import answer_in_private, private_answer
from bot.outbox.store import Outbox
from bot.ports import Origin, ThreadRef
from bot.store import Transaction


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Words on their way to the agent."""

    meaning: Meaning
    """Its text is without the mention and the name of the job."""
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
    """A button sends the messages, so their earlier outcome stays."""

    @property
    def full_text(self) -> str:
        """The words, with the name of their project."""
        return self.meaning.full_text


async def send(context: Context, then: Context, allowed: Allowed, outgoing: Outgoing) -> None:
    """Store a prompt, or tell its author why none is stored.

    Args:
        context: The present.
        then: The same at the time when the words were written.
        allowed: The author, at the message.
        outgoing: The words.

    Raises HasKey, TooManyWaiting, UnknownProject and NotAllowed.
    """
    text = outgoing.full_text
    project = None
    target = outgoing.target
    if outgoing.door is not Door.REPLY or target is None:
        text, project = context.projects.take(text)
    if target is not None and project is not None and project.id != target.job.project:
        target = None
    files = tuple(file for message in outgoing.messages for file in message.files)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        nothing = job_answers.nothing_to_send([file.name for file in files])
        await _answer(context, allowed, outgoing, "greeting", nothing)
        return
    omitted_parts = [name for message in outgoing.messages for name in message.omitted_parts]
    request = PromptRequest(
        text,
        files=files,
        omitted_parts=tuple(dict.fromkeys(omitted_parts)),
        project=project.id if project and target is None else None,
        allow_key=outgoing.allow_key,
        is_sure=outgoing.is_sure,
        held_until=outgoing.held_until,
        verified_at=context.clock(),
    )
    if target is None or target.job.is_merged:
        merged = target.job if target else None
        await _start(context, then, allowed, outgoing, request, merged)
    else:
        await _follow_up(context, then, allowed, outgoing, request, target)


async def _start(
    context: Context,
    then: Context,
    allowed: Allowed,
    outgoing: Outgoing,
    request: PromptRequest,
    merged: TrackedJob | None,
) -> None:
    """Start a job.

    ``merged``: the merged job in whose thread the request was made.
    """
    origin = allowed.origin
    request = await _add_background(context, origin, outgoing, request, merged)
    is_by_app = origin.user in context.settings.allowed_bots
    asks_first = merged is None and not is_by_app
    question = await ask_first(then, allowed, request, outgoing.full_text) if asks_first else None
    if question is not None:
        await _answer(context, allowed, outgoing, "sure", question)
        return
    asked = await ask(then, allowed, request, _make_outgoing_writer(context, allowed, outgoing))
    if asked.same:
        await _answer(context, allowed, outgoing, "same", job_answers.same_job(asked.job))
        return
    if merged is not None:
        note = unsent.merged_before(merged)
        occasion = f"merged:{asked.job}"
        now = context.clock()
        await context.store.write(lambda tx: say_in_thread(tx, merged, occasion, note, now))
    if not outgoing.is_sure and not asked.repeated:
        is_held = outgoing.held_until is not None
        doubt = await note_start(then, allowed, outgoing.meaning, asked.job, is_held=is_held)
        if doubt is not None:
            await answer_in_private(context, origin, "start", doubt)


async def _add_background(
    context: Context,
    origin: Origin,
    outgoing: Outgoing,
    request: PromptRequest,
    merged: TrackedJob | None,
) -> PromptRequest:
    """Return the request for a job, with the attached messages of its thread."""
    if origin.thread is None:
        return request
    predecessor = merged.number if merged else None
    request = replace(request, attach_thread=AttachThread.IF_PUBLIC, predecessor=predecessor)
    if outgoing.meaning.kind is not Kind.ANSWER_TO_PAGE:
        return request
    where = ThreadRef(origin.channel, origin.thread)
    answered = await context.store.read(lambda tx: find_answered(context, tx, where))
    if answered is None:
        return request
    request = replace(request, gap=answered.gap)
    if not is_direct_message(where.channel):
        return request
    # A direct conversation has only the words of its one person, and answers.
    return replace(request, attach_thread=AttachThread.GIVEN, given=answered.conversation)


async def _follow_up(
    context: Context,
    then: Context,
    allowed: Allowed,
    outgoing: Outgoing,
    request: PromptRequest,
    target: Readable,
) -> None:
    if target.job.among_people and allowed.origin.thread is not None:
        request = replace(request, attach_thread=AttachThread.IF_PUBLIC)
    result = await follow_up(
        then, target, request, _make_outgoing_writer(context, allowed, outgoing)
    )
    job = result.job
    if not result.accepted:
        # Once for each message.
        occasion = f"unsent:{allowed.origin.message_ts}"
        # With its text the button would start a job where it was said, with the words of that one.
        is_here = job.channel == allowed.origin.channel
        origin = allowed.origin
        draft = UnsentText(origin.key, origin.thread, request.raw) if is_here else None
        refusal = job_answers.cannot_follow_up(job, draft)

        def say(tx: Transaction) -> None:
            say_in_thread(tx, job, occasion, refusal, context.clock())

        await _settle(context, outgoing, say)
    elif result.same is not None:
        same = job_answers.same_follow_up(job.number, result.same)
        await _answer(context, allowed, outgoing, "same", same)
    elif outgoing.messages and allowed.origin.message_ts is None:
        # The message is in another place than the job's thread, where the answers come.
        taken = job_answers.follow_up_taken(job, guessed=False)
        await answer_in_private(context, allowed.origin, "taken", taken)


def _make_outgoing_writer(context: Context, allowed: Allowed, outgoing: Outgoing) -> Also:
    """Return the function that makes the messages parts of the new prompt, in its transaction."""
    text = outgoing.full_text.strip()
    if outgoing.target is not None and outgoing.door is not Door.REPLY:
        text, _ = context.projects.take(text)
    key = allowed.origin.key
    write_messages = make_parts_writer(context, key, outgoing.messages, text)
    if outgoing.is_moved:
        write_messages = make_messages_writer(key, allowed.user, outgoing.messages, text)

    def write(tx: Transaction) -> None:
        write_messages(tx)
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
