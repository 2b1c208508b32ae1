"""Write what an answer of the docs service about a job means, together with the messages about it."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Unpack

import structlog

from bot.docs_api import Job, JobStatus
from bot.messages import jobs as say
from bot.messages.blocks import linkable, web_address
from bot.model import lifecycle
from bot.model.jobs import JobDetails, JobFields, JobState, TrackedJob, minutes_to_show
from bot.model.lifecycle import JobStep
from bot.model.message import Message
from bot.model.prompts import Prompt
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.thread_messages import NEW_END, outdate_end, redraw_face, reply
from bot.work.jobs.transitions import details_of

log = structlog.get_logger(__name__)
HOURLY_SECONDS = 3_600.0
"""Pause between two polls of a job that has run for long."""


class _Meaning(StrEnum):
    """The meaning of an answer. Each end of an iteration has the value of its `JobState`."""

    RUNNING = "running"
    STALE = "stale"
    """The answer shows an end, but perhaps that of the previous iteration: poll again."""
    NOT_CARRIED_OUT = "not_carried_out"
    """An unconfirmed follow-up did not begin an iteration; there is nothing to tell."""
    PULL_REQUEST = JobState.PULL_REQUEST.value
    NO_CHANGE = JobState.NO_CHANGE.value
    FAILED = JobState.FAILED.value
    ARCHIVED = JobState.ARCHIVED.value


def settle_answer(context: WorkerContext, tx: Transaction, job: TrackedJob, answer: Job) -> None:
    meaning = _meaning(job, answer, context.clock(), context.timeouts.stale_seconds)
    details = details_of(context, job, answer)
    is_unconfirmed = job.unconfirmed_until is not None and meaning is _Meaning.RUNNING
    follow_up = tx.prompts.perhaps_carried_out(job.number) if is_unconfirmed else None
    match meaning:
        case _Meaning.RUNNING if follow_up:
            _resume(context, tx, job, follow_up)
        case _Meaning.RUNNING if job.unconfirmed_until:
            # Not lost, which was the question. Nobody here asked for what it does, or the answer is old.
            put_back(context, tx, job, details, poll_at=None, unconfirmed_until=None)
        case _Meaning.RUNNING if runs_long(context, job):
            _tell_long_running(context, tx, job)
        case _Meaning.RUNNING:
            _show_running(context, tx, job, details)
        case _Meaning.STALE:
            put_back(context, tx, job, details)
        case _Meaning.NOT_CARRIED_OUT:
            put_back(context, tx, job, details, poll_at=None, unconfirmed_until=None)
        case _:
            end, now = JobState(meaning.value), context.clock()
            # A later end may come without the pull request of an earlier one, which is still there.
            link = linkable(answer.pr_link, context.link_hosts) or job.pr_link
            remind_at = now + context.remind_after if context.remind_after and web_address(link) else None
            step = lifecycle.iteration_ended(job, end, now, pr_link=link, remind_at=remind_at)
            end_iteration(context, tx, job, step, details)


def _meaning(job: TrackedJob, answer: Job, now: datetime, stale_seconds: float) -> _Meaning:
    """Return what an answer means for the job's current iteration.

    ``stale_seconds``: the grace period in which *completed* counts as stale, unless the iteration has been
    seen active.
    """
    if answer.is_running:
        return _Meaning.RUNNING
    if job.unconfirmed_until is not None:
        return _Meaning.STALE if now < job.unconfirmed_until else _Meaning.NOT_CARRIED_OUT
    if not job.saw_active and _age_seconds(job, now) < stale_seconds:
        return _Meaning.STALE
    return _end(answer)


def _age_seconds(job: TrackedJob, now: datetime) -> float:
    return (now - (job.iteration_started_at or job.asked_at)).total_seconds()


def _end(answer: Job) -> _Meaning:
    match answer.known_status:
        case JobStatus.COMPLETED:
            return _Meaning.PULL_REQUEST if answer.pr_link else _Meaning.NO_CHANGE
        case JobStatus.FAILED:
            return _Meaning.FAILED
        case JobStatus.ARCHIVED:
            return _Meaning.ARCHIVED
        case JobStatus.ACTIVE | None:
            # ``is_running`` covers these already. Listed so that a new status cannot become an end by chance.
            return _Meaning.RUNNING


def put_back(
    context: WorkerContext,
    tx: Transaction,
    job: TrackedJob,
    details: JobDetails | None = None,
    **fields: Unpack[JobFields],
) -> None:
    """Free the lease of a job without a change of state; the next poll is at the usual time by default."""
    written: JobFields = {
        "poll_at": next_poll_at(context, job),
        "misses": 0,
        "missing_since": None,
        "unread_since": None,
    }
    written.update(fields)
    if details is not None:
        written.update(details.fields())
    tx.jobs.put_back(job.number, context.owner, **written)


def next_poll_at(context: WorkerContext, job: TrackedJob) -> datetime:
    if job.told_running_at:
        return context.after(max(HOURLY_SECONDS, context.pace.max_seconds))
    return context.after(context.pace.wait_seconds(_age_seconds(job, context.clock()), context.chance()))


def runs_long(context: WorkerContext, job: TrackedJob) -> bool:
    limit = context.timeouts.unwatched_seconds if job.told_running_at else context.timeouts.running_seconds
    return _age_seconds(job, context.clock()) >= limit


def minutes_gone(context: WorkerContext, job: TrackedJob) -> int:
    """Return the minutes that the face of a running job should show by now."""
    return minutes_to_show(timedelta(seconds=_age_seconds(job, context.clock())))


def _show_running(
    context: WorkerContext,
    tx: Transaction,
    job: TrackedJob,
    details: JobDetails | None = None,
    **fields: Unpack[JobFields],
) -> None:
    """Put a running job back, and show in its face how long it runs, if that has changed."""
    minutes = minutes_gone(context, job)
    written: JobFields = {"saw_active": True, "shown_minutes": minutes}
    written.update(fields)
    put_back(context, tx, job, details, **written)
    if minutes != job.shown_minutes:
        redraw_face(tx, job.number, context.clock())


def _resume(context: WorkerContext, tx: Transaction, job: TrackedJob, follow_up: Prompt) -> None:
    """Begin an iteration: the job is active, so the follow-up has been carried out."""
    now, poll_at = context.clock(), context.after(context.pace.min_seconds)
    step = lifecycle.iteration_resumed(job, follow_up.asked_by, now, poll_at)
    tx.jobs.apply(job.number, step, owner=context.owner)
    outdate_end(tx, job, now)
    redraw_face(tx, job.number, now)


def _tell_long_running(context: WorkerContext, tx: Transaction, job: TrackedJob) -> None:
    """Tell the thread once that a job is still running; at the age limit, tell it and stop polling."""
    now = context.clock()
    if job.told_running_at is None:
        _show_running(context, tx, job, told_running_at=now)
        reply(tx, job, f"iteration:{job.iteration}:running", say.still_running(job, now), now)
        return
    stop_polling(context, tx, job, say.unwatched(job, now))


def stop_polling(context: WorkerContext, tx: Transaction, job: TrackedJob, message: Message) -> None:
    """Write that a job is polled no more, and tell it."""
    now = context.clock()
    tx.jobs.apply(job.number, lifecycle.unwatched(job, now), owner=context.owner)
    job = redraw_face(tx, job.number, now)
    reply(tx, job, f"iteration:{job.iteration}:end", message, now)


def end_iteration(
    context: WorkerContext, tx: Transaction, job: TrackedJob, step: JobStep, details: JobDetails
) -> None:
    """Write the end of an iteration together with the messages about it."""
    now, state = context.clock(), step.state
    is_new = job.iteration == 1 or (state is JobState.PULL_REQUEST and job.pr_link is None)
    occasion = f"iteration:{job.iteration}"
    if state is JobState.GONE:  # an iteration may end and then be lost, and both are told
        occasion += ":lost"
    occasion += NEW_END if is_new and job.iteration > 1 else ":end"
    tx.jobs.apply(job.number, step, owner=context.owner, **details.fields())
    outdate_end(tx, job, now)
    job = redraw_face(tx, job.number, now)
    is_first = not tx.jobs.offers_pull_request(job)
    message = say.ended(job, now, is_new=is_new, is_first=is_first)
    reply(tx, job, occasion, message, now)
    context.count("ends", state)
    log.info("job_ended", job=job.number, state=state, iteration=job.iteration)
