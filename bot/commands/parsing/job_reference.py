"""Finding the job that somebody names, by number, service id or link, for those who may see it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

from bot.commands.command import Answer
from bot.model import ChannelId, JobNumber, MessageTs, ThreadRef, TrackedJob
from bot.store import Transaction
from bot.work.access.check import cached_access
from bot.work.access.jobs import Visitor, may_see_job, may_see_job_now
from bot.work.context import Context

_NUMBER = re.compile(r"#?([0-9]{1,9})")
# https://acme.slack.com/archives/C0123/p1700000000123456?thread_ts=1700000000.123456&cid=C0123
_ARCHIVES = re.compile(r"/archives/([A-Z0-9]+)/p([0-9]{10})([0-9]{6})/?")


def as_thread(named: str) -> ThreadRef | None:
    """The thread that a link to one of its messages leads to; None when it is no such link."""
    try:
        parts = urlsplit(named)
    except ValueError:
        return None
    found = _ARCHIVES.fullmatch(parts.path)
    if parts.scheme not in ("http", "https") or not found:
        return None
    channel, seconds, fraction = found.groups()
    root = parse_qs(parts.query).get("thread_ts", [f"{seconds}.{fraction}"])[0]
    return ThreadRef(ChannelId(channel), MessageTs(root))


async def find_job(context: Context, named: str) -> TrackedJob | None:
    """The job that this text names (``42``, ``#42``, a service id, a link), or None."""
    return await context.store.read(lambda tx: _find_job(tx, named))


def _find_job(tx: Transaction, named: str) -> TrackedJob | None:
    if number := _NUMBER.fullmatch(named):
        return tx.jobs.get(JobNumber(int(number[1])))
    if thread := as_thread(named):
        return tx.jobs.in_thread(thread)
    return tx.jobs.with_service_id(named)


def looks_like_job(named: str) -> bool:
    """Whether a word is meant as a job. A bare number is: guessing otherwise could spend a use wrongly."""
    return bool(_NUMBER.fullmatch(named)) or as_thread(named) is not None


async def known_to_see(context: Context, job: TrackedJob | None, visitor: Visitor) -> bool:
    """Whether our own rows let somebody see the job; False also when only Slack can tell."""
    return job is not None and bool(await may_see_job(context, job, visitor))


async def for_reader(
    context: Context,
    job: TrackedJob | None,
    visitor: Visitor,
    unknown: Answer,
    do: Callable[[TrackedJob], Awaitable[Answer]],
) -> Answer:
    """Do something with a job for somebody who may see it; for others there is no such job.

    A job that nobody knows and one that Slack must be asked about are answered alike, after the
    acknowledgement: else its form would tell which numbers are taken.
    """
    if job is not None and await known_to_see(context, job, visitor):
        return await do(job)

    async def decide() -> Answer:
        if job is None or not await _slack_lets_see(context, job, visitor):
            return unknown
        return await do(job)

    return Answer(later=decide)


async def _slack_lets_see(context: Context, job: TrackedJob, visitor: Visitor) -> bool:
    # By now it is in our rows, also for somebody who was unknown when they asked.
    access = await cached_access(context, visitor.user)
    return await may_see_job_now(context, job, replace(visitor, access=access))
