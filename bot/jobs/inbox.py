"""The two ends of the inbox: what Slack's events put in, and the worker that takes it out.

A listener only filters and stores. The worker reads a message at once and acts on it, but for an instruction:
that is held until its author has said nothing more there for a while. Then it goes with what they have added,
as one request. An edit or a deletion before that needs nothing of its own; later `FOLLOWS` has its meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.access.admit import Allowed, Declined, NotAllowed, Untold, admit
from bot.access.model import Access, Members, access_fingerprint
from bot.context import Context, WorkerContext, make_claim
from bot.engine import back_off_seconds, unless_taken_over
from bot.ids import Message, MessageTs, RequestKey, is_direct_message
from bot.jobs.access import if_visible
from bot.jobs.ask import HasKey
from bot.jobs.decisions import take_back
from bot.jobs.interpret import LATER, Heard, find_named_job, interpret, is_read_again, part_text
from bot.jobs.messages import job_answers as say
from bot.jobs.model import lifecycle
from bot.jobs.model.inbox import (
    FOLLOWS,
    Correction,
    Door,
    Follows,
    HeardState,
    InboxMessage,
    Part,
    part_of,
)
from bot.jobs.model.jobs import JobProblem
from bot.jobs.model.prompts import Prompt, PromptKind, PromptState
from bot.jobs.store.inbox import MISSED_FOR, RETRIED_FOR, Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread_events import answer_messages, close, react, send, show_taken
from bot.logs import about_request
from bot.masking import has_key
from bot.messages import slack_text
from bot.messages.general import unknown_choice, unknown_project
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Changed, Content, Mention, ThreadRef, ThreadReply, time_of, ts_at
from bot.projects import Project, UnknownProject
from bot.store import Transaction

log = structlog.get_logger(__name__)
_AT_ONCE = 20
_SOON_SECONDS = 1.0
_LATER_SECONDS = 30.0
"""Longest wait between two looks for the beginning of a message's thread."""


# ---- what Slack's events put in


async def receive(
    context: Context,
    message: ThreadReply | Mention,
    *,
    born: MessageTs | None,
    missed: bool = False,
) -> None:
    """Store a message that may be for the bot. ``born``: nothing older is read; None for a known database.

    ``missed``: it was read after an outage, and counts as of the time when it was written.
    """
    origin, now = message.origin, context.clock()
    if origin.message_ts is None or _is_aside(context, message.text):
        return
    if isinstance(message, ThreadReply) and not await context.store.read(
        partial(_may_be_for_us, context, message)
    ):
        return
    ts, said_at = origin.message_ts, now
    if missed:
        # Slack's clock may be ahead of this machine's, and the message would wait until then.
        said_at = min(time_of(ts), now)

    def store(tx: Transaction) -> bool:
        is_first = origin.is_direct and not Inbox(tx).knows_channel(origin.channel)
        oldest = Inbox(tx).oldest() or born if is_first else None
        is_new = Inbox(tx).add(message, said_at)
        if is_new and is_first:
            # Others around it may have been missed by a bot that did not know of the conversation.
            since = ts_at(time_of(ts) - RETRIED_FOR)
            Inbox(tx).read_from(origin.channel, "", max(since, oldest or since), now)
        return is_new

    if await context.store.write(store):
        context.wake()


def _is_aside(context: Context, text: str) -> bool:
    return slack_text.is_aside(slack_text.without_leading_mention(text, context.bot_user))


def _may_be_for_us(context: Context, message: ThreadReply, tx: Transaction) -> bool:
    """Return whether a reply is to be read: it mentions the bot, or stands where the bot has a part."""
    origin = message.origin
    if (
        message.parent == context.bot_user
        or is_direct_message(origin.channel)
        or origin.thread is None
    ):
        return True
    if slack_text.mentions(message.text, context.bot_user):
        return True
    # A change does not name the thread's first author, and a status message may have begun it just now.
    # Asked first, so that the next statement finds a timestamp that is stored between the two.
    if message.parent is None and Outbox(tx).status_message_being_posted(origin.channel):
        return True
    thread = ThreadRef(origin.channel, origin.thread)
    return Jobs(tx).in_thread(thread) is not None or Inbox(tx).is_waited_for(*thread)


async def receive_change(context: Context, changed: Changed) -> None:
    """Store an edit of a message, or its deletion, also before the message itself has arrived."""
    now, key = context.clock(), changed.origin.key
    known = await context.store.read(
        lambda tx: Inbox(tx).with_key(key) is not None or _is_to_come(context, changed, tx)
    )
    if known and await context.store.write(partial(_store_change, changed, now)):
        context.wake()


def _store_change(changed: Changed, now: datetime, tx: Transaction) -> bool:
    text = changed.text
    message = Inbox(tx).with_key(changed.origin.key)
    if message is None:
        as_new = _as_message(changed, text or changed.before or "")
        return Inbox(tx).add_deleted(as_new, now) if text is None else Inbox(tx).add(as_new, now)
    newest = message.edited if message.change is Correction.EDITED else message.text
    if message.state is HeardState.SETTLED or not message.user:
        return False
    if text is not None and (text == newest or changed.origin.user != message.user):
        return False
    if message.state not in (HeardState.NEW, HeardState.HELD):
        change = Correction.DELETED if text is None else Correction.EDITED
        Inbox(tx).change(message, change=change, edited=text, said_at=now, due_at=now)
    elif text is None:
        emptied: dict[str, object] = dict.fromkeys(("parent", "text", "files", "omitted", "due_at"))
        Inbox(tx).change(message, state=HeardState.SETTLED, user="", **emptied)
    else:
        Inbox(tx).change(message, state=HeardState.NEW, text=text, said_at=now, due_at=now)
    return True


def _is_to_come(context: Context, changed: Changed, tx: Transaction) -> bool:
    """Return whether an unknown message may still arrive, and may be for the bot."""
    ts, before = changed.origin.message_ts, changed.before
    # Both by Slack's clock: this machine's may be wrong.
    if before is None or ts is None or time_of(MessageTs(changed.at)) - time_of(ts) > RETRIED_FOR:
        return False
    return any(
        _stands_for_us(context, _as_message(changed, text), tx)
        for text in (before, changed.text or "")
    )


def _stands_for_us(context: Context, message: ThreadReply | Mention, tx: Transaction) -> bool:
    if isinstance(message, ThreadReply):
        return _may_be_for_us(context, message, tx)
    return message.origin.is_direct or slack_text.mentions(message.text, context.bot_user)


def _as_message(changed: Changed, text: str) -> ThreadReply | Mention:
    kind = Mention if changed.origin.thread is None else ThreadReply
    return kind(changed.origin, replace(changed.content or Content(text), text=text))


# ---- the worker that takes it out


claim_heard = make_claim(lambda tx, claimer, limit: Inbox(tx).claim(claimer, min(limit, _AT_ONCE)))
"""Claims messages to read, those that are held no longer, and those that were changed."""


async def hear(context: WorkerContext, message: InboxMessage) -> None:
    """Read a message, send what was held, or carry out a change."""
    with about_request(message.key), unless_taken_over("message", message.id):
        # Each step recognises its repetition: by the state of the message, and by keys.
        await context.retry(partial(_work_on, context, message))
        context.wake()


async def _work_on(context: WorkerContext, message: InboxMessage) -> None:
    parts: Sequence[InboxMessage] = (message,)
    if message.state is HeardState.HELD:
        parts = await context.store.read(lambda tx: Inbox(tx).held_by_author(message)) or parts
    # A missed message counts as of the time when it was written.
    then = replace(context, clock=lambda: parts[0].said_at)
    try:
        if message.state is HeardState.NEW:
            await _read(context, then, message)
        elif message.state is HeardState.HELD:
            await _decline_files(then, parts)
        else:
            await _carry_out_change(context, message)
    except Declined as declined:
        await _decline(context, parts, declined)
    except UnknownProject as unknown:
        if message.state is HeardState.TAKEN:
            await context.write(partial(_drop_change, context, message, unknown))
            return
        prompt = slack_text.to_plain(unknown.text, {}, {})
        error = unknown_project(unknown.name, context.projects, prompt)
        await answer_messages(context, parts[0].origin, "project", error, parts)


async def _read(context: WorkerContext, then: Context, message: InboxMessage) -> None:
    heard = await context.store.read(lambda tx: interpret(context, tx, message))
    if heard is LATER and context.clock() - message.said_at <= MISSED_FOR:
        await _read_later(context, message)
        return
    if not isinstance(heard, Heard):
        await context.store.write(lambda tx: Inbox(tx).settle([message], context.owner))
    elif await react(then, heard):
        await _begin_or_add(context, then, heard)


async def _read_later(context: WorkerContext, message: InboxMessage) -> None:
    """Let a message wait a second, or longer while Slack does not answer whether its thread was begun."""
    attempts = message.attempts + 1
    seconds = back_off_seconds(attempts, context.chance(), cap=_LATER_SECONDS)
    due_at = context.after(seconds)
    await context.store.write(
        lambda tx: Inbox(tx).save(message, context.owner, due_at=due_at, attempts=attempts)
    )
    context.wake_after(seconds)


async def _begin_or_add(context: WorkerContext, then: Context, heard: Heard) -> None:
    """Add an instruction to its author's held prompt, or store a new one, with the files said before it."""
    [message] = heard.parts
    if await context.write(partial(_add, context, then, heard)):
        return
    if slack_text.is_blank(slack_text.to_plain(heard.text, {}, {})):
        due_at = message.said_at + timedelta(seconds=context.timeouts.hold_seconds)
        await context.write(
            lambda tx: Inbox(tx).save(message, state=HeardState.HELD, due_at=due_at)
        )
        return
    held = await context.store.read(lambda tx: Inbox(tx).held_by_author(message))
    parts = (*held, message)
    files = tuple(file for part in parts for file in part.files)
    whole = replace(heard, files=files, parts=parts)
    allowed = await admit(then, heard.origin, channel=message.channel)
    await send(then, allowed, whole, await if_visible(then, allowed, heard.job))


def _held_prompt(context: Context, heard: Heard, tx: Transaction) -> Prompt | None:
    """Return the prompt that a message adds to; None if it begins one."""
    [message] = heard.parts
    seconds = timedelta(seconds=context.timeouts.hold_seconds)
    for part in Inbox(tx).taken_beside(message, seconds):
        prompt = Prompts(tx).with_key(part.request) if part.request else None
        # A button has sent words that are not kept, so the prompt cannot be made anew of its messages.
        if prompt is None or part.text is None:
            continue
        if heard.job is not None and heard.job.number != prompt.job:
            continue
        if _is_held(context, prompt):
            return prompt
    return None


def _is_held(context: Context, prompt: Prompt) -> bool:
    """Return whether a prompt waits by its hold alone."""
    if part_of(prompt) is not Part.UNSENT or prompt.attempts or prompt.in_queue:
        return False
    return prompt.due_at is not None and (
        prompt.state is PromptState.NEW or prompt.due_at > context.clock()
    )


def _add(context: WorkerContext, then: Context, heard: Heard, tx: Transaction) -> bool:
    [message] = heard.parts
    prompt = _held_prompt(then, heard, tx)
    if prompt is None:
        return False
    Inbox(tx).take([message], RequestKey(prompt.key), heard.door)
    added = replace(
        message, door=heard.door, request=RequestKey(prompt.key), state=HeardState.TAKEN
    )
    _rebuild(context, tx, added, prompt, None)
    show_taken(tx, message, context.clock())
    return True


async def _decline_files(then: Context, parts: Sequence[InboxMessage]) -> None:
    """Tell an author that files without words are not sent."""
    names = [file.name for part in parts for file in part.files]
    await answer_messages(then, parts[0].origin, "greeting", say.nothing_to_send(names), parts)


def _join(
    context: Context, texts: Sequence[str], *, takes_project: bool
) -> tuple[str, Project | None]:
    """Return texts as one, and the first project that one of them names. Raises UnknownProject."""
    if not takes_project:
        return "\n\n".join(text.strip() for text in texts if text.strip()), None
    pairs = [context.projects.take(text) for text in texts]
    project = next((project for _, project in pairs if project), None)
    return "\n\n".join(text.strip() for text, _ in pairs if text.strip()), project


async def _decline(
    context: WorkerContext, parts: Sequence[InboxMessage], declined: Declined
) -> None:
    """Tell an author that nothing was sent.

    Of somebody who may not use the bot the message's key stays: it is not read again once they may.
    """
    first = parts[0]
    if isinstance(declined, Untold) and context.clock() - first.said_at < MISSED_FOR:
        attempts = first.attempts + 1
        due_at = context.after(back_off_seconds(attempts, context.chance()))
        await context.store.write(
            lambda tx: Inbox(tx).save(first, due_at=due_at, attempts=attempts)
        )
        return
    if not isinstance(declined, NotAllowed):
        end = "key" if isinstance(declined, HasKey) else "too_many"
        await answer_messages(context, first.origin, end, declined.answer("", is_form=False), parts)
        return
    origin, rule = first.origin, access_fingerprint(context.settings)

    def refuse(tx: Transaction) -> None:
        now = context.clock()
        # Bots read no private messages. One whom Slack does not describe may be a bot.
        is_bot = declined.access is Access.BOT or (
            origin.app is not None and declined.access is Access.UNTOLD
        )
        if not is_bot and Members(tx).may_tell_denied(origin.user, rule, now):
            note = NewDelivery.whisper(
                f"{origin.key}:not_allowed",
                origin.channel,
                origin.user,
                declined.message,
                thread=origin.thread,
            )
            Outbox(tx).add(note, now)
        close(tx, parts)

    await context.write(refuse)


# ---- changes of messages of which something has come


async def _carry_out_change(context: WorkerContext, message: InboxMessage) -> None:
    access: Allowed | NotAllowed | None = None
    if message.change is Correction.EDITED and message.state is HeardState.TAKEN:
        try:
            access = await admit(context, message.origin, channel=message.channel)
        except Untold:
            raise
        except NotAllowed as error:
            access = error
    await context.store.write(lambda tx: _change(context, tx, message, access))


def _change(
    context: WorkerContext,
    tx: Transaction,
    message: InboxMessage,
    access: Allowed | NotAllowed | None,
) -> None:
    if message.change is None:
        Inbox(tx).save(message, due_at=None)
        return
    prompt = Prompts(tx).with_key(message.request) if message.request else None
    part = Part.OVER
    if message.state is HeardState.ASKED:
        part = Part.QUESTION
    elif prompt is not None:
        part = part_of(prompt)
    edited = replace(message, text=message.edited)
    is_over = True
    match FOLLOWS[part][message.change]:
        case Follows.WAIT:
            Inbox(tx).save(message, due_at=context.after(_SOON_SECONDS))
            return
        case Follows.ASK_ANEW | Follows.TAKE_BACK:
            is_over = not any(hooks.take_back_question(tx, edited) for hooks in context.hooks)
        case Follows.TELL if prompt:
            text = part_text(context, tx, edited, prompt)
            if text is not None:
                if isinstance(access, NotAllowed):
                    raise access
                _tell_too_late(context, tx, edited, prompt, text)
        case Follows.REBUILD if prompt and prompt.asked_by == message.user:
            is_over = not _rebuild(context, tx, edited, prompt, access)
    if message.change is Correction.DELETED:
        Inbox(tx).settle([message])
    elif not is_over:
        _read_anew(tx, message, context.clock())
    else:
        keeps = part in (Part.UNSENT, Part.UNCONFIRMED)
        Inbox(tx).save(
            message, change=None, edited=None, text=message.edited if keeps else None, due_at=None
        )


def _drop_change(
    context: Context, message: InboxMessage, unknown: UnknownProject, tx: Transaction
) -> None:
    """Leave a request as it is, since the new words of its author name a project that is not there."""
    _whisper(
        context,
        tx,
        message,
        "choice",
        unknown_choice(unknown.name, context.projects),
        message.thread,
    )
    Inbox(tx).drop_change(message)


def _read_anew(tx: Transaction, message: InboxMessage, now: datetime) -> None:
    """Let a message be read as a new one, since nothing is left of what had come of it."""
    Inbox(tx).save(
        message,
        state=HeardState.NEW,
        request=None,
        text=message.edited,
        change=None,
        edited=None,
        readings=message.readings + 1,
        said_at=now,
        due_at=now,
    )


def _tell_too_late(
    context: Context, tx: Transaction, message: InboxMessage, prompt: Prompt, text: str
) -> None:
    raw, _ = _join(context, [text], takes_project=prompt.kind is PromptKind.START)
    if raw in prompt.raw:
        return
    job = Jobs(tx).get_or_raise(prompt.job)
    is_here = job.thread is not None and job.thread.channel == message.channel
    thread = job.thread.ts if job.thread and is_here else message.thread
    _whisper(context, tx, message, "sent", say.edited_too_late(job), thread)


def _rebuild(
    context: Context,
    tx: Transaction,
    message: InboxMessage,
    prompt: Prompt,
    access: Allowed | NotAllowed | None,
) -> bool:
    """Make a prompt anew of its messages, or withdraw it. Return whether the message is something else now.

    Raises NotAllowed for new words of somebody without access, HasKey, and UnknownProject.
    """
    left = _words_left(context, tx, message, prompt)
    if not left and prompt.state is PromptState.UNCONFIRMED:
        # Perhaps it was sent, so a person decides; but its words are not sent again.
        Prompts(tx).save(prompt, lifecycle.prompt_edited(prompt, "", (), context.clock()))
        return False
    if not left:
        return _withdraw(context, tx, message, prompt)
    is_start = prompt.kind is PromptKind.START
    takes_project = is_start or any(part.door is Door.ADDRESSED for part, _ in left)
    raw, project = _join(context, [text for _, text in left], takes_project=takes_project)
    moves_to = None
    if is_start and project is not None and project.id != prompt.project:
        moves_to = project
    files = tuple(file for part, _ in left for file in part.files)
    if raw == prompt.raw and files == prompt.files and moves_to is None:
        return False
    if isinstance(access, NotAllowed):
        raise access
    if has_key(raw) and not has_key(prompt.raw):
        raise HasKey(None)
    if moves_to is not None:
        job = Jobs(tx).get_or_raise(prompt.job)
        Jobs(tx).save(job, replace(job, project=moves_to.id, project_label=moves_to.label))
        Prompts(tx).move(prompt, moves_to.id)
    Prompts(tx).save(prompt, lifecycle.prompt_edited(prompt, raw, files, context.clock()))
    return False


def _words_left(
    context: Context, tx: Transaction, message: InboxMessage, prompt: Prompt
) -> Sequence[tuple[InboxMessage, str]]:
    """Return the messages of a prompt that still ask for something, with their words for the agent."""
    left = list[tuple[InboxMessage, str]]()
    for stored in Inbox(tx).parts(RequestKey(prompt.key)):
        part = message if stored.id == message.id else stored
        text = part_text(context, tx, part, prompt)
        if text is not None:
            left.append((part, text))
    return left


def _withdraw(context: Context, tx: Transaction, message: InboxMessage, prompt: Prompt) -> bool:
    """Withdraw a prompt without words. Return whether its message is a question now, or for another job."""
    end = JobProblem.DELETED if message.text is None else JobProblem.EDITED
    job = Jobs(tx).get_or_raise(prompt.job)
    take_back(tx, prompt, job, prompt.asked_by, context.clock(), end)
    heard = interpret(context, tx, message) if message.text is not None else None
    if isinstance(heard, Heard) and find_named_job(heard) is not None:
        return True
    return is_read_again(heard)


def _whisper(
    context: Context,
    tx: Transaction,
    message: InboxMessage,
    occasion: str,
    words: Message,
    thread: MessageTs | None,
) -> None:
    key = f"{message.key}:changed:{occasion}"
    note = NewDelivery.whisper(key, message.channel, message.user, words, thread=thread)
    Outbox(tx).add(note, context.clock())


async def tidy_inbox(context: Context) -> int:
    """Forget messages that are too old to matter. Return 0, so that a worker rests."""
    await context.store.write(lambda tx: Inbox(tx).tidy(context.clock()))
    return 0
