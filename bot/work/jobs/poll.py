"""The worker that polls running jobs, and writes each change together with the messages about it."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog

from bot.docs_api import DocsApiError, Job, Unavailable
from bot.model.ids import JobNumber, ProjectId
from bot.model.jobs import TrackedJob
from bot.store import DatabaseTrouble, Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.service_health import service_is_well
from bot.work.jobs.settle_poll import is_unchanged, next_poll_at, settle_answer, settle_error
from bot.work.writing import run_as_claimed, unless_taken_over

log = structlog.get_logger(__name__)
_AT_ONCE = 50
"""How many jobs are claimed at once. Of a project with so many under way none are claimed."""
_GROUP_SIZE = 10
_SLOW_SECONDS = 1.0
"""Pause before the next claim while polls are under way, after a claim without jobs."""
_TOGETHER_SECONDS = 0.25
"""How long answers are collected, to be written together, while others of the same claim are slow."""
_Answered = tuple[TrackedJob, Job]
_Failed = tuple[TrackedJob, Exception]


class _Group(NamedTuple):
    """Jobs of one project that were claimed together. ``backs_off``: the project has a back-off, now over."""

    project: ProjectId
    jobs: Sequence[TrackedJob]
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
        """Claim the jobs that are due, in groups. A project that is slow keeps no other one waiting."""
        if self._database_is_away() or not (running or self.may_be_more):
            return ()
        busy = [project for project, count in self.under_way.items() if count >= _AT_ONCE]
        due, backing_off = await self.context.store.write(lambda tx: self._claim(tx, busy))
        self.may_be_more = bool(busy) or len(due) == _AT_ONCE
        projects: defaultdict[ProjectId, list[TrackedJob]] = defaultdict(list)
        for job in due:
            projects[job.project].append(job)
        self.under_way.update(job.project for job in due)
        return [_Group(project, jobs, project in backing_off) for project, jobs in projects.items()]

    def _claim(
        self, tx: Transaction, busy: Collection[ProjectId]
    ) -> tuple[Sequence[TrackedJob], Collection[ProjectId]]:
        due = tx.jobs.claim_due(self.context.claimer(), _AT_ONCE, besides=busy)
        return due, tx.back_offs.all() if due else ()

    def _database_is_away(self) -> bool:
        return any(isinstance(error, DatabaseTrouble) for error in self.failed)

    async def poll(self, group: _Group) -> None:
        """Poll jobs and write the answers as they come.

        A failed poll is written when another job has been answered, or when there is nothing more to come:
        what it means depends on that.
        """
        failing, is_well = list[_Failed](), False
        async with asyncio.TaskGroup() as tasks:
            pending = {tasks.create_task(self._poll(job, self._limit_seconds(job))) for job in group.jobs}
            while pending:
                done, pending = await asyncio.wait(pending, timeout=_TOGETHER_SECONDS)
                self.under_way[group.project] -= len(done)
                polls = sorted((task.result() for task in done), key=lambda poll: poll[0].number)
                answered = [(job, answer) for job, answer in polls if isinstance(answer, Job)]
                failing += [(job, error) for job, error in polls if isinstance(error, Exception)]
                if answered:
                    await self._settle_answered(group, answered, is_first=not is_well)
                    is_well = True
                if is_well or not pending:
                    for job, error in failing:
                        await self._settle_failed(job, error, is_well=is_well)
                    failing = []

    def _limit_seconds(self, job: TrackedJob) -> float | None:
        """Return how long a poll may take; None for as long as any call.

        The service may always be slow about a job, so one that could not be read gets the time while others
        have room.
        """
        has_room = self.under_way[job.project] <= _AT_ONCE // 2
        return None if job.unread_since and has_room else self.context.timeouts.poll_seconds

    async def _poll(self, job: TrackedJob, limit_seconds: float | None) -> tuple[TrackedJob, Job | Exception]:
        try:
            answer: Job | Exception = await _ask(self.context, job, limit_seconds)
        except DocsApiError as error:
            answer = error
        except Exception as error:  # of this job alone; it must not stop the polls of others
            log.exception("poll_broke", job=job.number)
            answer = error
        self.context.count("polls", "failed" if isinstance(answer, Exception) else "answered")
        return job, answer

    async def _settle_answered(self, group: _Group, answered: Sequence[_Answered], *, is_first: bool) -> None:
        """Write answers in groups, because each transaction waits for the disk and many jobs may end at once.

        Jobs without news are rescheduled together.
        """
        context = self.context
        context.answered[group.project] = context.clock()
        if is_first and group.backs_off:
            await self._write(lambda tx: service_is_well(context, tx, group.project, wrote=False))
        unchanged = {job.number: job for job, answer in answered if is_unchanged(context, job, answer)}
        news = [each for each in answered if each[0].number not in unchanged]
        for begin in range(0, len(news), _GROUP_SIZE):
            await self._settle(news[begin : begin + _GROUP_SIZE])
        if unchanged:
            next_polls = [(number, next_poll_at(context, job)) for number, job in unchanged.items()]
            await self._write(lambda tx: tx.jobs.reschedule(next_polls, context.owner), is_news=False)

    async def _settle(self, answered: Sequence[_Answered]) -> None:
        """Write answers together; if that fails each alone, so that one that fails does not stop the others.

        An answer that cannot be written although the database works counts as a failed poll.
        """

        def settle(tx: Transaction) -> None:
            # Before what is said of them, as everybody does who changes a job and says something of it.
            tx.jobs.lock([job.number for job, _ in answered])
            for job, answer in answered:
                # The job's row is written first, so nothing else about a job that was taken over is written.
                with unless_taken_over("job", job.number):
                    settle_answer(self.context, tx, job, answer)

        if len(answered) == 1:
            [(job, _)] = answered
            error = await self._write(settle)
            if error is not None and not isinstance(error, DatabaseTrouble):
                await self._settle_failed(job, error, is_well=True)
            return
        try:
            await self.context.store.write(settle)
            self.context.wake()
        except Exception as error:
            numbers, is_ours = [job.number for job, _ in answered], not isinstance(error, DatabaseTrouble)
            reason = type(error).__name__
            log.warning("not_settled_together", jobs=numbers, reason=reason, exc_info=is_ours)
            for each in answered:
                await self._settle([each])

    async def _settle_failed(self, job: TrackedJob, error: Exception, *, is_well: bool) -> None:
        """Write a failed poll. ``is_well``: the service has answered for another job of the project just now.

        It has also if it has answered for others since this one cannot be read.
        """
        context, answered_at = self.context, self.context.answered.get(job.project)
        if job.unread_since is not None and answered_at is not None:
            is_well = is_well or answered_at > job.unread_since

        await self._write(lambda tx: settle_error(context, tx, job, error, is_well=is_well), job.number)

    async def _write(
        self,
        change: Callable[[Transaction], None],
        job: JobNumber | None = None,
        *,
        is_news: bool = True,
    ) -> Exception | None:
        """Write something. Collect and return its error, so that the results of other jobs are written.

        ``is_news``: it may give other workers something to do. Waking them costs a look at every queue.
        """
        try:
            with unless_taken_over("job", job):
                # Retry until the first write has given up: it would take too long for each of fifty jobs.
                write = self.context.store.write if self._database_is_away() else self.context.settle
                await write(change)
        except Exception as error:  # raised at the end of the run
            self.failed.append(error)
            return error
        if is_news:
            self.context.wake()
        return None


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


async def _ask(context: WorkerContext, job: TrackedJob, limit_seconds: float | None) -> Job:
    if job.service_id is None:
        raise LookupError(f"job {job.number} is polled but has not started")
    try:
        async with asyncio.timeout(limit_seconds):
            return await context.docs.get_job(job.project, job.service_id)
    except TimeoutError:
        raise Unavailable("The service did not answer in time", sent=True) from None
