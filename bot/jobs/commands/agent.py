"""``/docs-agent``: ask for a change, list jobs, show the status of one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from bot.access.admit import Allowed
from bot.commands.command import (
    Answer,
    Command,
    FormErrors,
    FormState,
    Invocation,
    Press,
    PressRun,
    ShortcutUse,
    Submission,
    Word,
    number_in,
)
from bot.commands.meaning import find_meaning
from bot.context import Context
from bot.ids import Block, ChannelId, JobNumber, PromptId
from bot.intent.kinds import KINDS_THAT_START_JOBS, Place
from bot.intent.vocabulary import ButtonLabel
from bot.jobs.access import Manageable, Readable, find_visible, steerable
from bot.jobs.ask import ask
from bot.jobs.commands import channel_choices, job_lists, unsent
from bot.jobs.commands.channel_choices import projects_to_choose
from bot.jobs.commands.job_lists import see_page, status_of, turn_page
from bot.jobs.commands.job_references import for_manager, for_reader
from bot.jobs.commands.limits import LIMITS
from bot.jobs.commands.sending import SENDING
from bot.jobs.gates import ask_first, note_start
from bot.jobs.job_acts import (
    dismiss,
    follow_up_anyway,
    run_again,
    send_again,
    stop_watching,
    to_withdraw,
    withdraw,
)
from bot.jobs.job_words import answer_unreadable
from bot.jobs.messages import forms, status_message
from bot.jobs.messages import job_answers as say
from bot.jobs.messages import unsent as unsent_messages
from bot.jobs.messages.forms import NOT_SERVED
from bot.jobs.model.jobs import AttachThread, GapRef, Review, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptRequest, PromptState
from bot.jobs.reviews import review
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread_context import offer_thread
from bot.jobs.unsent_texts import answer_unless_request, respond
from bot.messages import slack_text
from bot.messages.blocks import Action
from bot.messages.general import EXAMPLE
from bot.messages.help import about_replies
from bot.outbox.private_answers import answer_in_private
from bot.ports import Origin, ThreadRef
from bot.projects import Project, UnknownProject, with_project
from bot.store import Transaction

NAME = "/docs-agent"
_MAX_FORM_CHARACTERS = 3000
AnyTarget = TypeVar("AnyTarget", bound=Manageable)
"""A job on which a button acts: readable, or an admin's to decide about."""
AccessCheck = Callable[
    [Context, Press, TrackedJob | None, Callable[[AnyTarget], Awaitable[Answer]]],
    Awaitable[Answer],
]
"""Acts on a job for a person who may; others get an answer that says so."""


async def _open_form(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    return await _make_ask_form(context, invocation.origin, project=invocation.project)


async def _ask(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    """Start a job with a text, or answer a text that asks for no change."""
    allowed = invocation.allowed
    meaning = find_meaning(
        context, invocation.full_text, Place.COMMAND, author=allowed.user, command=NAME
    )
    if meaning.kind not in KINDS_THAT_START_JOBS:
        message = await respond(context, allowed, meaning, Place.COMMAND, command=NAME)
        return Answer(message=message)
    project = meaning.project.id if meaning.project else None
    request = PromptRequest(meaning.text, project=project)
    question = await ask_first(context, allowed, request, meaning.full_text)
    if question is not None:
        return Answer(message=question)
    asked = await ask(context, allowed, request)
    if asked.same:
        return Answer(message=say.same_job(asked.job))
    if asked.repeated:
        return Answer()
    return Answer(message=await note_start(context, allowed, meaning, asked.job, is_held=False))


async def _submit(context: Context, submission: Submission) -> FormErrors | None:
    """Start a job with the text of the form."""
    fields = submission.fields
    text = fields.get("prompt") or ""
    channel = ChannelId(fields.get("channel") or submission.claimed.origin.channel)
    if slack_text.is_blank(text):
        return FormErrors({"prompt": say.EMPTY_FORM})
    if not channel:
        return FormErrors({"channel": say.NO_CHANNEL_CHOSEN})
    try:
        name = fields.get("project")
        project = context.projects.named(name) if name else None
    except UnknownProject:
        return FormErrors({"project": NOT_SERVED})
    allowed = await submission.claimed.prove(context, channel)
    if allowed is None:
        return FormErrors({"channel": say.CHANNEL_NOT_YOURS})
    attach_thread, given = _read_thread_field(fields)
    request = PromptRequest(
        slack_text.from_plain(text),
        attach_thread=attach_thread,
        given=given,
        project=project.id if project else None,
        gap=GapRef(*submission.form.gap) if submission.form.gap else None,
    )
    has_more = given is not None or request.gap is not None
    if not has_more and await _answer_if_no_request(context, allowed, request, project):
        return None
    asked = await ask(context, allowed, request)
    return FormErrors({"prompt": say.REPEATED_REQUEST}) if asked.same else None


def _read_thread_field(fields: Mapping[str, str | None]) -> tuple[AttachThread | None, str | None]:
    """Return the messages of the thread that a person lets go along, and how they were offered."""
    for name, attach_thread in (("earlier", AttachThread.GIVEN), ("answer", AttachThread.ANSWER)):
        given = fields.get(name)
        if given and fields.get(f"take_{name}"):
            return attach_thread, given
    return None, None


async def _answer_if_no_request(
    context: Context, allowed: Allowed, request: PromptRequest, project: Project | None
) -> bool:
    """Answer the text of a form in its channel if it is no request, or asks for a page in work."""
    full_text = with_project(project, request.raw)
    answer = await answer_unless_request(context, allowed, request.raw, Place.COMMAND)
    answer = answer or await ask_first(context, allowed, request, full_text)
    if answer is None:
        return False
    await answer_in_private(context, allowed.origin, "unsent", answer)
    return True


async def _ask_about(context: Context, used: ShortcutUse) -> Answer:
    """Open the form with a message and the other messages of its thread.

    The message of somebody else is quoted.
    """
    content = used.content
    text = slack_text.to_plain(content.text, {}, {})
    if not used.is_own and not slack_text.is_blank(text):
        text = forms.prompt_about(text)
    left_out = [*(file.name for file in content.files), *content.omitted_parts]
    if len(text) > _MAX_FORM_CHARACTERS:
        text = text[:_MAX_FORM_CHARACTERS]
        left_out.append("the end of the text")
    begun = used.origin.thread_for_job
    if begun is None or context.settings.context == "none":
        return await _make_ask_form(context, used.origin, text, left_out=left_out)

    thread = ThreadRef(used.origin.channel, begun)
    offer = await offer_thread(context, thread, used.origin.message_ts)
    # A message outside of a thread has no earlier messages.
    is_read = offer.is_read or used.origin.thread is None
    earlier = forms.earlier_blocks(
        offer.messages, offer.left_out, is_chosen=offer.is_chosen, is_read=is_read
    )
    return await _make_ask_form(context, used.origin, text, earlier, left_out=left_out)


async def _make_ask_form(
    context: Context,
    origin: Origin,
    text: str = "",
    earlier: Sequence[Block] = (),
    *,
    project: Project | None = None,
    left_out: Sequence[str] = (),
) -> Answer:
    form = forms.ask_form(
        channel=origin.channel or None,
        private=FormState.at(origin, thread=origin.thread_for_job).dumps(),
        text=text,
        projects=await projects_to_choose(context, origin.channel, project),
        earlier=earlier,
        left_out=left_out,
    )
    return Answer(modal=form)


def _answer_unknown(press: Press) -> Answer:
    return Answer(message=say.no_such_job(press.value))


def on_job(do: Callable[[Context, Press, Readable], Awaitable[Answer]]) -> PressRun:
    """Return the handler of a button about a visible job."""
    return _at_job(_show, do)


def _decides_about_job(do: Callable[[Context, Press, Manageable], Awaitable[Answer]]) -> PressRun:
    """Return the handler of a button that decides about a prompt of a job."""
    return _at_job(_decide, do)


def _on_prompt(do: Callable[[Context, Press, Readable, Prompt], Awaitable[Answer]]) -> PressRun:
    """Return the handler of a button about a visible job's prompt."""
    return _at_prompt(_show, do)


def _decides_about_prompt(
    do: Callable[[Context, Press, Manageable, Prompt], Awaitable[Answer]],
) -> PressRun:
    """Return the handler of a button that decides about its prompt."""
    return _at_prompt(_decide, do)


def _at_job(
    check: AccessCheck[AnyTarget], do: Callable[[Context, Press, AnyTarget], Awaitable[Answer]]
) -> PressRun:
    """Return the handler of a button with the number of a job."""

    async def pressed(context: Context, press: Press) -> Answer:
        number = JobNumber(number_in(press.value))
        job = await context.store.read(lambda tx: Jobs(tx).get(number))
        return await check(context, press, job, partial(do, context, press))

    return pressed


def _at_prompt(
    check: AccessCheck[AnyTarget],
    do: Callable[[Context, Press, AnyTarget, Prompt], Awaitable[Answer]],
) -> PressRun:
    """Return the handler of a button with the number of a prompt."""

    async def pressed(context: Context, press: Press) -> Answer:
        number = PromptId(number_in(press.value))

        def find(tx: Transaction) -> tuple[Prompt | None, TrackedJob | None]:
            prompt = Prompts(tx).get(number)
            return prompt, Jobs(tx).get(prompt.job) if prompt else None

        prompt, job = await context.store.read(find)
        if prompt is None:
            return _answer_unknown(press)

        async def do_for(target: AnyTarget) -> Answer:
            if not prompt.asked_by:
                return Answer(message=say.forgotten(target.job))
            return await do(context, press, target, prompt)

        return await check(context, press, job, do_for)

    return pressed


async def _show(
    context: Context,
    press: Press,
    job: TrackedJob | None,
    do: Callable[[Readable], Awaitable[Answer]],
) -> Answer:
    """Act on a job for a person who may see it."""
    return await for_reader(context, press.allowed, job, _answer_unknown(press), do)


async def _decide(
    context: Context,
    press: Press,
    job: TrackedJob | None,
    do: Callable[[Manageable], Awaitable[Answer]],
) -> Answer:
    """Decide about a prompt.

    An admin who may not read the thread sees the outcome, or an earlier decision, in the answer.
    """

    async def decide(target: Manageable) -> Answer:
        answer = await do(target)
        is_told_by_thread = answer.message in (None, say.DECIDED_BEFORE)
        if isinstance(target, Readable) or not is_told_by_thread:
            return answer
        return Answer(message=await answer_unreadable(context, target), replaces=True)

    return await for_manager(context, press.allowed, job, _answer_unknown(press), decide)


@on_job
async def _run_again(_context: Context, press: Press, target: Readable) -> Answer:
    private = FormState.at(press.origin, target.job.number).dumps()
    return Answer(modal=forms.run_again_form(target.job, private=private))


async def _submit_again(context: Context, submission: Submission) -> FormErrors | None:
    text = submission.fields.get("prompt")
    if "prompt" in submission.fields and slack_text.is_blank(text or ""):
        return FormErrors({"prompt": say.EMPTY_FORM})
    number = submission.form.job or JobNumber(0)
    job = await context.store.read(lambda tx: Jobs(tx).get(number))
    target = await find_visible(context, submission.claimed.without_channel(), job)
    raw = None if text is None else slack_text.from_plain(text)
    if target is not None:
        asked = await run_again(context, target, submission.claimed.origin.key, raw)
        if asked is not None:
            return None
    return FormErrors({"prompt": say.FORM_WITHOUT_JOB})


@on_job
async def _review(context: Context, press: Press, target: Readable) -> Answer:
    choice = None if press.action_id == Action.UNDO_REVIEW else Review(press.action_id)
    is_kept = await review(context, target, choice)
    return Answer(message=None if is_kept else say.not_reviewable(target.job))


def _press_occasion(press: Press) -> str:
    """Return the key of a button: its message or its request."""
    return press.origin.message_ts or press.origin.key


@on_job
async def _ask_anyway(context: Context, press: Press, target: Readable) -> Answer:
    asked = await run_again(context, target, f"anyway:{_press_occasion(press)}")
    if asked is None:
        return _answer_unknown(press)
    return Answer(message=say.started_before(asked.job)) if asked.repeated else Answer()


@_on_prompt
async def _follow_up_anyway(
    context: Context, press: Press, target: Readable, prompt: Prompt
) -> Answer:
    result = await follow_up_anyway(context, target, prompt, _press_occasion(press))
    if not result.accepted:
        return Answer(message=say.cannot_follow_up(result.job))
    return Answer(message=say.DECIDED_BEFORE) if result.repeated else Answer()


@_decides_about_prompt
async def _send_again(
    context: Context, _press: Press, target: Manageable, prompt: Prompt
) -> Answer:
    done = await send_again(context, steerable(context, target, prompt))
    is_left = prompt.state is PromptState.UNCONFIRMED and not prompt.raw
    return Answer(message=say.NO_WORDS_LEFT) if is_left else _answer_if_late(done)


@_decides_about_prompt
async def _dismiss(context: Context, _press: Press, target: Manageable, prompt: Prompt) -> Answer:
    return _answer_if_late(await dismiss(context, steerable(context, target, prompt)))


@_decides_about_job
async def _withdraw(context: Context, press: Press, target: Manageable) -> Answer:
    prompt = await to_withdraw(context, target.job.number, press.origin.user)
    if prompt is None:
        return _answer_if_late(False)
    return _answer_if_late(await withdraw(context, steerable(context, target, prompt)))


@_decides_about_job
async def _keep_quiet(context: Context, _press: Press, target: Manageable) -> Answer:
    prompt = await context.store.read(lambda tx: Prompts(tx).starting(target.job.number))
    if prompt is None:
        return _answer_if_late(False)
    return _answer_if_late(await stop_watching(context, steerable(context, target, prompt)))


async def _ask_by_press(context: Context, press: Press) -> Answer:
    """Open the form. On the Home tab it asks for the channel."""
    place = press.origin
    if place.message_ts is None:
        place = replace(place, channel=ChannelId(""))
    return await _make_ask_form(context, place)


@on_job
async def _show_details(context: Context, _press: Press, target: Readable) -> Answer:
    return replace(await status_of(context, target), replaces=True)


def _answer_if_late(is_done: bool) -> Answer:
    """Return the answer to a decision, a message if too late.

    The thread shows a decision that was in time.
    """
    return Answer(message=None if is_done else say.DECIDED_BEFORE)


@on_job
async def _show_attachments(context: Context, _press: Press, target: Readable) -> Answer:
    texts = await context.store.read(lambda tx: Prompts(tx).attachments(target.job.number))
    return Answer(modal=status_message.prompt_view(target.job, texts))


@on_job
async def _choose_messages(context: Context, press: Press, target: Readable) -> Answer:
    return await unsent.choose_messages(context, press, target)


async def _cancel(_context: Context, _press: Press) -> Answer:
    return Answer(message=unsent_messages.CANCELLED, replaces=True)


COMMAND = Command(
    name=NAME,
    summary="Ask the documentation agent for a change",
    fallback_word=Word(
        usage="PROMPT",
        shape=".+",
        help_text="Starts a job.",
        run=_ask,
        example=EXAMPLE,
        hint="what to write or change",
        after_mention=None,
        is_in_help=True,
    ),
    bare_word=Word(
        usage="",
        shape="",
        help_text="Opens a form with room for several lines.",
        run=_open_form,
        after_mention=None,
        is_in_help=True,
    ),
    words=(*job_lists.WORDS, LIMITS, *channel_choices.WORDS, SENDING),
    help_note=about_replies,
    labels=(
        ButtonLabel("My jobs", "jobs mine"),
        ButtonLabel("Help", "help"),
        ButtonLabel("Details", "status"),
        ButtonLabel("Run again", "retry"),
        ButtonLabel("Withdraw", "stop"),
        ButtonLabel("Don't", "stop"),
        ButtonLabel("Keep quiet about it", "stop"),
    ),
    buttons={
        Action.REVIEWED: _review,
        Action.UNDO_REVIEW: _review,
        Action.JOBS_OLDER: turn_page,
        Action.JOBS_NEWER: turn_page,
        Action.RUN_AGAIN: _run_again,
        Action.SEND_AGAIN: _send_again,
        Action.DISMISS: _dismiss,
        Action.WITHDRAW: _withdraw,
        Action.SHOW_ATTACHMENTS: _show_attachments,
        Action.ASK_ANYWAY: _ask_anyway,
        Action.FOLLOW_UP_ANYWAY: _follow_up_anyway,
        Action.LEAVE_IT: unsent.send_nothing,
        Action.CHANGE_IT: unsent.open_change_form,
        Action.DRAFT_PAGE: unsent.open_draft_form,
        Action.RUN_WORD: unsent.run_word,
        Action.CHOOSE_MESSAGES: _choose_messages,
        Action.CANCEL: _cancel,
        Action.KEEP_QUIET: _keep_quiet,
        Action.DETAILS: _show_details,
        Action.HELLO_ASK: _ask_by_press,
        Action.SEE_NEEDS_YOU: see_page,
    },
    forms={"ask": _submit, "run_again": _submit_again},
    shortcuts={"ask_about": _ask_about},
)
