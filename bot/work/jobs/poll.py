"""The round that looks at running jobs, and writes each end together with the words that tell it."""

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
_TOGETHER = 10
_HOURLY_SECONDS = 3600.0
_MISSES_MEAN_GONE = 2


@dataclass(frozen=True, slots=True)
class Look:
    """One look at one job: what the service said, or how it failed."""

    job: TrackedJob
    misses: int
    answer: Job | DocsApiError


async def poll_jobs(context: WorkerContext) -> int:
    """Look at jobs that are due; what has nothing new is put back in one go.

    Answers 0 when nothing more can be due, so that nobody looks again at once.
    """
    due, held = await context.store.write(lambda tx: _claim(context, tx))
    looks = await asyncio.gather(*(_look(context, job, misses) for job, misses in due))
    failed: list[Exception] = []
    await _try(failed, lambda: _lift_holds(context, looks, held))
    unchanged: list[tuple[JobNumber, datetime]] = []
    answered: list[tuple[TrackedJob, Job]] = []
    for look in looks:
        if isinstance(look.answer, DocsApiError):
            await _try(failed, partial(_settle_failed, context, look, look.answer))
        elif _is_unchanged(context, look):
            unchanged.append((look.job.number, _next_look(context, look.job)))
        else:
            answered.append((look.job, look.answer))
    if unchanged:
        await _try(failed, lambda: _put_all_back(context, unchanged))
    await _settle_all(context, answered, failed)
    if failed:
        # After all others; the schedule counts and logs it.
        raise failed[0]
    return len(due) if len(due) == _AT_ONCE else 0


def _claim(
    context: WorkerContext, tx: Transaction
) -> tuple[Sequence[tuple[TrackedJob, int]], frozenset[ProjectId]]:
    """Claim jobs that are due; return them with their misses, and the projects with a back-off."""
    due = tx.jobs.claim_due(context.claimer(), _AT_ONCE)
    return due, frozenset(tx.back_offs.all() if due else ())


async def _try(failed: list[Exception], write: Callable[[], Awaitable[None]]) -> None:
    """What cannot be written must not keep the rest of what has been found out."""
    is_away = any(isinstance(error, DatabaseTrouble) for error in failed)
    try:
        # The database is waited for once, not for each of fifty.
        await (write() if is_away else retry_on_db_error(write))
    except Exception as error:  # raised at the end of the round
        failed.append(error)


async def _put_all_back(context: WorkerContext, unchanged: Sequence[tuple[JobNumber, datetime]]) -> None:
    await context.store.write(lambda tx: tx.jobs.reschedule(unchanged, context.owner))


async def _look(context: WorkerContext, job: TrackedJob, misses: int) -> Look:
    if job.service_id is None:
        raise LookupError(f"job {job.number} is polled but has not started")
    try:
        answer: Job | DocsApiError = await context.docs.get_job(job.project, job.service_id)
    except DocsApiError as error:
        answer = error
    context.count("polls", "failed" if isinstance(answer, DocsApiError) else "answered")
    return Look(job, misses, answer)


def _is_unchanged(context: WorkerContext, look: Look) -> bool:
    """Still running, nothing to say: by far the most looks."""
    if isinstance(look.answer, DocsApiError) or look.job.doubt_until or look.misses:
        return False
    return look.answer.is_running and not _runs_long(context, look.job)


def _runs_long(context: WorkerContext, job: TrackedJob) -> bool:
    limit = context.timeouts.unwatched_seconds if job.told_running_at else context.timeouts.running_seconds
    return _age_seconds(context, job) >= limit


def _age_seconds(context: WorkerContext, job: TrackedJob) -> float:
    return (context.clock() - (job.iteration_started_at or job.asked_at)).total_seconds()


def _next_look(context: WorkerContext, job: TrackedJob) -> datetime:
    if job.told_running_at:
        return context.after(max(_HOURLY_SECONDS, context.pace.max_seconds))
    return context.after(context.pace.wait_seconds(_age_seconds(context, job), context.chance()))


async def _settle_all(
    context: WorkerContext, answered: Sequence[tuple[TrackedJob, Job]], failed: list[Exception]
) -> None:
    """Some in one transaction: each transaction waits for the disk, and many jobs may end at once."""
    for begin in range(0, len(answered), _TOGETHER):
        few = answered[begin : begin + _TOGETHER]
        try:
            await _settle(context, few)
        except Exception:
            # One that cannot be written must not keep the others: each is tried alone.
            log.warning("not_settled_together", jobs=[job.number for job, _ in few], exc_info=True)
            for one in few:
                await _try(failed, partial(_settle, context, [one]))


async def _settle(context: WorkerContext, answered: Sequence[tuple[TrackedJob, Job]]) -> None:
    def settle(tx: Transaction) -> None:
        for job, answer in answered:
            try:
                _settle_answer(context, tx, job, answer)
            except LeaseLost:
                # The job's own row is written first, so nothing of it has been written.
                _taken_over(job)

    await context.store.write(settle)
    context.wake()


async def _settle_failed(context: WorkerContext, look: Look, error: DocsApiError) -> None:
    try:
        await context.store.write(lambda tx: _settle_error(context, tx, look, error))
    except LeaseLost:
        _taken_over(look.job)
        return
    context.wake()


def _taken_over(job: TrackedJob) -> None:
    """A follow-up began a new round meanwhile, or another process took over."""
    log.info("poll_taken_over", job=job.number)


def _put_back(context: WorkerContext, tx: Transaction, job: TrackedJob, **fields: Unpack[JobFields]) -> None:
    """Free the lease of a job that stays as it is; it is polled again at the usual time, if not said."""
    written: JobFields = {"poll_at": _next_look(context, job), "misses": 0}
    written.update(fields)
    tx.jobs.put_back(job.number, context.owner, **written)


def _settle_answer(context: WorkerContext, tx: Transaction, job: TrackedJob, answer: Job) -> None:
    result = classify(job, answer, context.clock(), context.timeouts.stale_seconds)
    match result:
        case PollResult.RUNNING if job.doubt_until:
            _doubt_resolved(context, tx, job)
        case PollResult.RUNNING if _runs_long(context, job):
            _runs_on(context, tx, job)
        case PollResult.RUNNING:
            _put_back(context, tx, job, saw_active=True)
        case PollResult.STALE:
            _put_back(context, tx, job)
        case PollResult.NOT_CARRIED_OUT:
            _put_back(context, tx, job, poll_at=None, doubt_until=None)
        case _:
            end, source = JobState(result.value), source_of(answer)
            now, link = context.clock(), answer.pr_link
            _end(context, tx, job, lifecycle.iteration_ended(job, end, now, pr_link=link, source=source))


def _doubt_resolved(context: WorkerContext, tx: Transaction, job: TrackedJob) -> None:
    """A follow-up in doubt was carried out after all: its round has begun, for who asked for it."""
    now, doubted = context.clock(), tx.prompts.last_unconfirmed(job.number)
    poll_at = context.after(context.pace.min_seconds)
    step = lifecycle.iteration_resumed(job, doubted.asked_by if doubted else None, now, poll_at)
    tx.jobs.apply(job.number, step, owner=context.owner)
    redraw_face(tx, job.number, now)


def _runs_on(context: WorkerContext, tx: Transaction, job: TrackedJob) -> None:
    """Half an hour: say so once. Seven days: say that we stop looking."""
    now = context.clock()
    if job.told_running_at is None:
        _put_back(context, tx, job, saw_active=True, told_running_at=now)
        reply(tx, job, f"round:{job.iteration}:running", say.still_running(job, now), now)
        return
    tx.jobs.apply(job.number, lifecycle.unwatched(job, now), owner=context.owner)
    job = redraw_face(tx, job.number, now)
    reply(tx, job, f"round:{job.iteration}:end", say.unwatched(job, now), now)


def _end(context: WorkerContext, tx: Transaction, job: TrackedJob, step: JobStep) -> None:
    """Write the end of an iteration together with what tells it."""
    now, state = context.clock(), step.state
    tx.jobs.apply(job.number, step, owner=context.owner)
    job = redraw_face(tx, job.number, now)
    reply(tx, job, f"round:{job.iteration}:end", say.ended(job, now), now)
    context.count("ends", state)
    log.info("job_ended", job=job.number, state=state, iteration=job.iteration)


def _settle_error(context: WorkerContext, tx: Transaction, look: Look, error: DocsApiError) -> None:
    """The service's health says nothing about a job; only 404, twice in a row, does."""
    job = look.job
    if isinstance(error, NotFound):
        if look.misses + 1 >= _MISSES_MEAN_GONE:
            _end(context, tx, job, lifecycle.lost(job, context.clock()))
        else:
            _put_back(context, tx, job, misses=look.misses + 1)
        return
    if is_key_problem(error):
        until = key_refused(context, tx, job.project, error, wrote=False)
        _put_back(context, tx, job, poll_at=until, misses=look.misses)
        return
    attempts = tx.back_offs.attempts(job.project) + 1
    wait_seconds = back_off_seconds(attempts, context.chance(), first=context.pace.min_seconds)
    if isinstance(error, RateLimited | Unavailable) and error.retry_after_seconds is not None:
        wait_seconds = max(error.retry_after_seconds, 1.0)
    until = context.after(wait_seconds)
    tx.back_offs.put(job.project, until, attempts, type(error).__name__)
    _put_back(context, tx, job, poll_at=until, misses=look.misses)
    log.warning("docs_service_unwell", project=job.project, reason=type(error).__name__, attempts=attempts)


async def _lift_holds(context: WorkerContext, looks: Sequence[Look], held: frozenset[ProjectId]) -> None:
    """An answer means that the service is well again."""
    answered = {look.job.project for look in looks if not isinstance(look.answer, DocsApiError)}
    well = sorted(answered & held)

    def lift(tx: Transaction) -> None:
        for project in well:
            service_is_well(context, tx, project, wrote=False)

    if well:
        await context.store.write(lift)
        context.wake()
