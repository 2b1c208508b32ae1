"""The round that looks at running jobs, and writes each end together with the words that tell it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import structlog

from bot.docs_api import DocsApiError, Job, NotFound, RateLimited, Unavailable
from bot.messages import jobs as say
from bot.model import JobNumber, JobState, ProjectId, TrackedJob, back_off_seconds
from bot.store import DatabaseTrouble, LeaseLost, Tables
from bot.work.jobs.key_health import is_key_problem, key_refused, service_is_well
from bot.work.jobs.status import Verdict, read
from bot.work.jobs.thread_messages import redraw_root, reply
from bot.work.retry import kept
from bot.work.worker_context import Workshop

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


async def poll_round(shop: Workshop) -> int:
    """Look at jobs that are due; what has nothing new is put back in one go.

    Answers 0 when nothing more can be due, so that nobody looks again at once.
    """
    async with shop.registry.transaction() as tables:
        due = await tables.jobs.claim_due(shop.claimer(), _AT_ONCE)
        held = frozenset(await tables.holds.all() if due else ())
    looks = await asyncio.gather(*(_look(shop, job, misses) for job, misses in due))
    failed: list[Exception] = []
    await _try(failed, lambda: _lift_holds(shop, looks, held))
    unchanged: list[tuple[JobNumber, datetime]] = []
    answered: list[tuple[TrackedJob, Job]] = []
    for look in looks:
        if isinstance(look.answer, DocsApiError):
            await _try(failed, partial(_settle_failed, shop, look, look.answer))
        elif _is_unchanged(shop, look):
            unchanged.append((look.job.number, _next_look(shop, look.job)))
        else:
            answered.append((look.job, look.answer))
    if unchanged:
        await _try(failed, lambda: _put_all_back(shop, unchanged))
    await _settle_all(shop, answered, failed)
    if failed:
        # After all others; the schedule counts and logs it.
        raise failed[0]
    return len(due) if len(due) == _AT_ONCE else 0


async def _try(failed: list[Exception], write: Callable[[], Awaitable[None]]) -> None:
    """What cannot be written must not keep the rest of what has been found out."""
    is_away = any(isinstance(error, DatabaseTrouble) for error in failed)
    try:
        # The database is waited for once, not for each of fifty.
        await (write() if is_away else kept(write))
    except Exception as error:  # raised at the end of the round
        failed.append(error)


async def _put_all_back(shop: Workshop, unchanged: Sequence[tuple[JobNumber, datetime]]) -> None:
    async with shop.registry.transaction() as tables:
        await tables.jobs.reschedule(unchanged, shop.owner)


async def _look(shop: Workshop, job: TrackedJob, misses: int) -> Look:
    if job.service_id is None:
        raise LookupError(f"job {job.number} is polled but has not started")
    try:
        answer: Job | DocsApiError = await shop.docs.get_job(job.project, job.service_id)
    except DocsApiError as error:
        answer = error
    shop.count("polls", "failed" if isinstance(answer, DocsApiError) else "answered")
    return Look(job, misses, answer)


def _is_unchanged(shop: Workshop, look: Look) -> bool:
    """Still running, nothing to say: by far the most looks."""
    if isinstance(look.answer, DocsApiError) or look.job.quiet_until or look.misses:
        return False
    return look.answer.is_running and not _runs_long(shop, look.job)


def _runs_long(shop: Workshop, job: TrackedJob) -> bool:
    limit = shop.patience.unwatched_seconds if job.told_running_at else shop.patience.running_seconds
    return _age_seconds(shop, job) >= limit


def _age_seconds(shop: Workshop, job: TrackedJob) -> float:
    return (shop.clock() - (job.round_started_at or job.asked_at)).total_seconds()


def _next_look(shop: Workshop, job: TrackedJob) -> datetime:
    if job.told_running_at:
        return shop.after(max(_HOURLY_SECONDS, shop.pace.max_seconds))
    return shop.after(shop.pace.wait_seconds(_age_seconds(shop, job), shop.chance()))


async def _settle_all(
    shop: Workshop, answered: Sequence[tuple[TrackedJob, Job]], failed: list[Exception]
) -> None:
    """Some in one transaction: each transaction waits for the disk, and many jobs may end at once."""
    for begin in range(0, len(answered), _TOGETHER):
        few = answered[begin : begin + _TOGETHER]
        try:
            await _settle(shop, few)
        except Exception:
            # One that cannot be written must not keep the others: each is tried alone.
            log.warning("not_settled_together", jobs=[job.number for job, _ in few], exc_info=True)
            for one in few:
                await _try(failed, partial(_settle, shop, [one]))


async def _settle(shop: Workshop, answered: Sequence[tuple[TrackedJob, Job]]) -> None:
    async with shop.registry.transaction() as tables:
        for job, answer in answered:
            try:
                await _settle_answer(shop, tables, job, answer)
            except LeaseLost:
                # The job's own row is written first, so nothing of it has been written.
                _taken_over(job)
    shop.wake()


async def _settle_failed(shop: Workshop, look: Look, error: DocsApiError) -> None:
    try:
        async with shop.registry.transaction() as tables:
            await _settle_error(shop, tables, look, error)
    except LeaseLost:
        _taken_over(look.job)
        return
    shop.wake()


def _taken_over(job: TrackedJob) -> None:
    """A follow-up began a new round meanwhile, or another process took over."""
    log.info("poll_taken_over", job=job.number)


async def _put_back(shop: Workshop, tables: Tables, job: TrackedJob, **values: object) -> None:
    await tables.jobs.change(
        job.number,
        owner=shop.owner,
        **{
            "poll_at": _next_look(shop, job),
            "misses": 0,
            "claimed_by": None,
            "claimed_until": None,
            **values,
        },
    )


async def _settle_answer(shop: Workshop, tables: Tables, job: TrackedJob, answer: Job) -> None:
    verdict = read(job, answer, shop.clock(), shop.patience.stale_seconds)
    match verdict:
        case Verdict.RUNNING if job.quiet_until:
            await _doubt_resolved(shop, tables, job)
        case Verdict.RUNNING if _runs_long(shop, job):
            await _runs_on(shop, tables, job)
        case Verdict.RUNNING:
            await _put_back(shop, tables, job, saw_active=True)
        case Verdict.STALE:
            await _put_back(shop, tables, job)
        case Verdict.NOT_CARRIED_OUT:
            await _put_back(shop, tables, job, poll_at=None, quiet_until=None)
        case _:
            await _end(shop, tables, job, JobState(verdict.value), answer)


async def _doubt_resolved(shop: Workshop, tables: Tables, job: TrackedJob) -> None:
    """A follow-up in doubt was carried out after all: its round has begun, for who asked for it."""
    now, doubted = shop.clock(), await tables.prompts.doubted_of(job.number)
    await _put_back(
        shop,
        tables,
        job,
        state=JobState.WORKING,
        round=job.round + 1,
        round_requester=doubted.asked_by if doubted else job.round_requester,
        round_started_at=now,
        saw_active=True,
        ended_at=None,
        quiet_until=None,
        poll_at=shop.after(shop.pace.min_seconds),
    )
    await redraw_root(tables, job.number, now)


async def _runs_on(shop: Workshop, tables: Tables, job: TrackedJob) -> None:
    """Half an hour: say so once. Seven days: say that we stop looking."""
    now = shop.clock()
    if job.told_running_at is None:
        await _put_back(shop, tables, job, saw_active=True, told_running_at=now)
        await reply(tables, job, f"round:{job.round}:running", say.still_running(job, now), now)
        return
    await _put_back(shop, tables, job, poll_at=None, state=JobState.UNWATCHED, ended_at=now)
    job = await redraw_root(tables, job.number, now)
    await reply(tables, job, f"round:{job.round}:end", say.unwatched(job, now), now)


async def _end(shop: Workshop, tables: Tables, job: TrackedJob, state: JobState, answer: Job | None) -> None:
    now = shop.clock()
    values: dict[str, object] = {"state": state, "ended_at": now, "poll_at": None, "quiet_until": None}
    if answer is not None:
        values["pr_link"] = answer.pr_link
        values |= {"repository": answer.source.repository, "ref": answer.source.ref}
    await _put_back(shop, tables, job, **values)
    job = await redraw_root(tables, job.number, now)
    await reply(tables, job, f"round:{job.round}:end", say.ended(job, now), now)
    shop.count("ends", state)
    log.info("job_ended", job=job.number, state=state, round=job.round)


async def _settle_error(shop: Workshop, tables: Tables, look: Look, error: DocsApiError) -> None:
    """The service's health says nothing about a job; only 404, twice in a row, does."""
    job = look.job
    if isinstance(error, NotFound):
        if look.misses + 1 >= _MISSES_MEAN_GONE:
            await _end(shop, tables, job, JobState.GONE, None)
        else:
            await _put_back(shop, tables, job, misses=look.misses + 1)
        return
    if is_key_problem(error):
        until = await key_refused(shop, tables, job.project, error, wrote=False)
        await _put_back(shop, tables, job, poll_at=until, misses=look.misses)
        return
    attempts = await tables.holds.attempts(job.project) + 1
    wait_seconds = back_off_seconds(attempts, shop.chance(), first=shop.pace.min_seconds)
    if isinstance(error, RateLimited | Unavailable) and error.retry_after_seconds is not None:
        wait_seconds = max(error.retry_after_seconds, 1.0)
    until = shop.after(wait_seconds)
    await tables.holds.put(job.project, until, attempts, type(error).__name__)
    await _put_back(shop, tables, job, poll_at=until, misses=look.misses)
    log.warning("docs_service_unwell", project=job.project, reason=type(error).__name__, attempts=attempts)


async def _lift_holds(shop: Workshop, looks: Sequence[Look], held: frozenset[ProjectId]) -> None:
    """An answer means that the service is well again."""
    answered = {look.job.project for look in looks if not isinstance(look.answer, DocsApiError)}
    if answered & held:
        async with shop.registry.transaction() as tables:
            for project in answered & held:
                await service_is_well(shop, tables, project, wrote=False)
