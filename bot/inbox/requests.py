"""The one place where messages become a request, and change an unsent request.

A request is a prompt or a question. Its messages name its key; nothing else connects the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.answers.ask import take_back_question
from bot.answers.model import InquiryState
from bot.answers.store import Inquiries
from bot.consequences import CONSEQUENCES, Consequence, Event, Stage
from bot.context import Context
from bot.ids import RequestKey, UserId
from bot.inbox.meaning import HeardMessage
from bot.inbox.model import Door, InboxMessage, MessageState
from bot.inbox.store import Inbox
from bot.jobs.ask import HasKey
from bot.jobs.hooks import Also
from bot.jobs.job_acts import refuse_waiting_prompt, take_back_prompt
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobProblem
from bot.jobs.model.prompts import Prompt, PromptKind, PromptState
from bot.jobs.prompt_outcomes import remove_send_again_button
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.masking import has_key
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Content
from bot.projects import Project
from bot.store import Transaction

_STAGES = {
    PromptState.NEW: Stage.WAITING,
    PromptState.WAITING: Stage.WAITING,
    PromptState.SENDING: Stage.SENDING,
    PromptState.UNCONFIRMED: Stage.UNCONFIRMED,
    PromptState.SENT: Stage.SENT,
    PromptState.REFUSED: Stage.REFUSED,
    PromptState.WITHDRAWN: Stage.WITHDRAWN,
}
_QUESTION_STAGES = {
    InquiryState.ASKED: Stage.OPEN_QUESTION,
    InquiryState.DISMISSED: Stage.WITHDRAWN,
}


def stage_of_prompt(prompt: Prompt) -> Stage:
    """Return how far a prompt has come."""
    return _STAGES[prompt.state]


def stage_of(tx: Transaction, request: RequestKey | None) -> Stage:
    """Return how far the request with this key has come."""
    prompt = Prompts(tx).with_key(request) if request else None
    if prompt is not None:
        return stage_of_prompt(prompt)
    inquiry = Inquiries(tx).with_key(request) if request else None
    if inquiry is not None:
        return _QUESTION_STAGES.get(inquiry.state, Stage.ANSWERED)
    return Stage.NO_REQUEST


def refuse_request(context: Context, tx: Transaction, key: RequestKey) -> None:
    """Refuse the request with this key whose author may no longer, if it is not carried out yet."""
    stage = stage_of(tx, key)
    if CONSEQUENCES[stage][Event.AUTHOR_EXCLUDED] is not Consequence.REFUSE:
        return
    prompt = Prompts(tx).with_key(key)
    if prompt is None:
        take_back_question(tx, key)
    else:
        refuse_waiting_prompt(tx, prompt, context.clock())


def hold_end(context: Context, asked_at: datetime, said_at: datetime) -> datetime:
    """Return the time until which a prompt is held after the last word of its author.

    What is said while it is held from the beginning cannot hold it for longer than 30 seconds.
    """
    end = said_at + timedelta(seconds=context.timeouts.hold_seconds)
    latest = asked_at + timedelta(seconds=context.timeouts.hold_most_seconds)
    return min(end, latest) if said_at < latest else end


# ---- messages become a request


def make_parts_writer(
    context: Context, key: RequestKey, messages: Sequence[InboxMessage], text: str
) -> Also:
    """Return the function that makes messages parts of a new prompt, in its transaction.

    Args:
        context: The time and the settings.
        key: The key of the prompt.
        messages: Files that were held for it, and last the message with the words.
        text: The part of those for the agent.
    """

    def write(tx: Transaction) -> None:
        for message in messages[:-1]:
            Inbox(tx).take(message, key, "")
        for message in messages[-1:]:
            leave_request(context, tx, message, joins=key)
            Inbox(tx).take(message, key, text)

    return write


def make_messages_writer(
    key: RequestKey,
    user: UserId,
    messages: Sequence[InboxMessage],
    text: str | None,
) -> Also:
    """Return the function that assigns messages to the request of a pressed button.

    A settled message gets its author again, who alone has seen the button. Its earlier outcome
    stays.
    """

    def write(tx: Transaction) -> None:
        for message in messages:
            Inbox(tx).take(message, key, text, user)

    return write


def make_question_writer(context: Context, message: InboxMessage) -> Also:
    """Return the function that makes a message a question, in its transaction."""

    def write(tx: Transaction) -> None:
        leave_request(context, tx, message, joins=message.request_key)
        Inbox(tx).take(message, message.request_key, None)

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


def settle(context: Context, tx: Transaction, messages: Sequence[InboxMessage]) -> None:
    """Erase messages that ask for nothing, or no longer ask."""
    for message in messages:
        leave_request(context, tx, message)
        Inbox(tx).settle(message)


# ---- an unsent prompt is made anew from its messages


@dataclass(frozen=True, slots=True)
class JoinedPrompt:
    """The words and the files of a prompt, joined from its messages."""

    content: Content
    project: Project | None = None
    """The project that a prompt for a new job names."""


def join(context: Context, kind: PromptKind, messages: Sequence[InboxMessage]) -> JoinedPrompt:
    """Join the words and files of messages, in order. Raises UnknownProject."""
    texts = [message.text or "" for message in messages]
    files = tuple(file for message in messages for file in message.files)
    omitted_parts = [name for message in messages for name in message.omitted_parts]
    project = None
    if kind is PromptKind.START:
        pairs = [context.projects.take(text) for text in texts]
        texts = [text for text, _ in pairs]
        project = next((named for _, named in pairs if named), None)
    raw = "\n\n".join(text.strip() for text in texts if text.strip())
    return JoinedPrompt(Content(raw, files, tuple(dict.fromkeys(omitted_parts))), project)


def find_prompt_to_join(
    context: Context, tx: Transaction, message: InboxMessage, heard: HeardMessage
) -> Prompt | None:
    """Return the unsent prompt to which a message belongs: its own, or a prompt that is still held."""
    own = Prompts(tx).with_key(message.request) if message.request else None
    if own is not None and _may_be_remade(own):
        return own if _is_for_same_job(context, heard, own) else None
    if message.user in context.settings.allowed_bots:
        return None
    within = timedelta(seconds=context.timeouts.hold_seconds)
    for part in Inbox(tx).taken_beside(message, within):
        prompt = Prompts(tx).with_key(part.request) if part.request else None
        if prompt is None or not _takes_additions(context, prompt, message):
            continue
        if _is_for_same_job(context, heard, prompt):
            return prompt
    return None


def _may_be_remade(prompt: Prompt) -> bool:
    consequence = CONSEQUENCES[stage_of_prompt(prompt)][Event.DELETED]
    return consequence is Consequence.MAKE_ANEW


def _takes_additions(context: Context, prompt: Prompt, message: InboxMessage) -> bool:
    """Return whether a prompt has been held from the beginning: its author may add to it."""
    if prompt.held_until is None or prompt.attempts or prompt.is_awaiting_quota:
        return False
    latest = prompt.asked_at + timedelta(seconds=context.timeouts.hold_most_seconds)
    return stage_of_prompt(prompt) is Stage.WAITING and message.said_at <= latest


def _is_for_same_job(context: Context, heard: HeardMessage, prompt: Prompt) -> bool:
    if heard.job is not None and heard.job.number != prompt.job:
        return False
    if prompt.kind is PromptKind.START or heard.door is Door.REPLY:
        return True
    _, project = context.projects.take(heard.full_text)
    return project is None or project.id == prompt.project


def add_to(
    context: Context, tx: Transaction, message: InboxMessage, heard: HeardMessage, prompt: Prompt
) -> None:
    """Add a message to an unsent prompt, and make the prompt anew.

    Raises HasKey and UnknownProject.
    """
    key = RequestKey(prompt.key)
    text = heard.full_text
    if prompt.kind is PromptKind.FOLLOW_UP and heard.door is not Door.REPLY:
        text, _ = context.projects.take(text)
    leave_request(context, tx, message, joins=key)
    Inbox(tx).take(message, key, text.strip())
    remake(context, tx, prompt, Inbox(tx).messages_of(key))
    if message.request is None:
        show_taken(tx, message, context.clock())


def remake(
    context: Context, tx: Transaction, prompt: Prompt, messages: Sequence[InboxMessage]
) -> None:
    """Make a prompt anew from its messages. The same words change only the hold.

    While one of them is not decided, the prompt stays held as it is. Raises HasKey and
    UnknownProject.
    """
    if any(message.state is MessageState.NEW for message in messages):
        return
    now = context.clock()
    joined = join(context, prompt.kind, messages)
    content = joined.content
    if has_key(content.text) and not has_key(prompt.raw):
        raise HasKey(None)
    said_at = max(message.said_at for message in messages)
    until = hold_end(context, prompt.asked_at, said_at)
    moves_to = joined.project if joined.project and joined.project.id != prompt.project else None
    if content == Content(prompt.raw, prompt.files, prompt.omitted_parts) and moves_to is None:
        is_waiting = stage_of_prompt(prompt) is Stage.WAITING
        Prompts(tx).set_hold(prompt.id, until if is_waiting else None)
        return
    if moves_to is not None:
        job = Jobs(tx).get_or_raise(prompt.job)
        Jobs(tx).save(job, replace(job, project=moves_to.id, project_label=moves_to.label))
        Prompts(tx).move(prompt, moves_to.id)
    edited = lifecycle.edit_prompt(prompt, content, now, until)
    Prompts(tx).save(prompt, edited)


# ---- a message leaves its request


def leave_request(
    context: Context, tx: Transaction, message: InboxMessage, joins: RequestKey | None = None
) -> None:
    """Take a message out of its request, unless it ``joins`` the same one.

    An unsent prompt is made anew of its other messages, and is taken back without any. A question
    is taken back.
    """
    key = message.request
    if key is None or key == joins:
        return
    prompt = Prompts(tx).with_key(key)
    if prompt is None:
        take_back_question(tx, key)
    elif _may_be_remade(prompt):
        others = [each for each in Inbox(tx).messages_of(key) if each.id != message.id]
        if others:
            remake(context, tx, prompt, others)
        else:
            _take_back(context, tx, prompt, is_deleted=message.is_deleted)


def _take_back(context: Context, tx: Transaction, prompt: Prompt, *, is_deleted: bool) -> None:
    """Take back a prompt without messages. If it may have been sent, erase only its words."""
    now = context.clock()
    job = Jobs(tx).get_or_raise(prompt.job)
    if stage_of_prompt(prompt) is Stage.UNCONFIRMED:
        # A person decides; but its words are not sent again.
        Prompts(tx).save(prompt, lifecycle.edit_prompt(prompt, Content(""), now, None))
        remove_send_again_button(tx, job, prompt, now)
        return
    end = JobProblem.DELETED if is_deleted else JobProblem.EDITED
    take_back_prompt(tx, prompt, job, prompt.asked_by, now, end)
