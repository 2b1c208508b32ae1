"""``/docs-agent``: ask for a change, list jobs, show the status of one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from bot import slack_text
from bot.commands.command import (
    Answer,
    Command,
    FormErrors,
    Invocation,
    Modal,
    Press,
    ShortcutUse,
    Submission,
    Word,
)
from bot.commands.form_state import FormState
from bot.commands.guard import for_reader, of_job, once_allowed
from bot.commands.job_lists import JOBS, thread_link, turn_page
from bot.commands.limits import LIMITS
from bot.commands.projects import CHOOSE_PROJECT, PROJECT, projects_to_choose
from bot.commands.unsent import send_anyway, unsent
from bot.messages import along, general
from bot.messages import job_answers as say
from bot.messages.general import NOT_SERVED, unknown_project
from bot.messages.job_answers import SEND_ANYWAY
from bot.model.along import TakeThread
from bot.model.ids import ChannelId, JobNumber, PromptId, UserId
from bot.model.jobs import Review, TrackedJob
from bot.model.origin import Origin
from bot.model.projects import Project, UnknownProject
from bot.model.prompts import Prompt
from bot.work.context import Context
from bot.work.jobs.along import offer_thread
from bot.work.jobs.ask import AskRequest, ask
from bot.work.jobs.decisions import (
    dismiss,
    follow_up_anyway,
    review,
    run_again,
    send_again,
    to_withdraw,
    withdraw,
)

NAME = "/docs-agent"
_FORM_LENGTH = 3000


async def _run(context: Context, invocation: Invocation) -> Answer:
    try:
        text, project = context.projects.take(invocation.text)
    except UnknownProject as unknown:
        prompt = slack_text.to_plain(unknown.text, {}, {})
        return Answer(message=unknown_project(unknown.name, context.projects, prompt))
    return await COMMAND.run_word(context, replace(invocation, words=text, project=project))


async def _open_form(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    return await _ask_form(context, invocation.origin, project=invocation.project)


async def _ask(context: Context, invocation: Invocation, _found: re.Match[str]) -> Answer:
    if (answer := unsent(invocation, invocation.text, invocation.words)) is not None:
        return answer
    project = invocation.project.id if invocation.project else None
    asked = await ask(context, AskRequest(invocation.origin, invocation.words, project=project))
    return Answer(message=say.same_job(asked.job)) if asked.same else Answer()


async def _status(
    context: Context, _invocation: Invocation, job: TrackedJob, _found: re.Match[str]
) -> Answer:
    now = context.clock()
    waiting = await context.store.read(lambda tx: tx.waits.of_job(job.number, now))
    return Answer(message=say.job_status(job, thread_link(context, job), waiting))


async def _submit(context: Context, submission: Submission) -> FormErrors | None:
    text = submission.fields.get("prompt") or ""
    channel = ChannelId(submission.fields.get("channel") or submission.origin.channel)
    if slack_text.is_blank(text):
        return FormErrors({"prompt": say.EMPTY_FORM})
    if not channel:
        return FormErrors({"channel": say.NO_CHANNEL_CHOSEN})
    try:
        name = submission.fields.get("project")
        project = context.projects.named(name) if name else None
    except UnknownProject:
        return FormErrors({"project": NOT_SERVED})
    origin = replace(submission.origin, channel=channel)
    given = submission.fields.get("earlier") if submission.fields.get("take_earlier") else None
    take = TakeThread.GIVEN if given else None
    request = AskRequest(
        origin,
        slack_text.from_plain(text),
        take_thread=take,
        given=given,
        project=project.id if project else None,
    )
    asked = await ask(context, request)
    return FormErrors({"prompt": say.SAME_ANEW}) if asked.same else None


async def _ask_about(context: Context, used: ShortcutUse) -> Answer:
    """Open the form with somebody's message and the others of its thread, to edit before they are sent."""
    text = slack_text.to_plain(used.text, {}, {})[:_FORM_LENGTH]
    thread = used.origin.thread_ref
    if thread is None or not context.takes_threads:
        return await _ask_form(context, used.origin, text)

    async def read() -> Answer:
        found = await offer_thread(context, thread, used.origin.message_ts)
        earlier = general.earlier_blocks(
            found.messages, found.left_out, is_chosen=found.is_chosen, is_read=found.is_read
        )
        return await _ask_form(context, used.origin, text, earlier)

    async def read_later() -> Answer:
        return Answer(later=read)

    return await once_allowed(context, used.origin, read_later)


async def _ask_form(
    context: Context,
    origin: Origin,
    text: str = "",
    earlier: Sequence[dict[str, Any]] = (),
    *,
    project: Project | None = None,
) -> Answer:
    form = general.ask_form(
        channel=origin.channel,
        private=FormState.at(origin).dumps(),
        text=text,
        projects=await projects_to_choose(context, origin.channel, project),
        earlier=earlier,
    )
    return Answer(modal=Modal(form))


def _unknown(press: Press) -> Answer:
    return Answer(message=say.no_such_job(press.value))


def _number(press: Press) -> int:
    """Return the number in the button's value; 0, which no row has, if it is no number."""
    return int(press.value) if press.value.isdecimal() and len(press.value) < 10 else 0


async def _on_job(
    context: Context, press: Press, number: int, do: Callable[[TrackedJob], Awaitable[Answer]]
) -> Answer:
    """Do something with a job, if the person who pressed the button may see it."""
    job = await context.store.read(lambda tx: tx.jobs.get(JobNumber(number)))
    return await for_reader(context, press.origin, job, _unknown(press), do)


async def _on_prompt(context: Context, press: Press, do: Callable[[Prompt], Awaitable[Answer]]) -> Answer:
    """Do something with the prompt that a button names, if the person may see its job."""
    number = PromptId(_number(press))
    prompt = await context.store.read(lambda tx: tx.prompts.get(number))

    async def do_for(job: TrackedJob) -> Answer:
        if prompt is not None and not prompt.asked_by:
            return Answer(message=say.forgotten(job))
        return await do(prompt) if prompt else _unknown(press)

    return await _on_job(context, press, prompt.job if prompt else 0, do_for)


async def _chosen(context: Context, press: Press) -> Answer:
    """Do what was chosen from the menu of a job's message."""
    action, _, number = press.value.partition(":")
    is_known = action == "run_again"
    return await _run_again(context, replace(press, value=number)) if is_known else _unknown(press)


async def _run_again(context: Context, press: Press) -> Answer:
    """Open the form with the prompt. The value of older buttons also tells the iteration."""
    number = replace(press, value=press.value.partition(":")[0])

    async def open_form(job: TrackedJob) -> Answer:
        state = FormState.at(press.origin, job.number, seen_by=press.origin.user)
        return Answer(modal=Modal(general.run_again_form(job, private=state.dumps())))

    return await _on_job(context, press, _number(number), open_form)


async def _submit_again(context: Context, submission: Submission) -> FormErrors | None:
    """Run a prompt again. The form was opened for this person, so they may see its job."""
    job, origin = submission.form.job, submission.origin
    if job is None or submission.form.seen_by != origin.user:
        return FormErrors({"prompt": say.FORM_WITHOUT_JOB})
    text = submission.fields.get("prompt")
    if "prompt" in submission.fields and slack_text.is_blank(text or ""):
        return FormErrors({"prompt": say.EMPTY_FORM})
    raw = None if text is None else slack_text.from_plain(text)
    asked = await run_again(context, origin, job, origin.key, raw)
    return None if asked else FormErrors({"prompt": say.FORM_WITHOUT_JOB})


async def _review(context: Context, press: Press) -> Answer:
    async def note(job: TrackedJob) -> Answer:
        async def act() -> Answer:
            noted = await review(context, job.number, Review(press.action_id), press.origin.user)
            return Answer(message=None if noted else say.too_late())

        return await once_allowed(context, press.origin, act)

    return await _on_job(context, press, _number(press), note)


async def _ask_anyway(context: Context, press: Press) -> Answer:
    occasion = f"anyway:{_occasion(press)}"
    return await _on_job(
        context, press, _number(press), lambda job: _ask_again(context, press, job, occasion)
    )


def _occasion(press: Press) -> str:
    """Return what identifies the button: the timestamp of its message, or the request's key without one."""
    return press.origin.message_ts or press.origin.key


async def _ask_again(context: Context, press: Press, job: TrackedJob, occasion: str) -> Answer:
    asked = await run_again(context, press.origin, job.number, occasion)
    if asked is None:
        return _unknown(press)
    return Answer(message=say.run_again_before(asked.job)) if asked.repeated else Answer()


async def _follow_up_anyway(context: Context, press: Press) -> Answer:
    async def send(prompt: Prompt) -> Answer:
        result = await follow_up_anyway(context, press.origin, prompt.id, _occasion(press))
        if result is None:
            return _unknown(press)
        if not result.accepted:
            return Answer(message=say.cannot_follow_up(result.job))
        return Answer(message=say.too_late()) if result.repeated else Answer()

    return await _on_prompt(context, press, send)


async def _send_again(context: Context, press: Press) -> Answer:
    return await _on_prompt(context, press, lambda prompt: _decide(context, press, prompt, send_again))


async def _dismiss(context: Context, press: Press) -> Answer:
    return await _on_prompt(context, press, lambda prompt: _decide(context, press, prompt, dismiss))


async def _withdraw(context: Context, press: Press) -> Answer:
    async def take_back(job: TrackedJob) -> Answer:
        prompt = await to_withdraw(context, job.number, press.origin.user)
        if prompt is None:
            return Answer(message=say.too_late())
        return await _decide(context, press, prompt, withdraw)

    return await _on_job(context, press, _number(press), take_back)


async def _show_along(context: Context, press: Press) -> Answer:
    async def show(job: TrackedJob) -> Answer:
        texts = await context.store.read(lambda tx: tx.prompts.attachments(job.number))
        return Answer(message=along.shown(job, texts))

    return await _on_job(context, press, _number(press), show)


async def _decide(
    context: Context,
    press: Press,
    prompt: Prompt,
    decide: Callable[[Context, PromptId, UserId], Awaitable[bool]],
) -> Answer:
    """Carry out a decision about a prompt, if the person may make it."""

    async def act() -> Answer:
        """Decide. The thread shows the outcome; a message is returned only if it is too late."""
        return Answer(message=None if await decide(context, prompt.id, press.origin.user) else say.too_late())

    return await once_allowed(context, press.origin, act, prompt=prompt)


COMMAND = Command(
    name=NAME,
    summary="Ask the documentation agent for a change",
    other=Word(
        usage="PROMPT",
        shape=".+",
        tells="Starts a job.",
        run=_ask,
        example="Add a quickstart for the Python SDK",
        hint="what to write or change",
        after_mention=None,
    ),
    alone=Word("", "", "Opens a form with room for several lines.", _open_form, after_mention=None),
    words=(
        JOBS,
        Word(
            usage="status 42",
            # "status codes are missing" is a prompt.
            shape=r"status\s+(?:job\s+)?(\S+)",
            tells="Shows one job by its number, service id or thread link.",
            run=of_job(_status),
            hint="status 42",
        ),
        LIMITS,
        PROJECT,
        CHOOSE_PROJECT,
    ),
    run=_run,
    buttons={
        "reviewed": _review,
        "not_needed": _review,
        "jobs_older": turn_page,
        "jobs_newer": turn_page,
        "run_again": _run_again,
        "job_menu": _chosen,
        "send_again": _send_again,
        "dismiss": _dismiss,
        "withdraw": _withdraw,
        "show_along": _show_along,
        "ask_anyway": _ask_anyway,
        "follow_up_anyway": _follow_up_anyway,
        SEND_ANYWAY: send_anyway,
    },
    forms={"ask": _submit, "run_again": _submit_again},
    shortcuts={"ask_about": _ask_about},
)
