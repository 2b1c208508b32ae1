"""Check access before every command, button, form and shortcut; each is given who was let in."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from bot import slack_text
from bot.commands.command import Answer, Arrived, FormErrors, Invocation, Request, WordRun
from bot.commands.parsing.job_reference import find_job
from bot.messages import job_answers
from bot.messages.blocks import bare
from bot.messages.general import unknown_project
from bot.messages.job_answers import forgotten
from bot.model.jobs import TrackedJob
from bot.model.message import Message
from bot.model.projects import UnknownProject
from bot.work.access.admit import Allowed, NotAllowed, Readable, admit, readable
from bot.work.context import Context
from bot.work.jobs.ask import TooManyWaiting


async def run_if_allowed(
    context: Context,
    arrived: Arrived[Request],
    run: Callable[[Context, Request], Awaitable[Answer | FormErrors | None]],
) -> Answer | FormErrors | None:
    """Run a request if its sender may use the bot. Otherwise return why not, and what they typed to copy."""
    try:
        allowed = await admit(context, arrived.origin, channel=arrived.channel)
        return await run(context, arrived.request_of(allowed))
    except NotAllowed as why:
        return _told(arrived, job_answers.with_prompt(why.message, arrived.typed))
    except UnknownProject as unknown:
        text = slack_text.to_plain(unknown.text, {}, {})
        return _told(arrived, unknown_project(unknown.name, context.projects, text))
    except TooManyWaiting as full:
        # What was written in a form stays in it.
        raw = "" if arrived.is_form else slack_text.to_plain(full.raw, {}, {})
        return _told(arrived, job_answers.too_many_waiting(full.limit, raw))


def _told(arrived: Arrived[Request], message: Message) -> Answer | FormErrors:
    return FormErrors({"prompt": bare(message)}) if arrived.is_form else Answer(message=message)


async def for_reader(
    context: Context,
    allowed: Allowed,
    job: TrackedJob | None,
    unknown: Answer,
    do: Callable[[Readable], Awaitable[Answer]],
) -> Answer:
    """Do something with a job for somebody who may see it; return ``unknown`` to others."""
    found = await readable(context, allowed, job)
    if found is None:
        return unknown
    return Answer(message=forgotten(found.job)) if found.job.is_forgotten else await do(found)


def of_job(
    do: Callable[[Context, Invocation, Readable, re.Match[str]], Awaitable[Answer]],
) -> WordRun:
    """Return what runs a word about the job that the first group of its shape names.

    Whoever may not see the job, and whoever names none, is told that there is no such job.
    """

    async def run(context: Context, invocation: Invocation, found: re.Match[str]) -> Answer:
        unknown = Answer(message=job_answers.no_such_job(found[1]))
        job = await find_job(context, found[1])
        return await for_reader(
            context, invocation.allowed, job, unknown, lambda known: do(context, invocation, known, found)
        )

    return run
