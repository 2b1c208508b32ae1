"""The worker that polls running jobs, and writes each change together with the messages about it."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import structlog

from bot.docs_api import DocsApiError, Job, Unavailable
from bot.model.ids import JobNumber, ProjectId
from bot.model.jobs import TrackedJob
from bot.store import DatabaseTrouble, LeaseLost, Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.key_health import service_is_well
from bot.work.jobs.settle_answer import minutes_gone, next_poll_at, runs_long, settle_answer
from bot.work.jobs.settle_error import settle_error
from bot.work.jobs.transitions import details_of
from bot.work.retry import retry_on_db_error
from bot.work.tasks import run_as_claimed

log = structlog.get_logger(__name__)
_AT_ONCE = 50
"""How many jobs are claimed at once. Of a project with so many under way none are claimed."""
_GROUP_SIZE = 10
_SLOW_SECONDS = 1.0
"""Pause before the next claim while polls are under way, after a claim without jobs."""
_TOGETHER_SECONDS = 0.25
"""How long answers are collected, to be written together, while others of the same claim are slow."""
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


@dataclass(frozen=True, slots=True)
class _Group:
    """Jobs of one project that were claimed together. ``backs_off``: the project has a back-off, now over."""

    project: ProjectId
    jobs: Sequence[_Claimed]
    backs_off: bool


@dataclass(slots=True)
class _Run:
    """One run of the worker. ``under_way``: how many jobs of each project wait for their answers.

    ``failed``: what went wrong, collected so that the results of other jobs are written nevertheless.
    """

    context: WorkerContext
    under_way: Counter[ProjectId] = field(default_factory=Counter)
    failed: list[Exception] = field(default_factory=list)
    may_be_more: bool = True

    async def claim(self, running: int) -> Sequence[_Group]:
        if _is_away(self.failed) or not (running or self.may_be_more):
            return ()
        busy = [project for project, count in self.under_way.items() if count >= _AT_ONCE]
        due, backing_off = await self.context.store.write(lambda tx: _claim(self.context, tx, busy))
        self.may_be_more = bool(busy) or len(due) == _AT_ONCE
        projects: defaultdict[ProjectId, list[_Claimed]] = defaultdict(list)
        for job, misses in due:
            projects[job.project].append((job, misses))
        self.under_way.update(job.project for job, _ in due)
        return [_Group(project, jobs, project in backing_off) for project, jobs in projects.items()]

    async def poll(self, group: _Group) -> None:
        """Poll jobs and write the answers as they come.

        A failed poll is written when another job has been answered, or when there is nothing more to come:
        what it means depends on that.
        """
        failing, is_well = list[Poll](), False
        async with asyncio.TaskGroup() as tasks:
            pending = {
                tasks.create_task(_poll(self.context, job, misses, self._limit_seconds(job)))
                for job, misses in group.jobs
            }
            while pending:
                done, pending = await asyncio.wait(pending, timeout=_TOGETHER_SECONDS)
                self.under_way[group.project] -= len(done)
                polls = sorted((task.result() for task in done), key=lambda poll: poll.job.number)
                answered = [(poll, poll.answer) for poll in polls if not isinstance(poll.answer, Exception)]
                failing += [poll for poll in polls if isinstance(poll.answer, Exception)]
                if answered:
                    await self._settle_answered(group, answered, is_first=not is_well)
                    is_well = True
                if is_well or not pending:
                    await self._settle_failing(failing, is_well=is_well)
                    failing = []

    def _limit_seconds(self, job: TrackedJob) -> float | None:
        """Return how long a poll may take; None for as long as any call.

        The service may always be slow about a job, so one that could not be read gets the time while others
        have room.
        """
        has_room = self.under_way[job.project] <= _AT_ONCE // 2
        return None if job.unread_since and has_room else self.context.timeouts.poll_seconds

    async def _settle_answered(
        self, group: _Group, answered: Sequence[tuple[Poll, Job]], *, is_first: bool
    ) -> None:
        context = self.context
        context.answered[group.project] = context.clock()
        if is_first and group.backs_off:
            await _collect_error(self.failed, partial(_end_back_off, context, group.project))
        news = list[tuple[Poll, Job]]()
        unchanged = list[tuple[JobNumber, datetime]]()
        for poll, answer in answered:
            if _is_unchanged(context, poll.job, poll.misses, answer):
                unchanged.append((poll.job.number, next_poll_at(context, poll.job)))
            else:
                news.append((poll, answer))
        await _settle_all(context, news, self.failed)
        if unchanged:
            await _collect_error(self.failed, partial(_reschedule, context, unchanged))

    async def _settle_failing(self, failing: Sequence[Poll], *, is_well: bool) -> None:
        for poll in failing:
            if isinstance(poll.answer, Exception):
                settle = partial(_settle_failed, self.context, poll, poll.answer, is_well=is_well)
                await _collect_error(self.failed, settle)


async def poll_jobs(context: WorkerContext) -> int:
    """Poll the jobs that are due, the most overdue first, also those that become due meanwhile.

    No job's end waits for the answer about another one. Jobs without news are rescheduled together. Return 0,
    so that the worker does not run again at once.
    """
    run = _Run(context)
    await run_as_claimed(run.claim, run.poll, slow_seconds=_SLOW_SECONDS)
    if run.failed:
        # Raised after the other jobs are written; the scheduler counts and logs it.
        raise run.failed[0]
    return 0


def _claim(
    context: WorkerContext, tx: Transaction, busy: Collection[ProjectId]
) -> tuple[Sequence[_Claimed], frozenset[ProjectId]]:
    """Claim the jobs that are due. Return them with their misses, and the projects that have a back-off."""
    due = tx.jobs.claim_due(context.claimer(), _AT_ONCE, besides=busy)
    return due, frozenset(tx.back_offs.all() if due else ())


async def _collect_error(failed: list[Exception], write: Callable[[], Awaitable[None]]) -> None:
    """Run a write and collect its error, so that the results of other jobs are written nevertheless."""
    try:
        # Retry only until the first write has given up: waiting for each of fifty jobs would take too long.
        await (write() if _is_away(failed) else retry_on_db_error(write))
    except Exception as error:  # raised at the end of the run
        failed.append(error)


def _is_away(failed: Sequence[Exception]) -> bool:
    return any(isinstance(error, DatabaseTrouble) for error in failed)


async def _reschedule(context: WorkerContext, unchanged: Sequence[tuple[JobNumber, datetime]]) -> None:
    await context.store.write(lambda tx: tx.jobs.reschedule(unchanged, context.owner))


async def _poll(context: WorkerContext, job: TrackedJob, misses: int, limit_seconds: float | None) -> Poll:
    try:
        answer: Job | Exception = await _ask(context, job, limit_seconds)
    except DocsApiError as error:
        answer = error
    except Exception as error:  # of this job alone; it must not stop the polls of others
        log.exception("poll_broke", job=job.number)
        answer = error
    context.count("polls", "failed" if isinstance(answer, Exception) else "answered")
    return Poll(job, misses, answer)


async def _ask(context: WorkerContext, job: TrackedJob, limit_seconds: float | None) -> Job:
    if job.service_id is None:
        raise LookupError(f"job {job.number} is polled but has not started")
    try:
        async with asyncio.timeout(limit_seconds):
            return await context.docs.get_job(job.project, job.service_id)
    except TimeoutError:
        raise Unavailable("The service did not answer in time", sent=True) from None


def _is_unchanged(context: WorkerContext, job: TrackedJob, misses: int, answer: Job) -> bool:
    """Return whether the job still runs and there is nothing to tell or to note, as with most polls."""
    if job.unconfirmed_until or misses or job.unread_since:
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
        except Exception as error:
            # Each is written alone, so that one that fails does not prevent the others.
            numbers, is_ours = [poll.job.number for poll, _ in group], not isinstance(error, DatabaseTrouble)
            reason = type(error).__name__
            log.warning("not_settled_together", jobs=numbers, reason=reason, exc_info=is_ours)
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
        # Before what is said of them, as everybody does who changes a job and says something of it.
        tx.jobs.lock([poll.job.number for poll, _ in answered])
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
    is_well = is_well or _others_are_answered(context, poll.job)
    try:
        await context.store.write(
            lambda tx: settle_error(context, tx, poll.job, poll.misses, error, is_well=is_well)
        )
    except LeaseLost:
        _log_taken_over(poll.job)
        return
    context.wake()


def _others_are_answered(context: WorkerContext, job: TrackedJob) -> bool:
    """Return whether the service has answered for other jobs of the project since this one cannot be read."""
    answered_at = context.answered.get(job.project)
    return job.unread_since is not None and answered_at is not None and answered_at > job.unread_since


def _log_taken_over(job: TrackedJob) -> None:
    """Log a lost lease: a follow-up began a new iteration, or another process claimed the job."""
    log.info("poll_taken_over", job=job.number)


async def _end_back_off(context: WorkerContext, project: ProjectId) -> None:
    """End the back-off of a project for which the service has answered."""
    await context.store.write(lambda tx: service_is_well(context, tx, project, wrote=False))
    context.wake()
