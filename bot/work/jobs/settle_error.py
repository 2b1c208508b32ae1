"""Write what a failed poll means: a pause for the job or for its project, or that the job is lost."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from bot.docs_api import NotConfigured, NotFound
from bot.messages import jobs as say
from bot.model import lifecycle
from bot.model.jobs import JobState, TrackedJob
from bot.model.message import Message
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.key_health import (
    is_about_service,
    is_key_problem,
    key_refused,
    service_failed,
    wait_asked_for,
)
from bot.work.jobs.settle_answer import end_iteration, put_back, stop_polling

log = structlog.get_logger(__name__)
_MISSES_MEAN_GONE = 5
"""A job counts as gone after at least so many 404 answers in a row, over ``Timeouts.missing_seconds``."""
_MISSING_CAP_SECONDS = 600.0
"""Longest pause between two polls of a job that the service says it does not know."""
_UNREAD_CAP_SECONDS = 3_600.0
"""Longest pause between two polls of a job that cannot be read."""
_SEVERAL = 3
"""The service is unwell when so many jobs have begun to fail within ``_RECENT_SECONDS``.

One or two may be bad by themselves, and jobs that have failed for longer say nothing about the service now.
Where only two jobs are polled, both of them are enough.
"""
_RECENT_SECONDS = 300.0


def settle_error(
    context: WorkerContext, tx: Transaction, job: TrackedJob, misses: int, error: Exception, *, is_well: bool
) -> None:
    """Write a failed poll: back off, and stop polling a job that could not be read for days.

    ``misses``: the number of 404 answers in a row before this error. ``is_well``: the service has answered
    for another job of the project just now.
    """
    now = context.clock()
    if isinstance(error, NotConfigured):
        _stop(context, tx, job, say.not_served(job))
        return
    if isinstance(error, NotFound):
        _settle_missing(context, tx, job, misses + 1)
        return
    poll_at = _retry_at(context, tx, job, error, is_well=is_well)
    since = job.unread_since or now
    if now < _gives_up_at(context, job):
        put_back(
            context,
            tx,
            job,
            poll_at=poll_at,
            misses=misses,
            missing_since=job.missing_since,
            unread_since=since,
        )
    else:
        _stop(context, tx, job, say.unread(job, since, now))


def _stop(context: WorkerContext, tx: Transaction, job: TrackedJob, message: Message) -> None:
    """Poll a job no more. Its thread is told if its end has not been told."""
    if job.state is JobState.WORKING:
        stop_polling(context, tx, job, message)
    else:
        put_back(context, tx, job, poll_at=None, unconfirmed_until=None)


def _retry_at(
    context: WorkerContext, tx: Transaction, job: TrackedJob, error: Exception, *, is_well: bool
) -> datetime:
    """Return when to poll again after an error; back off from the project if the service is unwell."""
    now = context.clock()
    failing_seconds = (now - (job.unread_since or now)).total_seconds()
    own_seconds = context.pace.retry_seconds(failing_seconds, context.chance(), cap=_UNREAD_CAP_SECONDS)
    own = context.after(max(own_seconds, wait_asked_for(error)))
    if is_key_problem(error):
        if not is_well and _all_seem_refused(context, tx, job):
            return key_refused(context, tx, job.project, error, wrote=False)
    elif is_about_service(error) or (not is_well and _several_fail(context, tx, job)):
        return max(own, service_failed(context, tx, job.project, error))
    log.warning("job_not_read", job=job.number, reason=type(error).__name__)
    return own


def _all_seem_refused(context: WorkerContext, tx: Transaction, job: TrackedJob) -> bool:
    """Return whether a refused read is about the key, and not about this job alone.

    Jobs that run for long are polled once an hour, so it does not matter when the others began to fail.
    """
    others, failing = tx.jobs.polled_besides(job, context.after(-context.timeouts.watch_seconds))
    return failing + 1 >= min(_SEVERAL, others + 1)


def _several_fail(context: WorkerContext, tx: Transaction, job: TrackedJob) -> bool:
    """Return whether so many jobs have just begun to fail that the service itself must be unwell."""
    recent = context.after(-_RECENT_SECONDS)
    if job.unread_since and job.unread_since <= recent:
        return False
    others, failing = tx.jobs.polled_besides(job, recent)
    return failing + 1 >= _SEVERAL or others == failing == 1


def _gives_up_at(context: WorkerContext, job: TrackedJob) -> datetime:
    """Return when the bot stops polling a job that has ended or cannot be read."""
    timeouts = context.timeouts
    if job.state is JobState.WORKING:
        return (job.iteration_started_at or job.asked_at) + timedelta(seconds=timeouts.unwatched_seconds)
    since = job.unconfirmed_until or job.ended_at or job.asked_at
    return since + timedelta(seconds=timeouts.watch_seconds)


def _settle_missing(context: WorkerContext, tx: Transaction, job: TrackedJob, misses: int) -> None:
    """Write a 404 answer. A job that stays unknown for long enough is lost, and polled no more."""
    now = context.clock()
    since = job.missing_since or now
    missing_seconds = (now - since).total_seconds()
    if job.state is JobState.GONE:
        put_back(context, tx, job, poll_at=None, unconfirmed_until=None)
    elif misses >= _MISSES_MEAN_GONE and missing_seconds >= context.timeouts.missing_seconds:
        end_iteration(context, tx, job, lifecycle.lost(job, now), job.details)
    else:
        wait_seconds = context.pace.retry_seconds(missing_seconds, context.chance(), cap=_MISSING_CAP_SECONDS)
        put_back(context, tx, job, poll_at=context.after(wait_seconds), misses=misses, missing_since=since)
