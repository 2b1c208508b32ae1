"""The worker that hears messages.

Each message is decided once, and becomes part of a request or is settled.

Who may is asked here, without hurry. What comes of a message is written in one transaction, so that
each step may be repeated whole after a failure.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bot.access.admit import Declined, NotAllowed, Untold, admit
from bot.access.model import Access, Members, access_fingerprint
from bot.consequences import CONSEQUENCES, Consequence, Event
from bot.context import Context, WorkerContext, make_claim
from bot.engine import unless_taken_over
from bot.ids import Message
from bot.inbox import messages as say
from bot.inbox.act import act_on
from bot.inbox.meaning import LATER, HeardMessage, interpret
from bot.inbox.model import (
    BATCH_SIZE,
    SOON_SECONDS,
    InboxMessage,
    MessageState,
    growing_pause_seconds,
)
from bot.inbox.requests import leave_request, refuse_request, settle, stage_of
from bot.inbox.store import SETTLED_KEPT_FOR, Inbox
from bot.inbox.withdraw import BeingSent
from bot.jobs.ask import HasKey
from bot.jobs.messages import job_answers
from bot.jobs.model.prompts import Prompt
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.logs import log_reference
from bot.messages import slack_text
from bot.messages.general import unknown_project
from bot.outbox.model import NewDelivery
from bot.outbox.private_answers import private_answer
from bot.outbox.store import Outbox
from bot.projects import UnknownProject
from bot.store import Transaction

claim_messages = make_claim(
    lambda tx, claimer, limit: Inbox(tx).claim(claimer, min(limit, BATCH_SIZE))
)
"""Claims messages to decide, also edited and deleted ones, and files whose words have not come."""


async def hear(context: WorkerContext, message: InboxMessage) -> None:
    """Decide about a message and act on it, or carry out its deletion."""
    with log_reference(message.key), unless_taken_over("message", message.id):
        await context.retry(partial(_hear, context, message))
        context.wake()


async def _hear(context: WorkerContext, message: InboxMessage) -> None:
    try:
        if message.state is MessageState.HELD:
            await _decline_files(context, message)
        elif message.is_deleted:
            await context.write(partial(_carry_out_deletion, context, message))
        else:
            await _carry_out(context, message)
    except Declined as declined:
        await _decline(context, message, declined)
    except BeingSent:
        await _postpone(context, message, SOON_SECONDS)
    except UnknownProject as unknown:
        text = slack_text.to_plain(unknown.text, {}, {})
        error = unknown_project(unknown.name, context.projects, text)
        await _settle(context, message, "project", error)


async def _carry_out(context: WorkerContext, message: InboxMessage) -> None:
    """Decide about a new message; about an edited one if its request allows that."""
    stage = await context.store.read(lambda tx: stage_of(tx, message.request))
    match CONSEQUENCES[stage][Event.EDITED]:
        case Consequence.DECIDE_AGAIN:
            await _decide(context, message)
        case Consequence.WAIT:
            await _postpone(context, message, SOON_SECONDS)
        case Consequence.INFORM:
            await admit(context, message.origin, channel=message.channel)
            await context.write(partial(_inform_of_edit, context, message))
        case _:
            await context.write(lambda tx: _keep_request(tx, message))


def _keep_request(tx: Transaction, message: InboxMessage) -> None:
    """Leave a message with its request, without the text that its author has given it since."""
    if message.request is not None:
        Inbox(tx).take(message, message.request, None)


async def _decide(context: WorkerContext, message: InboxMessage) -> None:
    heard = await context.store.read(lambda tx: interpret(context, tx, message))
    if heard is LATER:
        await _postpone_for_slack(context, message)
        return
    # A message that was missed counts as of the time when it was written.
    then = replace(context, clock=lambda: message.said_at)
    if not isinstance(heard, HeardMessage):
        await context.write(lambda tx: settle(context, tx, [message]))
        return
    await act_on(context, then, heard, message)


async def _settle(
    context: Context, message: InboxMessage, occasion: str, answer: Message | None
) -> None:
    """Settle a message with an answer to its author alone."""
    note = private_answer(context, message.origin, occasion, answer) if answer else None

    def write(tx: Transaction) -> None:
        if note is not None:
            Outbox(tx).add(note, context.clock())
        settle(context, tx, [message])

    await context.write(write)


# ---- waiting


async def _postpone_for_slack(context: WorkerContext, message: InboxMessage) -> None:
    """Postpone a message, for longer the older it is, and settle it after a day."""
    age = context.clock() - message.said_at
    if age > SETTLED_KEPT_FOR:
        await context.write(lambda tx: settle(context, tx, [message]))
        return
    await _postpone(context, message, growing_pause_seconds(age.total_seconds()))


async def _postpone(context: WorkerContext, message: InboxMessage, seconds: float) -> None:
    due_at = context.after(seconds)
    await context.store.write(lambda tx: Inbox(tx).save(message, context.owner, due_at=due_at))
    context.wake_after(seconds)


# ---- a message is declined


async def _decline_files(context: WorkerContext, message: InboxMessage) -> None:
    """Tell an author that files without words are not sent."""
    held = await context.store.read(lambda tx: Inbox(tx).held_files(message))
    names = [file.name for each in held for file in each.files]
    origin = message.origin
    note = private_answer(context, origin, "greeting", job_answers.nothing_to_send(names))

    def write(tx: Transaction) -> None:
        if note is not None:
            Outbox(tx).add(note, context.clock())
        settle(context, tx, held)

    await context.write(write)


async def _decline(context: WorkerContext, message: InboxMessage, declined: Declined) -> None:
    """Settle a message with the reason for its author.

    One whom Slack does not describe waits for a day.
    """
    is_undescribed = isinstance(declined, Untold)
    if is_undescribed and context.clock() - message.said_at <= SETTLED_KEPT_FOR:
        await _postpone_for_slack(context, message)
    elif isinstance(declined, NotAllowed):
        await context.write(partial(_refuse, context, message, declined))
    else:
        occasion = "key" if isinstance(declined, HasKey) else "too_many"
        await _settle(context, message, occasion, declined.answer("", is_form=False))


def _refuse(context: Context, message: InboxMessage, declined: NotAllowed, tx: Transaction) -> None:
    """Refuse a message and the request that waits for it, and say so once in a while."""
    origin = message.origin
    now = context.clock()
    rule = access_fingerprint(context.settings)
    # Bots read no private messages. One whom Slack does not describe may be a bot.
    is_unknown_app = origin.app is not None and declined.access is Access.UNTOLD
    is_bot = declined.access is Access.BOT or is_unknown_app
    if not is_bot and Members(tx).may_tell_denied(origin.user, rule, now):
        note = private_answer(context, origin, "not_allowed", declined.message)
        if note is not None:
            Outbox(tx).add(note, now)
    if message.request is not None:
        refuse_request(context, tx, message.request)
    settle(context, tx, [message])


# ---- changes of a message whose request the agent has


def _carry_out_deletion(context: WorkerContext, message: InboxMessage, tx: Transaction) -> None:
    stage = stage_of(tx, message.request)
    match CONSEQUENCES[stage][Event.DELETED]:
        case Consequence.WAIT:
            Inbox(tx).save(message, due_at=context.after(SOON_SECONDS))
            return
        case Consequence.INFORM:
            _inform_of_deletion(context, tx, message)
        case Consequence.MAKE_ANEW | Consequence.TAKE_BACK:
            leave_request(context, tx, message)
        case _:
            pass
    Inbox(tx).settle(message)


def _inform_of_deletion(context: Context, tx: Transaction, message: InboxMessage) -> None:
    """Tell an author, once, that deleting a message takes nothing back from the agent."""
    prompt = Prompts(tx).with_key(message.request) if message.request else None
    if prompt is None:
        return
    job = Jobs(tx).get_or_raise(prompt.job)
    may_stop = message.user == job.requester or message.user in context.settings.admins
    note = say.deleted_too_late(job, may_stop=may_stop)
    _inform(context, tx, message, prompt, "deleted", note)


def _inform_of_edit(context: Context, message: InboxMessage, tx: Transaction) -> None:
    """Tell an author, once, that the agent has the text from before the edit."""
    prompt = Prompts(tx).with_key(message.request) if message.request else None
    if prompt is not None and not _is_same(context, tx, message, prompt):
        job = Jobs(tx).get_or_raise(prompt.job)
        note = job_answers.edited_too_late(job)
        _inform(context, tx, message, prompt, "sent", note)
    _keep_request(tx, message)


def _is_same(context: Context, tx: Transaction, message: InboxMessage, prompt: Prompt) -> bool:
    """Return whether a prompt contains the words of its edited message."""
    heard = interpret(context, tx, message)
    text = heard.full_text if isinstance(heard, HeardMessage) else message.text or ""
    if isinstance(heard, HeardMessage):
        text, _ = context.projects.take(text)
    return " ".join(text.split()) in " ".join(prompt.raw.split())


def _inform(
    context: Context,
    tx: Transaction,
    message: InboxMessage,
    prompt: Prompt,
    occasion: str,
    note: Message,
) -> None:
    if message.user in context.settings.allowed_bots:
        return
    job = Jobs(tx).get_or_raise(prompt.job)
    is_here = job.thread is not None and job.thread.channel == message.channel
    thread = job.thread.ts if job.thread and is_here else message.thread
    key = f"{message.key}:changed:{occasion}"
    Outbox(tx).add(
        NewDelivery.whisper(key, message.channel, message.user, note, thread=thread),
        context.clock(),
    )


async def tidy_inbox(context: Context) -> int:
    """Forget messages that are too old to matter. Return 0, so that a worker rests."""
    await context.store.write(lambda tx: Inbox(tx).tidy(context.clock()))
    return 0
