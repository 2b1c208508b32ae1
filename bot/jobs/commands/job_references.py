"""References to a job: number, service id, or a link to its thread."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from bot.access.admit import Allowed
from bot.commands.command import Answer, Invocation, WordRun
from bot.context import Context
from bot.ids import ChannelId, JobNumber, MessageTs
from bot.jobs.access import Manageable, Readable, find_manageable
from bot.jobs.job_words import answer_unreadable
from bot.jobs.messages.job_answers import forgotten, no_such_job
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.store.jobs import Jobs
from bot.messages.blocks import with_prompt
from bot.ports import ThreadRef
from bot.store import Transaction

NUMBER = "[0-9]{1,9}"
"""The shape of a job's number."""
LINK = r"https?://[^\s/]+/archives/([A-Z0-9]+)/p([0-9]{10})([0-9]{6})/?(?:\?(\S*))?"
"""The shape of a link to a message, such as

https://acme.slack.com/archives/C0123/p1700000000123456?thread_ts=1700000000.123456&cid=C0123
"""
_THREAD_PATTERN = re.compile(r"(?:^|&)thread_ts=([0-9]+\.[0-9]+)")


def as_thread(named: str) -> ThreadRef | None:
    """Return the thread of a message's link; None for other texts."""
    match = re.fullmatch(LINK, named)
    if match is None:
        return None
    channel, seconds, fraction, query = match.groups()
    root = _THREAD_PATTERN.search(query or "")
    return ThreadRef(ChannelId(channel), MessageTs(root[1] if root else f"{seconds}.{fraction}"))


async def find_job(context: Context, named: str) -> TrackedJob | None:
    """Return the job that a text names; None for an unknown one.

    The name is ``42``, ``#42``, a service id, or a link.
    """
    return await context.store.read(lambda tx: _find_job(tx, named))


def _find_job(tx: Transaction, named: str) -> TrackedJob | None:
    if re.fullmatch(f"#?{NUMBER}", named):
        return Jobs(tx).get(JobNumber(int(named.removeprefix("#"))))
    thread = as_thread(named)
    if thread is not None:
        return Jobs(tx).in_thread(thread)
    return Jobs(tx).with_service_id(named)


async def for_reader(
    context: Context,
    allowed: Allowed,
    job: TrackedJob | None,
    unknown: Answer,
    do: Callable[[Readable], Awaitable[Answer]],
    *,
    typed: str = "",
    is_follow_up: bool = False,
) -> Answer:
    """Act on a job for a person who may see it.

    Admins who may not see it get its state without words, and the others ``unknown``. ``typed``: the
    text that an admin gets back to copy. ``is_follow_up``: the act would send a text to the job.
    """

    async def do_or_refuse(target: Manageable) -> Answer:
        if isinstance(target, Readable):
            return await do(target)
        answer = await answer_unreadable(context, target, is_unsent=is_follow_up)
        return Answer(message=with_prompt(answer, typed))

    return await for_manager(context, allowed, job, unknown, do_or_refuse)


async def for_manager(
    context: Context,
    allowed: Allowed,
    job: TrackedJob | None,
    unknown: Answer,
    do: Callable[[Manageable], Awaitable[Answer]],
) -> Answer:
    """Act on a job for a person who may see it or for an admin. Others get ``unknown``."""
    target = await find_manageable(context, allowed, job)
    if target is None:
        return unknown
    if target.job.is_forgotten:
        return Answer(message=forgotten(target.job))
    return await do(target)


def of_job(
    do: Callable[[Context, Invocation, Readable, re.Match[str]], Awaitable[Answer]],
) -> WordRun:
    """Return the function that runs a command word about a job.

    The first group of the word's shape names the job.

    People who may not see the job get the answer for an unknown job.
    """

    async def run(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
        unknown = Answer(message=no_such_job(match[1]))
        job = await find_job(context, match[1])

        async def do_for(target: Readable) -> Answer:
            return await do(context, invocation, target, match)

        return await for_reader(context, invocation.allowed, job, unknown, do_for)

    return run
