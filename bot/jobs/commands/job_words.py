"""Words and buttons about a job: they run only for a person who may see it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from bot.access.admit import Allowed
from bot.commands.command import Answer, Invocation, WordRun
from bot.context import Context
from bot.jobs.access import Readable, readable
from bot.jobs.commands.job_references import find_job
from bot.jobs.messages.job_answers import forgotten, no_such_job
from bot.jobs.model.jobs import TrackedJob


async def for_reader(
    context: Context,
    allowed: Allowed,
    job: TrackedJob | None,
    unknown: Answer,
    do: Callable[[Readable], Awaitable[Answer]],
) -> Answer:
    """Act on a job for a person who may see it; return ``unknown`` to others."""
    target = await readable(context, allowed, job)
    if target is None:
        return unknown
    return Answer(message=forgotten(target.job)) if target.job.is_forgotten else await do(target)


def of_job(
    do: Callable[[Context, Invocation, Readable, re.Match[str]], Awaitable[Answer]],
) -> WordRun:
    """Return the runner of a word about a job, which the first group of the word's shape names.

    People who may not see the job get the answer for an unknown job.
    """

    async def run(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
        unknown = Answer(message=no_such_job(match[1]))
        job = await find_job(context, match[1])
        return await for_reader(
            context, invocation.allowed, job, unknown, lambda target: do(context, invocation, target, match)
        )

    return run
