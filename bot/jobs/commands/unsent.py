"""The buttons under answers to texts that were not sent, or that their author may take back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from bot.access.admit import Allowed, asking_slack
from bot.commands.command import Answer, FormState, Press
from bot.commands.meaning import Meaning
from bot.commands.own_words import Used
from bot.context import Context
from bot.ids import Block, MessageTs, RequestKey, UserId
from bot.intent.decision import Decision
from bot.intent.kinds import Kind, Place
from bot.intent.own_words import FoundWord
from bot.jobs.access import Readable, if_visible, may_steer, steerable
from bot.jobs.ask import ask, follow_up
from bot.jobs.commands.job_lists import projects_to_choose
from bot.jobs.commands.job_references import for_reader
from bot.jobs.conversation import OfferedThread, offer_thread
from bot.jobs.decisions import withdraw
from bot.jobs.interpret import Heard
from bot.jobs.job_words import run_job_word, takes_job_word
from bot.jobs.messages import forms, job_answers, unsent
from bot.jobs.messages.forms import draft_prompt
from bot.jobs.model.inbox import Door, HeardState
from bot.jobs.model.jobs import JobState, TakeThread, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptRequest, PromptState, Unsent
from bot.jobs.questions import DocsQuestion, ask_docs
from bot.jobs.store.inbox import Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread_events import send
from bot.messages import slack_text
from bot.messages.blocks import Action
from bot.ports import SlackError, ThreadRef, message_key
from bot.store import Transaction

_SENT = Answer(message=unsent.SENT, replaces=True)
"""Replaces the answer that nothing was sent."""
_FORM_LENGTH = 3_000


def at_message(press: Press, draft: Unsent) -> Allowed:
    """Return the press as a request of the message whose text ``draft`` is, if it stands here.

    An answer that reaches its reader by a direct message is pressed outside of its thread.
    """
    prefix = message_key(press.origin.channel)
    # A later request of the same message has a suffix.
    bare = draft.key.removeprefix(prefix).partition(":")[0]
    if not draft.key.startswith(prefix):
        return press.allowed.but(key=draft.key, thread=None, message_ts=None)
    return press.allowed.but(key=draft.key, thread=draft.thread, message_ts=MessageTs(bare))


def _on_text(
    do: Callable[[Context, Press, Unsent], Awaitable[Answer]],
) -> Callable[[Context, Press], Awaitable[Answer]]:
    """Return the handler of a button whose value is a text."""

    async def pressed(context: Context, press: Press) -> Answer:
        draft = Unsent.loads(press.value)
        if draft is None:
            return Answer(message=job_answers.no_such_job(press.value))
        return await do(context, press, draft)

    return pressed


# ---- send it


@_on_text
async def send_anyway(context: Context, press: Press, draft: Unsent) -> Answer:
    """Send a text to the agent although it was asked back. A second press sends nothing."""
    if draft.job is not None:
        return await _send_to_job(context, press, draft)
    allowed = at_message(press, draft)
    if allowed.origin.message_ts is None:
        return await _start_by_press(context, allowed, press, draft)
    text, project = context.projects.take(draft.raw)
    meaning = Meaning(Decision(Kind.CHANGE, text), text, project)
    heard = Heard(
        allowed.origin,
        Door.FIRST,
        Place.CHANNEL,
        meaning,
        allow_key=press.action_id == Action.SEND_WITH_KEY,
        is_sure=True,
    )
    await send(context, allowed, heard, None)
    return _SENT


async def _send_to_job(context: Context, press: Press, draft: Unsent) -> Answer:
    """Send a text as a follow-up of the job that the button names."""
    number = draft.job
    if number is None:
        raise LookupError("a button that names no job")
    allowed = at_message(press, draft)
    if press.action_id == Action.SEND_TO_JOB:
        # In the thread of another job the message is not to be seen, so its text is posted there.
        allowed = allowed.but(message_ts=None)
    job = await context.store.read(lambda tx: Jobs(tx).get(number))

    async def steer(target: Readable) -> Answer:
        request = PromptRequest(draft.raw, allow_duplicate=True, allow_key=True)
        moved = partial(_moved, draft.key, HeardState.TAKEN, allowed.user)
        result = await follow_up(context, target, request, moved)
        if not result.accepted:
            return Answer(message=job_answers.cannot_follow_up(target.job))
        return Answer(message=job_answers.TOO_LATE) if result.repeated else _SENT

    unknown = Answer(message=job_answers.no_such_job(press.value))
    return await for_reader(context, allowed, job, unknown, steer)


async def _start_by_press(
    context: Context, allowed: Allowed, press: Press, draft: Unsent
) -> Answer:
    """Start a job with a text that was typed, so that no message shows it."""
    text, project = context.projects.take(draft.raw)
    request = PromptRequest(
        text,
        allow_duplicate=True,
        allow_key=press.action_id == Action.SEND_WITH_KEY,
        project=project.id if project else None,
    )
    asked = await ask(context, allowed, request)
    return Answer(message=job_answers.started_before(asked.job)) if asked.repeated else _SENT


def _moved(key: RequestKey, state: HeardState, by: UserId, tx: Transaction) -> None:
    Inbox(tx).moved(key, key, state, by, Door.REPLY)


async def leave_it(_context: Context, _press: Press) -> Answer:
    """Send nothing."""
    return Answer(message=unsent.LEFT, replaces=True)


# ---- change the docs, by a form


@_on_text
async def change_it(context: Context, press: Press, draft: Unsent) -> Answer:
    """Open the form with a text."""
    return await _open_form(context, press, draft, lambda text: text)


@_on_text
async def draft_page(context: Context, press: Press, draft: Unsent) -> Answer:
    """Open the form with a prompt about a question."""
    return await _open_form(context, press, draft, draft_prompt)


async def _open_form(
    context: Context, press: Press, draft: Unsent, prompt_about: Callable[[str], str]
) -> Answer:
    allowed = at_message(press, draft)
    text, project = context.projects.take(draft.raw)
    plain = slack_text.to_plain(text, {}, {})
    form = forms.ask_form(
        channel=press.origin.channel or None,
        private=FormState.at(press.origin, thread=allowed.origin.thread_for_job).dumps(),
        text=prompt_about(plain),
        projects=await projects_to_choose(context, press.origin.channel, project),
    )
    return Answer(modal=form)


# ---- answer it


@_on_text
async def answer_it(context: Context, press: Press, draft: Unsent) -> Answer:
    """Answer a text from the docs."""
    return await _ask_docs(context, press, draft)


@_on_text
async def just_answer(context: Context, press: Press, draft: Unsent) -> Answer:
    """Answer a text that started a job, and take the job back unless the agent has it."""
    is_stopped = await _take_back(context, press, draft)
    answer = await _ask_docs(context, press, draft)
    if is_stopped or answer.message != unsent.READING:
        return answer
    target, _ = await _find_started(context, press, draft)
    if target is None or target.job.state is JobState.WITHDRAWN:
        return answer
    return replace(answer, message=unsent.READING_TOO)


async def _ask_docs(context: Context, press: Press, draft: Unsent) -> Answer:
    allowed = at_message(press, draft)
    also = partial(_moved, draft.key, HeardState.ASKED, allowed.user)
    message = await ask_docs(context, allowed, DocsQuestion(replace(draft, job=None)), also)
    return Answer(message=message or unsent.READING, replaces=True)


# ---- take it back


@_on_text
async def dont(context: Context, press: Press, draft: Unsent) -> Answer:
    """Take back the job that a text has started, unless the agent has it."""
    if await _take_back(context, press, draft):
        return Answer(message=unsent.NOT_STARTED, replaces=True)
    target, prompt = await _find_started(context, press, draft)
    if target is None or prompt is None:
        return Answer(message=job_answers.TOO_LATE, replaces=True)
    may_decide = may_steer(context, target, prompt)
    return Answer(message=unsent.cannot_stop(target.job, may_steer=may_decide), replaces=True)


async def _take_back(context: Context, press: Press, draft: Unsent) -> bool:
    target, prompt = await _find_started(context, press, draft)
    if target is None or prompt is None:
        return False
    return await withdraw(context, steerable(context, target, prompt))


async def _find_started(
    context: Context, press: Press, draft: Unsent
) -> tuple[Readable | None, Prompt | None]:
    """Return the job that a text has started, and its prompt."""

    def find(tx: Transaction) -> tuple[TrackedJob | None, Prompt | None]:
        prompt = Prompts(tx).with_key(draft.key)
        return (Jobs(tx).get(prompt.job) if prompt else None), prompt

    job, prompt = await context.store.read(find)
    return await if_visible(context, at_message(press, draft), job), prompt


# ---- a word that was almost typed


async def run_word(context: Context, press: Press) -> Answer:
    """Run one of the bot's own words, which the button names with its command."""
    command, _, typed = press.value.partition("|")
    if not typed.strip():
        return Answer(message=job_answers.TOO_LATE)
    word = FoundWord(typed.split()[0], typed, (command,) if command else ())
    if takes_job_word(word):
        message = await run_job_word(context, press.allowed, word, None)
        return Answer(message=message, replaces=message is not None)
    used = Used(word, typed, command=command)
    for hooks in context.hooks:
        if hooks.run_word is not None:
            answer = await hooks.run_word(context, press.allowed, used)
            return replace(answer, replaces=answer.message is not None)
    return Answer(message=job_answers.TOO_LATE)


# ---- a thread of people


@_on_text
async def write_thread(context: Context, press: Press, draft: Unsent) -> Answer:
    """Start a job with a thread. In a private channel the form shows what goes along."""
    allowed = at_message(press, draft)
    if draft.thread is None:
        return Answer(message=unsent.NO_MESSAGES, replaces=True)
    if await _is_public(context, allowed):
        request = PromptRequest(draft.raw, take_thread=TakeThread.IF_PUBLIC, is_sure=True)
        moved = partial(_moved, draft.key, HeardState.TAKEN, allowed.user)
        asked = await ask(context, allowed, request, moved)
        if asked.same:
            return Answer(message=job_answers.same_job(asked.job), replaces=True)
        return _SENT
    offer = await _offer(context, press, draft.thread, allowed.origin.message_ts)
    form = forms.ask_form(
        channel=press.origin.channel,
        private=FormState.at(press.origin, thread=draft.thread).dumps(),
        text=draft.raw,
        projects=await projects_to_choose(context, press.origin.channel),
        earlier=_earlier_blocks(offer),
    )
    return Answer(modal=form)


async def _is_public(context: Context, allowed: Allowed) -> bool:
    try:
        async with asking_slack():
            return await context.messenger.is_public(allowed.origin.channel)
    except (SlackError, TimeoutError):
        return False


@_on_text
async def answer_thread(context: Context, press: Press, draft: Unsent) -> Answer:
    """Answer what was said last in a thread, from the docs."""
    if draft.thread is None:
        return Answer(message=unsent.NO_MESSAGES, replaces=True)
    offer = await _offer(context, press, draft.thread, at_message(press, draft).origin.message_ts)
    last = offer.messages.splitlines()[-1:]
    _, _, text = last[0].partition(": ") if last else ("", "", "")
    if not text.strip():
        return Answer(message=unsent.NO_MESSAGES, replaces=True)
    asked = replace(draft, raw=slack_text.from_plain(text)[: Unsent.LONGEST])
    return await _ask_docs(context, press, asked)


async def _offer(
    context: Context, press: Press, thread: MessageTs, without: MessageTs | None
) -> OfferedThread:
    return await offer_thread(context, ThreadRef(press.origin.channel, thread), without)


def _earlier_blocks(offer: OfferedThread) -> tuple[Block, ...]:
    return forms.earlier_blocks(
        offer.messages, offer.left_out, is_chosen=True, is_read=offer.is_read
    )


async def choose_messages(context: Context, press: Press, target: Readable) -> Answer:
    """Open a form with the earlier messages of a private channel's thread.

    A request that waits is taken back, and the form has its text. Once it is sent, the messages go as a
    follow-up.
    """
    job = target.job
    prompt = await context.store.read(lambda tx: Prompts(tx).starting(job.number))
    if prompt is None or job.thread is None:
        return Answer(message=job_answers.TOO_LATE)
    offer = await offer_thread(context, job.thread, prompt.message_ts)
    earlier = _earlier_blocks(offer)
    is_waiting = prompt.state in (PromptState.NEW, PromptState.WAITING)
    if is_waiting and await withdraw(context, steerable(context, target, prompt)):
        form = forms.ask_form(
            channel=job.channel,
            private=FormState.at(press.origin, thread=job.thread_ts).dumps(),
            text=slack_text.to_plain(prompt.raw, {}, {})[:_FORM_LENGTH],
            projects=await projects_to_choose(
                context, job.channel, context.projects.with_id(job.project)
            ),
            earlier=earlier,
        )
        return Answer(modal=form)
    private = FormState.at(press.origin, job.number).dumps()
    form = forms.follow_up_form(
        [job], private=private, is_chosen=True, text=unsent.MESSAGES_GO_ALONG, earlier=earlier
    )
    return Answer(modal=form)
