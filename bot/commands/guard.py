"""Check access before every command, button, form and shortcut.

Before the acknowledgement only the database is read. If it does not decide, the check becomes
``Answer.later``: the listeners call it after the acknowledgement, which shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from bot import slack_text
from bot.commands.command import (
    Answer,
    Command,
    FormErrors,
    Invocation,
    Press,
    ShortcutUse,
    Submission,
    WordRun,
)
from bot.commands.parsing.job_reference import find_job
from bot.messages import job_answers
from bot.messages.blocks import bare
from bot.messages.general import not_allowed
from bot.messages.job_answers import forgotten
from bot.model.access import Access
from bot.model.ids import ChannelId, is_direct_message
from bot.model.jobs import TrackedJob
from bot.model.message import Message
from bot.model.origin import Origin
from bot.model.prompts import Prompt
from bot.work.access.check import AskSlack, Decision, decide
from bot.work.access.denied import denial
from bot.work.context import Context
from bot.work.jobs.ask import TooManyWaiting

Request = TypeVar("Request", Invocation, Press, ShortcutUse)


def guarded(command: Command) -> Command:
    """Return the command with access checks. If only Slack can tell, nothing is shown until it has.

    The request is stored meanwhile, and a worker decides before it is carried out
    (``work/jobs/prepare.py``, ``work/visitors/question.py``, ``work/visitors/subscriptions.py``).
    """
    return replace(
        command,
        run=partial(_guarded, command.run),
        buttons={name: partial(_guarded, press) for name, press in command.buttons.items()},
        shortcuts={name: partial(_guarded, use) for name, use in command.shortcuts.items()},
        forms={name: partial(_guarded_form, submit) for name, submit in command.forms.items()},
    )


async def once_allowed(
    context: Context, origin: Origin, act: Callable[[], Awaitable[Answer]], *, prompt: Prompt | None = None
) -> Answer:
    """Act when access, also to decide about ``prompt``, is confirmed: at once if the database can tell."""

    async def go_on(decision: Decision) -> Answer:
        return await act() if decision.may else await refusal(context, origin, decision)

    return await _once_decided(lambda ask: decide(context, origin.user, prompt=prompt, ask=ask), go_on)


async def refusal(context: Context, origin: Origin, decision: Decision) -> Answer:
    """Return the answer to somebody who may not do what they ask for; nothing if they know already."""
    return Answer(message=await denial(context, origin, decision), is_refusal=True)


async def confirmed(context: Context, origin: Origin, message: Message, *, is_stored: bool = True) -> Answer:
    """Confirm a request, if the person has access.

    Otherwise the worker that refuses the request tells them. If nothing was stored, no worker would, and
    the listener's own check does (``guarded``).
    """
    if not is_stored:
        return Answer(message=message)

    async def go_on(decision: Decision) -> Answer:
        return Answer(message=message) if decision.may else Answer()

    return await _once_decided(lambda ask: decide(context, origin.user, ask=ask), go_on)


async def for_reader(
    context: Context,
    origin: Origin,
    job: TrackedJob | None,
    unknown: Answer,
    do: Callable[[TrackedJob], Awaitable[Answer]],
) -> Answer:
    """Do something with a job for somebody who may see it; return ``unknown`` to others.

    If the database shows that they may see it, ``do`` runs even if their access to the bot is unknown: it
    only stores and shows. A job that does not exist and a job that Slack must be asked about are both
    answered after the acknowledgement. Otherwise the reply would tell which job numbers exist.
    """
    if job is not None and await known_to_see(context, origin, job):
        return await _unless_forgotten(job, do)

    async def later() -> Answer:
        here, ask = origin.channel, AskSlack.FINAL
        decision = await decide(context, origin.user, job=job, here=here, ask=ask)
        if decision.denied is not None:
            return await refusal(context, origin, decision)
        return await _unless_forgotten(job, do) if job is not None and decision.may else unknown

    return Answer(later=later)


def of_job(
    do: Callable[[Context, Invocation, TrackedJob, re.Match[str]], Awaitable[Answer]],
) -> WordRun:
    """Return what runs a word about the job that the first group of its shape names.

    Whoever may not see the job, and whoever names none, is told that there is no such job.
    """

    async def run(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
        named = found[1]
        unknown = Answer(message=job_answers.no_such_job(named))
        return await for_reader(
            context,
            invocation.origin,
            await find_job(context, named),
            unknown,
            lambda job: do(context, invocation, job, found),
        )

    return run


async def _unless_forgotten(job: TrackedJob, do: Callable[[TrackedJob], Awaitable[Answer]]) -> Answer:
    return Answer(message=forgotten(job)) if job.is_forgotten else await do(job)


async def known_to_see(context: Context, origin: Origin, job: TrackedJob) -> bool:
    """Return whether the database shows that somebody may see the job; False if only Slack can tell."""
    decision = await decide(context, origin.user, job=job, here=origin.channel)
    return bool(decision.sees_job)


async def _once_decided(
    check: Callable[[AskSlack], Awaitable[Decision]], go_on: Callable[[Decision], Awaitable[Answer]]
) -> Answer:
    """Go on with a decision, at once if the database is enough for it, otherwise after Slack was called."""
    decision = await check(AskSlack.NEVER)
    if decision.may is not None:
        return await go_on(decision)

    async def later() -> Answer:
        return await go_on(await check(AskSlack.FINAL))

    return Answer(later=later)


def _channel_of(request: Invocation | Press | ShortcutUse) -> ChannelId | None:
    """Return the channel of a request; None for a button in a direct message about another channel."""
    channel = request.origin.channel
    return None if isinstance(request, Press) and is_direct_message(channel) else channel


async def _guarded(
    run: Callable[[Context, Request], Awaitable[Answer]], context: Context, request: Request
) -> Answer:
    decision = await decide(context, request.origin.user, channel=_channel_of(request))
    if decision.may is False:
        return _with_typed(await refusal(context, request.origin, decision), request)
    answer = await _unless_too_many(lambda: run(context, request))
    if not decision.may and answer.shows:
        answer = await _show_once_allowed(context, request.origin, answer)
    return _with_typed(answer, request)


def _with_typed(answer: Answer, request: Invocation | Press | ShortcutUse) -> Answer:
    """Return the answer; a refusal with the refused command, which Slack does not show any more."""
    if not isinstance(request, Invocation):
        return answer
    later, told = answer.later, answer.message
    if later is not None:

        async def decided() -> Answer:
            return _with_typed(await later(), request)

        return replace(answer, later=decided)
    if told is None or not answer.is_refusal:
        return answer
    return replace(answer, message=job_answers.with_prompt(told, request.typed))


async def _unless_too_many(run: Callable[[], Awaitable[Answer]]) -> Answer:
    """Return the answer, or the prompt itself if too many of the person's prompts wait already."""
    try:
        answer = await run()
    except TooManyWaiting as full:
        return Answer(message=job_answers.too_many_waiting(full.limit, slack_text.to_plain(full.raw, {}, {})))
    later = answer.later
    return answer if later is None else replace(answer, later=lambda: _unless_too_many(later))


async def _show_once_allowed(context: Context, origin: Origin, answer: Answer) -> Answer:
    """Show an answer after access is confirmed. The request itself may be stored already."""

    async def show() -> Answer:
        return answer

    return await once_allowed(context, origin, show)


async def _guarded_form(
    submit: Callable[[Context, Submission], Awaitable[FormErrors | None]],
    context: Context,
    submission: Submission,
) -> FormErrors | None:
    decision = await decide(context, submission.origin.user)
    if decision.may is False:
        # The form stays open, with what was written in it.
        return FormErrors({"prompt": bare(not_allowed(decision.denied or Access.UNTOLD))})
    try:
        return await submit(context, submission)
    except TooManyWaiting as full:
        return FormErrors({"prompt": job_answers.too_many_waiting_for_form(full.limit)})
