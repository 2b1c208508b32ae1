"""Reviews of pull requests that people mark by a button or a word, where the bot cannot see them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from bot.access.admit import check_channel
from bot.context import Context
from bot.jobs.access import Readable
from bot.jobs.hooks import JobHooks
from bot.jobs.model.jobs import JobState, Review
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread import update_status_message
from bot.store import Transaction

_SATURDAY = 5


async def review(context: Context, readable: Readable, choice: Review | None) -> bool:
    """Write the outcome of a job's pull request; None removes it.

    Return False if the job goes on, or has no pull request. Raises NotAllowed for a job in a
    channel that the bot is not set up for.
    """
    check_channel(context, readable.job.channel)
    return await context.write(lambda tx: keep_review(context, tx, readable, choice))


def keep_review(
    context: Context, tx: Transaction, readable: Readable, choice: Review | None
) -> bool:
    """Write the outcome of a pull request as ``review`` does, within a transaction."""
    now = context.clock()
    job = Jobs(tx).get_or_raise(readable.job.number)
    if job.is_forgotten or job.state is not JobState.PULL_REQUEST:
        return False
    if job.review is choice:
        # Somebody was faster, or pressed twice.
        return True
    if job.sees_pull_request:
        # The button is from before the bot polled the pull request.
        update_status_message(tx, job, now)
        return True
    if choice is None:
        at = remind_at(context, now)
        new = replace(job, review=None, reviewed_by=None, reviewed_at=None, remind_at=at)
    else:
        by = readable.allowed.user
        new = replace(job, review=choice, reviewed_by=by, reviewed_at=now, remind_at=None)
    Jobs(tx).save(job, new)
    if choice is Review.REVIEWED:
        for hooks in context.hooks_of(JobHooks):
            hooks.on_merged(context, tx, job.number)
    return True


def remind_at(context: Context, now: datetime) -> datetime | None:
    """Return when to remind of a pull request; None for never.

    It is at this hour of a weekday.
    """
    if not context.settings.remind_after_days:
        return None
    at = now + timedelta(days=context.settings.remind_after_days)
    if at.weekday() >= _SATURDAY:
        at += timedelta(days=7 - at.weekday())
    return at
