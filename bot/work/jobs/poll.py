"""The worker that polls running jobs, and writes each change together with the messages about it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.docs_api import DocsApiError, Job
from bot.model import JobNumber, JobState, ProjectId, TrackedJob
from bot.store import DatabaseTrouble, LeaseLost, Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.key_health import service_is_well
from bot.work.jobs.settle_answer import minutes_gone, next_poll_at, runs_long, settle_answer
from bot.work.jobs.settle_error import settle_error
from bot.work.jobs.transitions import details_of
from bot.work.retry import retry_on_db_error
from bot.work.tasks import run_all

log = structlog.get_logger(__name__)
_AT_ONCE = 50
_GROUP_SIZE = 10
LEARNED_FROM = 200
"""The number of a project's latest finished jobs from which it learns its pace, every `_LEARNED_FOR`."""
_LEARNED_FOR = timedelta(minutes=10)
_Claimed = tuple[TrackedJob, int]
"""A job to poll, with its misses (see `Poll`)."""


@dataclass(frozen=True, slots=True)
class Poll:
    """One poll of a job. ``misses``: the number of 404 answers in a row before this one.

    ``answer``: an error if there was no answer, or if it could not be written.
    """

    job: TrackedJob
    misses: int
    answer: Job | Exception


async def poll_jobs(context: WorkerContext) -> int:
    """Poll the jobs that are due. Jobs without news are rescheduled together in one transaction.

    Each project's answers are written when all of them are there, so that no job's end waits for the service
    of another project. Return 0 if no more jobs can be due, so that the worker does not run again at once.
    """
    due, backing_off = await context.store.write(lambda tx: _claim(context, tx))
    projects: defaultdict[ProjectId, list[_Claimed]] = defaultdict(list)
    for job, misses in due:
        projects[job.project].append((job, misses))
    failed: list[Exception] = []
    await run_all(
        *(_poll_project(context, jobs, failed, project in backing_off) for project, jobs in projects.items())
    )
    if failed:
        # Raised after the other jobs are written; the scheduler counts and logs it.
        raise failed[0]
    return len(due) if len(due) == _AT_ONCE else 0


async def _poll_project(
    context: WorkerContext, jobs: Sequence[_Claimed], failed: list[Exception], backs_off: bool
) -> None:
    """Poll jobs of one project and write the answers; collect in ``failed`` what goes wrong meanwhile."""
    polls = await asyncio.gather(*(_poll(context, job, misses) for job, misses in jobs))
    is_well = not all(isinstance(poll.answer, Exception) for poll in polls)
    if is_well and backs_off:
        await _collect_error(failed, partial(_end_back_off, context, polls[0].job.project))
    unchanged: list[tuple[JobNumber, datetime]] = []
    answered: list[tuple[Poll, Job]] = []
    for poll in polls:
        if isinstance(poll.answer, Exception):
            await _collect_error(failed, partial(_settle_failed, context, poll, poll.answer, is_well=is_well))
        elif _is_unchanged(context, poll.job, poll.misses, poll.answer):
            unchanged.append((poll.job.number, next_poll_at(context, poll.job)))
        else:
            answered.append((poll, poll.answer))
    if unchanged:
        await _collect_error(failed, lambda: _reschedule(context, unchanged))
    await _settle_all(context, answered, failed)


def _claim(context: WorkerContext, tx: Transaction) -> tuple[Sequence[_Claimed], frozenset[ProjectId]]:
    """Claim the jobs that are due. Return them with their misses, and the projects that have a back-off."""
    due = tx.jobs.claim_due(context.claimer(), _AT_ONCE)
    for project in {job.project for job, _ in due}:
        _learn(context, tx, project)
    return due, frozenset(tx.back_offs.all() if due else ())


def _learn(context: WorkerContext, tx: Transaction, project: ProjectId) -> None:
    """Take the pace for a project from how long its latest jobs took, anew every ten minutes."""
    now, known = context.clock(), context.learned.get(project)
    if known is None or now - known[0] >= _LEARNED_FOR:
        context.learned[project] = now, context.pace.learned(tx.jobs.lasted(project, LEARNED_FROM))


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
    try:
        if job.service_id is None:
            raise LookupError(f"job {job.number} is polled but has not started")
        answer: Job | Exception = await context.docs.get_job(job.project, job.service_id)
    except DocsApiError as error:
        answer = error
    except Exception as error:  # of this job alone; it must not stop the polls of others
        log.exception("poll_broke", job=job.number)
        answer = error
    context.count("polls", "failed" if isinstance(answer, Exception) else "answered")
    return Poll(job, misses, answer)


def _is_unchanged(context: WorkerContext, job: TrackedJob, misses: int, answer: Job) -> bool:
    """Return whether the job still runs and there is nothing to tell or to note, as with most polls."""
    if job.doubt_until or misses or job.unread_since or job.state is JobState.GONE:
        return False
    is_noted = details_of(context, job, answer) == job.details
    is_shown = minutes_gone(context, job) == job.shown_minutes
    return answer.is_running and is_noted and is_shown and not runs_long(context, job)


async def _settle_all(
    context: WorkerContext, answered: Sequence[tuple[Poll, Job]], failed: list[Exception]
) -> None:
    """Write answers in groups, because each transaction waits for the disk and many jobs may end at once."""
    for begin in range(0, len(answered), _GROUP_SIZE):
        group = answered[begin : begin + _GROUP_SIZE]
        try:
            await _settle(context, group)
        except Exception:
            # Each is written alone, so that one that fails does not prevent the others.
            log.warning("not_settled_together", jobs=[poll.job.number for poll, _ in group], exc_info=True)
            for poll, answer in group:
                await _collect_error(failed, partial(_settle_alone, context, poll, answer))


async def _settle_alone(context: WorkerContext, poll: Poll, answer: Job) -> None:
    """Write one answer. If that fails although the database works, the poll counts as failed."""
    try:
        await _settle(context, [(poll, answer)])
    except DatabaseTrouble:
        raise
    except Exception as error:
        await _settle_failed(context, poll, error, is_well=True)
        raise


async def _settle(context: WorkerContext, answered: Sequence[tuple[Poll, Job]]) -> None:
    def settle(tx: Transaction) -> None:
        for poll, answer in answered:
            try:
                settle_answer(context, tx, poll.job, answer)
            except LeaseLost:
                # The job's row is written first, so nothing else about this job has been written.
                _log_taken_over(poll.job)

    await context.store.write(settle)
    context.wake()


async def _settle_failed(context: WorkerContext, poll: Poll, error: Exception, *, is_well: bool) -> None:
    """Write a failed poll. ``is_well``: the service has answered for another job of the project just now."""
    try:
        await context.store.write(
            lambda tx: settle_error(context, tx, poll.job, poll.misses, error, is_well=is_well)
        )
    except LeaseLost:
        _log_taken_over(poll.job)
        return
    context.wake()


def _log_taken_over(job: TrackedJob) -> None:
    """Log a lost lease: a follow-up began a new iteration, or another process claimed the job."""
    log.info("poll_taken_over", job=job.number)


async def _end_back_off(context: WorkerContext, project: ProjectId) -> None:
    """End the back-off of a project for which the service has answered."""
    await context.store.write(lambda tx: service_is_well(context, tx, project, wrote=False))
    context.wake()
