"""Messages that were edited or deleted after they asked for something."""

from __future__ import annotations

from bot.access.admit import Allowed, NotAllowed, admit
from bot.context import Context
from bot.ids import Message, MessageTs, is_direct_message
from bot.jobs.ask import HasKey
from bot.jobs.decisions import take_back
from bot.jobs.messages import job_answers as say
from bot.jobs.model import lifecycle
from bot.jobs.model.intents import Deed, Door, classify, deed_for
from bot.jobs.model.jobs import JobProblem
from bot.jobs.model.prompts import Prompt, PromptKind, PromptState
from bot.jobs.store.conversations import RETRIED_FOR
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread_events import TooEarly, find_thread, is_meant_for_us, telling_refusals
from bot.masking import has_key
from bot.messages import slack_text
from bot.messages.general import unknown_choice
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Changed, Origin, ThreadReply, time_of
from bot.projects import Project, UnknownProject
from bot.store import Transaction

_UNSENT = (PromptState.NEW, PromptState.WAITING)
_OUT = (PromptState.SENDING, PromptState.SENT, PromptState.UNCONFIRMED)


async def take_change(context: Context, changed: Changed) -> None:
    """Carry out the change of a message that brought a prompt.

    A prompt that has not been sent gets the new text; without text, or when the message is not for the bot
    any more, it is withdrawn. The author of a prompt that has been sent gets a private message: the agent has
    the text as it was.

    Raises TooEarly if the change arrives before the message itself, which Slack delivers again after a
    failure: the message would count with its old text.
    """
    async with telling_refusals(context, changed.origin):
        access = None if changed.text is None else await _access_of_author(context, changed)
        if await context.store.write(lambda tx: _carry_out(context, tx, changed, access)):
            context.wake()


async def _access_of_author(context: Context, changed: Changed) -> Allowed | NotAllowed | None:
    """Return the author of an edited prompt, or the refusal; None for other messages.

    Everybody may delete their own requests.
    """
    origin = changed.origin
    prompt = await context.store.read(lambda tx: Prompts(tx).with_key(origin.key))
    if prompt is None or prompt.asked_by != origin.user:
        return None
    try:
        return await admit(context, origin, channel=origin.channel)
    except NotAllowed as error:
        return error


def _carry_out(
    context: Context, tx: Transaction, changed: Changed, access: Allowed | NotAllowed | None
) -> bool:
    """Return whether anything was written. Raises NotAllowed for an edit without access."""
    origin = changed.origin
    prompt = Prompts(tx).with_key(origin.key)
    if prompt is None and _is_to_come(context, tx, origin, changed):
        raise TooEarly(origin.key)
    if prompt is None or not prompt.asked_by:
        return False
    is_by_asker = prompt.asked_by == origin.user
    if changed.text is None or (
        is_by_asker and _takes_back(context, tx, origin, prompt, changed.text, changed.before)
    ):
        end = JobProblem.DELETED if changed.text is None else JobProblem.EDITED
        return prompt.state in _UNSENT and _withdraw(context, tx, prompt, end)
    if not is_by_asker:
        return False
    if isinstance(access, NotAllowed):
        raise access
    if access is None:  # the message was stored a moment ago, by another delivery of it
        raise TooEarly(origin.key)
    return _edit(context, tx, origin, prompt, changed.text, changed.at)


def _edit(
    context: Context, tx: Transaction, origin: Origin, prompt: Prompt, text: str, edited_at: str
) -> bool:
    """Replace a prompt's text, and perhaps its job's project; answer in private if it is sent."""
    try:
        raw, project = _text_and_project(context, tx, origin, prompt, text)
    except UnknownProject as unknown:
        message = unknown_choice(unknown.name, context.projects)
        _whisper(context, tx, origin, edited_at, message, origin.thread)
        return True
    moves_to = project if project is not None and project.id != prompt.project else None
    is_unsent, is_nothing = prompt.state in _UNSENT, _is_nothing(raw, prompt, _door(context, prompt, text))
    if raw == prompt.raw and not (moves_to and is_unsent):
        return False
    if is_unsent and is_nothing:
        return _withdraw(context, tx, prompt, JobProblem.EDITED)
    if is_unsent:
        if has_key(raw) and not has_key(prompt.raw):
            raise HasKey(None)
        if moves_to is not None:
            Prompts(tx).move(prompt, moves_to)
        Prompts(tx).save(prompt, lifecycle.prompt_edited(prompt, raw, context.clock()))
        return True
    if prompt.state in _OUT and not is_nothing:
        job = Jobs(tx).get_or_raise(prompt.job)
        is_here = job.thread is not None and job.thread.channel == origin.channel
        thread = job.thread.ts if job.thread and is_here else origin.thread
        _whisper(context, tx, origin, "sent", say.edited_too_late(job), thread)
        return True
    return False


def _is_to_come(context: Context, tx: Transaction, origin: Origin, changed: Changed) -> bool:
    """Return whether an unknown message may still be delivered, and ask for something."""
    said_at, before = origin.message_ts, changed.before
    # Both by Slack's clock: this machine's may be wrong.
    if before is None or said_at is None or time_of(MessageTs(changed.at)) - time_of(said_at) > RETRIED_FOR:
        return False
    if Outbox(tx).was_answered(origin):
        return False
    text = slack_text.without_leading_mention(before, context.bot_user)
    if origin.thread is not None:
        thread = find_thread(tx, origin, text)
        return thread.being_posted or is_meant_for_us(context, ThreadReply(origin, before), thread)
    is_for_us = is_direct_message(origin.channel) or slack_text.mentions(before, context.bot_user)
    return is_for_us and not slack_text.is_aside(text)


def _takes_back(
    context: Context, tx: Transaction, origin: Origin, prompt: Prompt, text: str, before: str | None
) -> bool:
    """Return whether an edit removes the request, or addresses somebody else."""
    bare = slack_text.without_leading_mention(text, context.bot_user)
    # It may have been taken before the channel chose that only mentions count.
    was_for_us = before is None or _is_for_us(context, tx, origin, before)
    is_nothing = _is_nothing(bare, prompt, _door(context, prompt, text))
    return is_nothing or (was_for_us and not _is_for_us(context, tx, origin, text))


def _is_for_us(context: Context, tx: Transaction, origin: Origin, text: str) -> bool:
    """Return whether an edited message is for the bot, as all direct messages are."""
    if is_direct_message(origin.channel):
        return True
    if origin.thread is None:
        return slack_text.mentions(text, context.bot_user)
    thread = find_thread(tx, origin, slack_text.without_leading_mention(text, context.bot_user))
    return is_meant_for_us(context, ThreadReply(origin, text), thread)


def _text_and_project(
    context: Context, tx: Transaction, origin: Origin, prompt: Prompt, text: str
) -> tuple[str, Project | None]:
    """Return the text for the agent in a message, and the project that the message names.

    Raises UnknownProject.
    """
    is_mention = slack_text.mentions(text, context.bot_user)
    text = slack_text.without_leading_mention(text, context.bot_user)
    if prompt.kind is PromptKind.START:
        text, project = context.projects.take(text)
        return text.strip(), project
    if origin.thread is not None:
        thread = find_thread(tx, origin, text)
        if thread.job is not None and thread.job.number == prompt.job:
            text = context.projects.take(thread.text)[0] if is_mention else thread.text
    return text.strip(), None


def _door(context: Context, prompt: Prompt, text: str) -> Door:
    if prompt.kind is PromptKind.START:
        return Door.FIRST
    return Door.ADDRESSED if slack_text.mentions(text, context.bot_user) else Door.REPLY


def _is_nothing(raw: str, prompt: Prompt, door: Door) -> bool:
    """Return whether a text has no request. A text like the stored prompt has one."""
    plain, was = (slack_text.to_plain(text, {}, {}) for text in (raw, prompt.raw))
    intent = classify(plain, door)
    is_unsent = deed_for(intent, door, retries=False) is not Deed.SEND and intent is not classify(was, door)
    return slack_text.is_aside(raw) or slack_text.is_blank(plain) or is_unsent


def _withdraw(context: Context, tx: Transaction, prompt: Prompt, end: JobProblem) -> bool:
    job = Jobs(tx).get_or_raise(prompt.job)
    take_back(tx, prompt, job, prompt.asked_by, context.clock(), end)
    return True


def _whisper(
    context: Context,
    tx: Transaction,
    origin: Origin,
    occasion: str,
    message: Message,
    thread: MessageTs | None,
) -> None:
    key = f"{origin.key}:changed:{occasion}"
    whisper = NewDelivery.whisper(key, origin.channel, origin.user, message, thread=thread)
    Outbox(tx).add(whisper, context.clock())
