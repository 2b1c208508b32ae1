"""The worker that polls running jobs, and writes each change together with the messages about it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Unpack

import structlog

from bot.docs_api import DocsApiError, Job, NotFound, RateLimited, Unavailable
from bot.messages import jobs as say
from bot.messages.blocks import linkable
from bot.model import (
    JobFields,
    JobNumber,
    JobState,
    JobStep,
    ProjectId,
    TrackedJob,
    back_off_seconds,
    lifecycle,
)
from bot.store import DatabaseTrouble, LeaseLost, Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.key_health import is_key_problem, key_refused, service_is_well
from bot.work.jobs.status import PollResult, classify
from bot.work.jobs.thread_messages import redraw_face, reply
from bot.work.jobs.transitions import source_of
from bot.work.retry import retry_on_db_error

log = structlog.get_logger(__name__)
_AT_ONCE = 50
_GROUP_SIZE = 10
_HOURLY_SECONDS = 3600.0
_MISSES_MEAN_GONE = 2
"""A job counts as gone after so many 404 answers in a row."""


@dataclass(frozen=True, slots=True)
class Poll:
    """One poll of a job. ``misses``: the number of 404 answers in a row before this one."""

    job: TrackedJob
    misses: int
    answer: Job | DocsApiError


async def poll_jobs(context: WorkerContext) -> int:
    """Poll the jobs that are due. Jobs without news are rescheduled together in one transaction.

    Return 0 if no more jobs can be due, so that the worker does not run again at once.
    """
    due, backing_off = await context.store.write(lambda tx: _claim(context, tx))
    polls = await asyncio.gather(*(_poll(context, job, misses) for job, misses in due))
    failed: list[Exception] = []
    await _collect_error(failed, lambda: _end_back_offs(context, polls, backing_off))
    unchanged: list[tuple[JobNumber, datetime]] = []
    answered: list[tuple[TrackedJob, Job]] = []
    for poll in polls:
        if isinstance(poll.answer, DocsApiError):
            await _collect_error(failed, partial(_settle_failed, context, poll, poll.answer))
        elif _is_unchanged(context, poll):
            unchanged.append((poll.job.number, _next_poll_at(context, poll.job)))
        else:
            answered.append((poll.job, poll.answer))
    if unchanged:
        await _collect_error(failed, lambda: _reschedule(context, unchanged))
    await _settle_all(context, answered, failed)
    if failed:
        # Raised after the other jobs are written; the scheduler counts and logs it.
        raise failed[0]
    return len(due) if len(due) == _AT_ONCE else 0


def _claim(
    context: WorkerContext, tx: Transaction
) -> tuple[Sequence[tuple[TrackedJob, int]], frozenset[ProjectId]]:
    """Claim the jobs that are due. Return them with their misses, and the projects that have a back-off."""
    due = tx.jobs.claim_due(context.claimer(), _AT_ONCE)
    return due, frozenset(tx.back_offs.all() if due else ())


async def _collect_error(failed: list[Exception], write: Callable[[], Awaitable[None]]) -> None:
    """Run a write and collect its error, so that the results of other jobs are written nevertheless."""
    is_away = any(isinstance(error, DatabaseTrouble) for error in failed)
    try:
        # Retry only until the first write has given up: waiting for each of fifty jobs would take too long.
        await (write() if is_away else retry_on_db_error(write))
    except Exception as error:  # raised at the end of the run
        failed.append(error)


async def _reschedule(context: WorkerContext, unchanged: Sequence[tuple[JobNumber, datetime]]) -> None:
    await context.store.write(lambda tx: tx.jobs.reschedule(unchanged, context.owner))


async def _poll(context: WorkerContext, job: TrackedJob, misses: int) -> Poll:
    if job.service_id is None:
        raise LookupError(f"job {job.number} is polled but has not started")
    try:
        answer: Job | DocsApiError = await context.docs.get_job(job.project, job.service_id)
    except DocsApiError as error:
        answer = error
    context.count("polls", "failed" if isinstance(answer, DocsApiError) else "answered")
    return Poll(job, misses, answer)


def _is_unchanged(context: WorkerContext, poll: Poll) -> bool:
    """Return whether the job still runs and there is nothing to tell, as with most polls."""
    if isinstance(poll.answer, DocsApiError) or poll.job.doubt_until or poll.misses:
        return False
    return poll.answer.is_running and not _runs_long(context, poll.job)


def _runs_long(context: WorkerContext, job: TrackedJob) -> bool:
    limit = context.timeouts.unwatched_seconds if job.told_running_at else context.timeouts.running_seconds
    return _age_seconds(context, job) >= limit


def _age_seconds(context: WorkerContext, job: TrackedJob) -> float:
    return (context.clock() - (job.iteration_started_at or job.asked_at)).total_seconds()


def _next_poll_at(context: WorkerContext, job: TrackedJob) -> datetime:
    if job.told_running_at:
        return context.after(max(_HOURLY_SECONDS, context.pace.max_seconds))
    return context.after(context.pace.wait_seconds(_age_seconds(context, job), context.chance()))


async def _settle_all(
    context: WorkerContext, answered: Sequence[tuple[TrackedJob, Job]], failed: list[Exception]
) -> None:
    """Write answers in groups, because each transaction waits for the disk and many jobs may end at once."""
    for begin in range(0, len(answered), _GROUP_SIZE):
        group = answered[begin : begin + _GROUP_SIZE]
        try:
            await _settle(context, group)
        except Exception:
            # Each is written alone, so that one that fails does not prevent the others.
            log.warning("not_settled_together", jobs=[job.number for job, _ in group], exc_info=True)
            for one in group:
                await _collect_error(failed, partial(_settle, context, [one]))


async def _settle(context: WorkerContext, answered: Sequence[tuple[TrackedJob, Job]]) -> None:
    def settle(tx: Transaction) -> None:
        for job, answer in answered:
            try:
                _settle_answer(context, tx, job, answer)
            except LeaseLost:
                # The job's row is written first, so nothing else about this job has been written.
                _log_taken_over(job)

    await context.store.write(settle)
    context.wake()


async def _settle_failed(context: WorkerContext, poll: Poll, error: DocsApiError) -> None:
    try:
        await context.store.write(lambda tx: _settle_error(context, tx, poll, error))
    except LeaseLost:
        _log_taken_over(poll.job)
        return
    context.wake()


def _log_taken_over(job: TrackedJob) -> None:
    """Log a lost lease: a follow-up began a new iteration, or another process claimed the job."""
    log.info("poll_taken_over", job=job.number)


def _put_back(context: WorkerContext, tx: Transaction, job: TrackedJob, **fields: Unpack[JobFields]) -> None:
    """Free the lease of a job without a change of state; the next poll is at the usual time by default."""
    written: JobFields = {"poll_at": _next_poll_at(context, job), "misses": 0}
    written.update(fields)
    tx.jobs.put_back(job.number, context.owner, **written)


def _settle_answer(context: WorkerContext, tx: Transaction, job: TrackedJob, answer: Job) -> None:
    result = classify(job, answer, context.clock(), context.timeouts.stale_seconds)
    match result:
        case PollResult.RUNNING if job.doubt_until:
            _resume(context, tx, job)
        case PollResult.RUNNING if _runs_long(context, job):
            _tell_long_running(context, tx, job)
        case PollResult.RUNNING:
            _put_back(context, tx, job, saw_active=True)
        case PollResult.STALE:
            _put_back(context, tx, job)
        case PollResult.NOT_CARRIED_OUT:
            _put_back(context, tx, job, poll_at=None, doubt_until=None)
        case _:
            end, source = JobState(result.value), source_of(answer)
            now, link = context.clock(), linkable(answer.pr_link, context.link_hosts)
            _end(context, tx, job, lifecycle.iteration_ended(job, end, now, pr_link=link, source=source))


def _resume(context: WorkerContext, tx: Transaction, job: TrackedJob) -> None:
    """Begin an iteration: the job is active, so its unconfirmed follow-up has been carried out."""
    now, unconfirmed = context.clock(), tx.prompts.last_unconfirmed(job.number)
    poll_at = context.after(context.pace.min_seconds)
    step = lifecycle.iteration_resumed(job, unconfirmed.asked_by if unconfirmed else None, now, poll_at)
    tx.jobs.apply(job.number, step, owner=context.owner)
    redraw_face(tx, job.number, now)


def _tell_long_running(context: WorkerContext, tx: Transaction, job: TrackedJob) -> None:
    """Tell the thread once that a job is still running; at the age limit, tell it and stop polling."""
    now = context.clock()
    if job.told_running_at is None:
        _put_back(context, tx, job, saw_active=True, told_running_at=now)
        reply(tx, job, f"round:{job.iteration}:running", say.still_running(job, now), now)
        return
    tx.jobs.apply(job.number, lifecycle.unwatched(job, now), owner=context.owner)
    job = redraw_face(tx, job.number, now)
    reply(tx, job, f"round:{job.iteration}:end", say.unwatched(job, now), now)


def _end(context: WorkerContext, tx: Transaction, job: TrackedJob, step: JobStep) -> None:
    """Write the end of an iteration together with the messages about it."""
    now, state = context.clock(), step.state
    tx.jobs.apply(job.number, step, owner=context.owner)
    job = redraw_face(tx, job.number, now)
    reply(tx, job, f"round:{job.iteration}:end", say.ended(job, now), now)
    context.count("ends", state)
    log.info("job_ended", job=job.number, state=state, iteration=job.iteration)


def _settle_error(context: WorkerContext, tx: Transaction, poll: Poll, error: DocsApiError) -> None:
    """Write a failed poll. Two 404 answers in a row end the job; other errors back off from the project."""
    job = poll.job
    if isinstance(error, NotFound):
        if poll.misses + 1 >= _MISSES_MEAN_GONE:
            _end(context, tx, job, lifecycle.lost(job, context.clock()))
        else:
            _put_back(context, tx, job, misses=poll.misses + 1)
        return
    if is_key_problem(error):
        until = key_refused(context, tx, job.project, error, wrote=False)
        _put_back(context, tx, job, poll_at=until, misses=poll.misses)
        return
    attempts = tx.back_offs.attempts(job.project) + 1
    wait_seconds = back_off_seconds(attempts, context.chance(), first=context.pace.min_seconds)
    if isinstance(error, RateLimited | Unavailable) and error.retry_after_seconds is not None:
        wait_seconds = max(error.retry_after_seconds, 1.0)
    until = context.after(wait_seconds)
    tx.back_offs.put(job.project, until, attempts, type(error).__name__)
    _put_back(context, tx, job, poll_at=until, misses=poll.misses)
    log.warning("docs_service_unwell", project=job.project, reason=type(error).__name__, attempts=attempts)


async def _end_back_offs(
    context: WorkerContext, polls: Sequence[Poll], backing_off: frozenset[ProjectId]
) -> None:
    """End the back-offs of projects for which the service has answered."""
    answered = {poll.job.project for poll in polls if not isinstance(poll.answer, DocsApiError)}
    well = sorted(answered & backing_off)

    def lift(tx: Transaction) -> None:
        for project in well:
            service_is_well(context, tx, project, wrote=False)

    if well:
        await context.store.write(lift)
        context.wake()
