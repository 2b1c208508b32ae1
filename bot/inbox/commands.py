"""The buttons that act on a message: send its words anyway, answer it, write it, or take it now."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from bot.access.admit import Allowed, asking_slack, reads_channel
from bot.answers.ask import ask_docs
from bot.answers.gaps import find_inquiry
from bot.answers.messages import NOT_HERE, READING, READING_TOO
from bot.commands.command import Answer, Press, PressRun, number_in
from bot.context import Context
from bot.ids import ChannelId, MessageTs, RequestKey
from bot.inbox import messages as say
from bot.inbox.model import InboxMessage
from bot.inbox.receive import receive
from bot.inbox.requests import moving
from bot.inbox.send import Outgoing, send
from bot.inbox.store import Inbox
from bot.jobs.access import Readable, if_visible, steerable
from bot.jobs.ask import ask, follow_up
from bot.jobs.commands.job_references import for_reader
from bot.jobs.decisions import withdraw
from bot.jobs.messages import intents, job_answers
from bot.jobs.model.intents import Door
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import Prompt, PromptRequest, PromptState, Unsent
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.messages.blocks import Action
from bot.messages.slack_text import from_plain
from bot.ports import Mention, SlackError, message_key
from bot.projects import with_project
from bot.store import Transaction

_MESSAGE_KEY = re.compile(r"message:([A-Z0-9]+):([0-9]+\.[0-9]+)(?::.*)?")
_SENT = Answer(message=intents.SENT, replaces=True)
"""Replaces the answer that nothing was started."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A press as a request of the message whose text its button has."""

    allowed: Allowed
    message: InboxMessage | None = None
    """The message, if the inbox knows it."""

    @property
    def is_message(self) -> bool:
        """Whether the text was said in a message; otherwise it was typed."""
        return self.allowed.origin.message_ts is not None


async def _find_place(context: Context, press: Press, draft: Unsent) -> _Place | None:
    """Return the place of the text of a button; None if its reader cannot read the channel any more.

    A private answer may have come as a direct message, while its message stands elsewhere.
    """
    match = _MESSAGE_KEY.fullmatch(draft.key)
    if match is None:
        return _Place(press.allowed.but(key=draft.key, thread=draft.thread, message_ts=None))
    channel, ts = ChannelId(match[1]), MessageTs(match[2])
    if channel != press.origin.channel and not await reads_channel(
        context, press.origin.user, channel
    ):
        return None
    message = await context.store.read(lambda tx: Inbox(tx).at(channel, ts))
    allowed = press.allowed.but(key=draft.key, channel=channel, thread=draft.thread, message_ts=ts)
    return _Place(allowed, message)


def _has_changed(place: _Place, draft: Unsent) -> bool:
    """Return whether a message was edited since its text was put into a button."""
    message = place.message
    if message is None or draft.key == message.request:
        return False
    return draft.key != message.request_key


async def send_anyway(context: Context, press: Press) -> Answer:
    """Send a question, or a prompt with a key in it, to the agent. A second press sends nothing."""
    draft = Unsent.loads(press.value)
    if draft is None:
        return Answer(message=job_answers.no_such_job(press.value))
    place = await _find_place(context, press, draft)
    if place is None:
        return Answer(message=job_answers.CHANNEL_NOT_READ)
    if _has_changed(place, draft):
        return Answer(message=say.HAS_CHANGED)
    if draft.job is not None:
        return await _steer(context, press, draft, place)
    allow_key = press.action_id == Action.SEND_WITH_KEY
    if not place.is_message:
        return await _send_typed(context, place.allowed, draft, allow_key=allow_key)
    await _send_said(context, place, draft.raw, allow_key=allow_key)
    return _SENT


async def _steer(context: Context, press: Press, draft: Unsent, place: _Place) -> Answer:
    """Send the text of a button to a job."""
    number = draft.job
    allowed = place.allowed
    if press.action_id == Action.SEND_TO_JOB:
        # In the thread of another job the message is not to be seen, so its text is posted there.
        allowed = allowed.but(message_ts=None)
    job = await context.store.read(lambda tx: Jobs(tx).get(number) if number else None)
    unknown = Answer(message=job_answers.no_such_job(press.value))

    async def steer(target: Readable) -> Answer:
        request = PromptRequest(draft.raw, allow_duplicate=True, allow_key=True)
        moved = moving(draft.key, allowed.user, _parts(place), draft.raw)
        result = await follow_up(context, target, request, moved)
        if not result.accepted:
            return Answer(message=job_answers.cannot_follow_up(target.job))
        return Answer(message=job_answers.TOO_LATE) if result.repeated else _SENT

    return await for_reader(context, allowed, job, unknown, steer)


async def _send_typed(
    context: Context, allowed: Allowed, draft: Unsent, *, allow_key: bool
) -> Answer:
    text, project = context.projects.take(draft.raw)
    request = PromptRequest(
        text,
        allow_duplicate=True,
        allow_key=allow_key,
        project=project.id if project else None,
    )
    asked = await ask(context, allowed, request)
    return Answer(message=job_answers.started_before(asked.job)) if asked.repeated else _SENT


async def _send_said(
    context: Context, place: _Place, text: str, *, allow_key: bool = False
) -> None:
    """Start a job with the text of a message, at once."""
    outgoing = Outgoing(
        text, Door.FIRST, _parts(place), allow_key=allow_key, is_sure=True, is_moved=True
    )
    await send(context, context, place.allowed, outgoing)


def _parts(place: _Place) -> tuple[InboxMessage, ...]:
    return (place.message,) if place.message else ()


async def write_instead(context: Context, press: Press) -> Answer:
    """Start a job with the text of a question, which was an instruction. The answer stays."""
    number = number_in(press.value)
    inquiry = await context.store.read(lambda tx: find_inquiry(context, tx, press.allowed, number))
    if inquiry is None:
        return Answer(message=NOT_HERE)
    text = with_project(context.projects.shown(inquiry.project), from_plain(inquiry.text))
    is_first = inquiry.key.startswith(f"{message_key(inquiry.channel)}{inquiry.thread_ts}")
    # With a key of its own: a job that "Just answer it" has withdrawn had that of the message.
    key = RequestKey(f"{inquiry.key}:write")
    draft = Unsent(key, None if is_first else inquiry.thread_ts, text)
    place = await _find_place(context, press, draft)
    if place is None:
        return Answer(message=NOT_HERE)
    if place.message is not None and place.message.request != inquiry.key:
        place = replace(place, message=None)  # its author has edited it since
    if place.is_message:
        await _send_said(context, place, text)
        return Answer()
    answer = await _send_typed(context, place.allowed, draft, allow_key=False)
    return Answer() if answer.replaces else answer


async def just_answer(context: Context, press: Press) -> Answer:
    """Answer a question that started a job, and withdraw the job unless the agent has it."""
    draft = Unsent.loads(press.value)
    place = await _find_place(context, press, draft) if draft else None
    if draft is None or place is None:
        return Answer(message=NOT_HERE)

    def find(tx: Transaction) -> tuple[Prompt | None, TrackedJob | None]:
        prompt = Prompts(tx).with_key(draft.key)
        return prompt, Jobs(tx).get(prompt.job) if prompt else None

    prompt, job = await context.store.read(find)
    target = await if_visible(context, place.allowed, job)
    is_stopped = prompt is None or prompt.state in (PromptState.WITHDRAWN, PromptState.REFUSED)
    if target and prompt and not is_stopped:
        is_stopped = await withdraw(context, steerable(context, target, prompt))
    # With a key of its own: the job had that of the message.
    key = RequestKey(f"{draft.key}:answer")
    allowed = place.allowed.but(key=key)
    moved = moving(key, allowed.user, _parts(place), None)
    question = Unsent(key, draft.thread, draft.raw)
    message = await ask_docs(context, allowed, question, moved) or READING
    runs = message == READING and not is_stopped
    return Answer(message=READING_TOO if runs else message, replaces=True)


async def take_missed(context: Context, press: Press) -> Answer:
    """Hear a mention from before the bot was in the channel, as its author has asked."""
    ts = MessageTs(press.value)
    try:
        async with asking_slack():
            found = await context.messenger.find_message(press.origin.channel, ts, thread=None)
    except (SlackError, TimeoutError):
        return Answer(message=say.SLACK_IS_SILENT)
    if found is None or found.origin.user != press.origin.user:
        return Answer(message=say.MISSED_IS_GONE)
    mention = Mention(found.origin, found.text or "", found.files, found.version)
    await receive(context, mention)
    return Answer(message=say.MISSED_TAKEN, replaces=True)


BUTTONS: dict[str, PressRun] = {
    Action.SEND_ANYWAY: send_anyway,
    Action.SEND_WITH_KEY: send_anyway,
    Action.SEND_TO_JOB: send_anyway,
    Action.WRITE_INSTEAD: write_instead,
    Action.JUST_ANSWER: just_answer,
    Action.TAKE_MISSED: take_missed,
}
