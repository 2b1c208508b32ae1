"""The buttons that act on a message: send it anyway, answer it, take it back, or hear it now."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from bot.access.admit import Allowed, limit_slack_time, reads_channel
from bot.answers.gaps import find_inquiry
from bot.answers.messages import QUESTION_GONE
from bot.commands.command import Answer, FormState, Press, PressRun, number_in
from bot.commands.meaning import Meaning
from bot.context import Context
from bot.ids import ChannelId, MessageTs, RequestKey
from bot.inbox import messages as say
from bot.inbox.model import Door, InboxMessage
from bot.inbox.receive import receive
from bot.inbox.requests import make_messages_writer
from bot.inbox.send import Outgoing, send
from bot.inbox.store import Inbox
from bot.intent.decision import Decision
from bot.intent.kinds import Kind
from bot.jobs.access import Readable, find_visible, may_steer, steerable
from bot.jobs.ask import ask, follow_up, is_public_channel
from bot.jobs.commands.channel_choices import projects_to_choose
from bot.jobs.commands.job_references import for_reader
from bot.jobs.commands.unsent import at_message, earlier_blocks, offer_messages, on_text
from bot.jobs.job_acts import withdraw
from bot.jobs.messages import forms, job_answers, unsent
from bot.jobs.model.jobs import AttachThread, JobState, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptRequest, PromptState, UnsentText
from bot.jobs.model.questions import DocsQuestion
from bot.jobs.questions import ask_docs
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.messages.blocks import Action
from bot.messages.slack_text import from_plain, to_plain
from bot.ports import Mention, SlackError
from bot.projects import with_project
from bot.store import Transaction

_MESSAGE_KEY_PATTERN = re.compile(r"message:([A-Z0-9]+):([0-9]+\.[0-9]+)(?::.*)?")
_SENT = Answer(message=unsent.SENT, replaces=True)
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


async def _find_place(context: Context, press: Press, draft: UnsentText) -> _Place | None:
    """Return the place of a button's text; None if its reader cannot read the channel any more.

    A private answer may have come as a direct message, while its message stands elsewhere.
    """
    match = _MESSAGE_KEY_PATTERN.fullmatch(draft.key)
    if match is None:
        return _Place(
            press.allowed.with_request(key=draft.key, thread=draft.thread, message_ts=None)
        )
    channel = ChannelId(match[1])
    ts = MessageTs(match[2])
    if channel != press.origin.channel and not await reads_channel(
        context, press.origin.user, channel
    ):
        return None
    message = await context.store.read(lambda tx: Inbox(tx).at(channel, ts))
    allowed = press.allowed.with_request(
        key=draft.key, channel=channel, thread=draft.thread, message_ts=ts
    )
    return _Place(allowed, message)


def _has_changed(place: _Place, draft: UnsentText) -> bool:
    """Return whether a message was edited since its text was put into a button."""
    message = place.message
    if message is None or draft.key == message.request:
        return False
    return draft.key != message.request_key


async def send_anyway(context: Context, press: Press) -> Answer:
    """Send a question, or a prompt with a key in it, to the agent. A second press sends nothing."""
    draft = UnsentText.loads(press.value)
    if draft is None:
        return Answer(message=job_answers.no_such_job(press.value))
    place = await _find_place(context, press, draft)
    if place is None:
        return Answer(message=job_answers.CHANNEL_NOT_READ)
    if _has_changed(place, draft):
        return Answer(message=say.MESSAGE_CHANGED)
    if draft.job is not None:
        return await _steer(context, press, draft, place)
    allow_key = press.action_id == Action.SEND_WITH_KEY
    if not place.is_message:
        return await _send_typed(context, place.allowed, draft, allow_key=allow_key)
    await _send_said(context, place, draft.raw, allow_key=allow_key)
    return _SENT


async def _steer(context: Context, press: Press, draft: UnsentText, place: _Place) -> Answer:
    """Send the text of a button to a job."""
    number = draft.job
    allowed = place.allowed
    if press.action_id == Action.SEND_TO_JOB:
        # In the thread of another job the message is not to be seen, so its text is posted there.
        allowed = allowed.with_request(message_ts=None)

    def find_target(tx: Transaction) -> TrackedJob | None:
        return Jobs(tx).get(number) if number else None

    job = await context.store.read(find_target)
    unknown = Answer(message=job_answers.no_such_job(press.value))

    async def steer(target: Readable) -> Answer:
        request = PromptRequest(draft.raw, allow_duplicate=True, allow_key=True)
        moved = make_messages_writer(draft.key, allowed.user, _list_messages(place), draft.raw)
        result = await follow_up(context, target, request, moved)
        if not result.accepted:
            return Answer(message=job_answers.cannot_follow_up(target.job))
        return Answer(message=job_answers.DECIDED_BEFORE) if result.repeated else _SENT

    return await for_reader(context, allowed, job, unknown, steer)


async def _send_typed(
    context: Context, allowed: Allowed, draft: UnsentText, *, allow_key: bool
) -> Answer:
    """Start a job with a text that was typed, so that no message shows it."""
    text, project = context.projects.take(draft.raw)
    request = PromptRequest(
        text,
        allow_duplicate=True,
        allow_key=allow_key,
        project=project.id if project else None,
    )
    asked = await ask(context, allowed, request)
    return Answer(message=job_answers.started_before(asked.job)) if asked.repeated else _SENT


async def _send_said(context: Context, place: _Place, raw: str, *, allow_key: bool) -> None:
    """Start a job with the text of a message, at once."""
    text, project = context.projects.take(raw)
    outgoing = Outgoing(
        Meaning(Decision(Kind.CHANGE, text), text, project),
        Door.FIRST,
        _list_messages(place),
        allow_key=allow_key,
        is_sure=True,
        is_moved=True,
    )
    await send(context, context, place.allowed, outgoing)


def _list_messages(place: _Place) -> tuple[InboxMessage, ...]:
    return (place.message,) if place.message else ()


# ---- answer it


@on_text
async def answer_it(context: Context, press: Press, draft: UnsentText) -> Answer:
    """Answer a text from the docs."""
    return await _ask_docs(context, press, draft)


@on_text
async def just_answer(context: Context, press: Press, draft: UnsentText) -> Answer:
    """Answer a text that started a job, and take the job back unless the agent has it."""
    is_stopped = await _take_back(context, press, draft)
    # With a key of its own, since the job has the message's key.
    question = replace(draft, key=RequestKey(f"{draft.key}:answer"))
    answer = await _ask_docs(context, press, question)
    if is_stopped or answer.message != unsent.READING_DOCS:
        return answer
    target, _ = await _find_started(context, press, draft)
    if target is None or target.job.state is JobState.WITHDRAWN:
        return answer
    return replace(answer, message=unsent.ALSO_READING_DOCS)


async def answer_topic(context: Context, press: Press) -> Answer:
    """Answer a text that was taken as a topic. The pages stay."""
    number = number_in(press.value)
    inquiry = await context.store.read(lambda tx: find_inquiry(tx, press.allowed, number))
    if inquiry is None:
        return Answer(message=QUESTION_GONE)
    text = with_project(context.projects.shown(inquiry.project), from_plain(inquiry.text))
    draft = UnsentText(RequestKey(f"{inquiry.key}:answer"), inquiry.thread_ts, text)
    place = await _find_place(context, press, draft)
    if place is None:
        return Answer(message=QUESTION_GONE)
    return Answer(message=await ask_docs(context, place.allowed, DocsQuestion(draft)))


async def _ask_docs(context: Context, press: Press, draft: UnsentText) -> Answer:
    place = await _find_place(context, press, draft)
    if place is None:
        return Answer(message=job_answers.CHANNEL_NOT_READ)
    moved = make_messages_writer(draft.key, place.allowed.user, _list_messages(place), None)
    question = DocsQuestion(replace(draft, job=None))
    message = await ask_docs(context, place.allowed, question, moved)
    return Answer(message=message or unsent.READING_DOCS, replaces=True)


# ---- take it back


@on_text
async def dont(context: Context, press: Press, draft: UnsentText) -> Answer:
    """Take back the job that a text has started, unless the agent has it."""
    if await _take_back(context, press, draft):
        return Answer(message=unsent.NOT_STARTED, replaces=True)
    target, prompt = await _find_started(context, press, draft)
    if target is None or prompt is None:
        return Answer(message=job_answers.DECIDED_BEFORE, replaces=True)
    may_decide = may_steer(context, target, prompt)
    return Answer(message=unsent.cannot_stop(target.job, may_steer=may_decide), replaces=True)


async def _take_back(context: Context, press: Press, draft: UnsentText) -> bool:
    """Take back the job that a text has started.

    Return False if the agent has it, or may have it.
    """
    target, prompt = await _find_started(context, press, draft)
    if target is None or prompt is None:
        return False
    if prompt.state in (PromptState.WITHDRAWN, PromptState.REFUSED):
        return True
    return await withdraw(context, steerable(context, target, prompt))


async def _find_started(
    context: Context, press: Press, draft: UnsentText
) -> tuple[Readable | None, Prompt | None]:
    """Return the job that a text has started, and its prompt."""

    def find(tx: Transaction) -> tuple[TrackedJob | None, Prompt | None]:
        prompt = Prompts(tx).with_key(draft.key)
        return (Jobs(tx).get(prompt.job) if prompt else None), prompt

    job, prompt = await context.store.read(find)
    place = await _find_place(context, press, draft)
    if place is None:
        return None, None
    return await find_visible(context, place.allowed, job), prompt


# ---- threads of people, without a job


@on_text
async def write_thread(context: Context, press: Press, draft: UnsentText) -> Answer:
    """Start a job with a thread. In a private channel a form shows the thread's messages first."""
    place = await _find_place(context, press, draft)
    if draft.thread is None or place is None:
        return Answer(message=unsent.NO_MESSAGES, replaces=True)
    allowed = place.allowed
    if await is_public_channel(context, allowed.origin.channel):
        request = PromptRequest(draft.raw, attach_thread=AttachThread.IF_PUBLIC, is_sure=True)
        moved = make_messages_writer(draft.key, allowed.user, _list_messages(place), draft.raw)
        asked = await ask(context, allowed, request, moved)
        if asked.same:
            return Answer(message=job_answers.same_job(asked.job), replaces=True)
        return _SENT
    offer = await offer_messages(context, press, draft.thread, allowed.origin.message_ts)
    text, project = context.projects.take(draft.raw)
    form = forms.ask_form(
        channel=press.origin.channel,
        private=FormState.at(press.origin, thread=draft.thread).dumps(),
        text=to_plain(text, {}, {}),
        projects=await projects_to_choose(context, press.origin.channel, project),
        earlier=earlier_blocks(offer),
    )
    return Answer(modal=form)


@on_text
async def answer_thread(context: Context, press: Press, draft: UnsentText) -> Answer:
    """Answer the last message of a thread from the docs."""
    if draft.thread is None:
        return Answer(message=unsent.NO_MESSAGES, replaces=True)
    ts = at_message(press, draft).origin.message_ts
    offer = await offer_messages(context, press, draft.thread, ts)
    last = offer.messages.splitlines()[-1:]
    _, _, text = last[0].partition(": ") if last else ("", "", "")
    if not text.strip():
        return Answer(message=unsent.NO_MESSAGES, replaces=True)
    asked = replace(draft, raw=from_plain(text)[: UnsentText.LONGEST])
    return await _ask_docs(context, press, asked)


# ---- a mention from before the bot was in the channel


async def take_missed(context: Context, press: Press) -> Answer:
    """Hear a mention from before the bot was in the channel, as its author has asked."""
    ts = MessageTs(press.value)
    try:
        async with limit_slack_time():
            found = await context.messenger.find_message(press.origin.channel, ts, thread=None)
    except (SlackError, TimeoutError):
        return Answer(message=say.SLACK_NOT_ANSWERING)
    if found is None or found.content is None or found.origin.user != press.origin.user:
        return Answer(message=say.MISSED_MENTION_GONE)
    mention = Mention(found.origin, found.content, version=found.version)
    await receive(context, [mention])
    return Answer(message=say.MISSED_MENTION_TAKEN, replaces=True)


BUTTONS: dict[str, PressRun] = {
    Action.SEND_ANYWAY: send_anyway,
    Action.SEND_WITH_KEY: send_anyway,
    Action.SEND_TO_JOB: send_anyway,
    Action.ANSWER_IT: answer_it,
    Action.JUST_ANSWER: just_answer,
    Action.ANSWER_TOPIC: answer_topic,
    Action.DONT: dont,
    Action.WRITE_THREAD: write_thread,
    Action.ANSWER_THREAD: answer_thread,
    Action.TAKE_MISSED: take_missed,
}
"""The handlers of these buttons, which ``/docs-agent`` gets."""
