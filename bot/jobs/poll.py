"""Poll the running jobs, and write each answer together with the messages about it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

import structlog

from bot.context import WorkerContext
from bot.docs_api import DocsApiError, Unavailable
from bot.engine import unless_taken_over
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.settle_poll import settle_answer, settle_error
from bot.jobs.store.jobs import Jobs
from bot.store import DatabaseTrouble, LeaseLost

log = structlog.get_logger(__name__)
_AT_ONCE = 50


async def claim_polls(context: WorkerContext, limit: int, full: Collection[str] = ()) -> Sequence[TrackedJob]:
    """Claim the jobs whose polls are due, the most overdue first, but none of the projects in ``full``."""
    most = min(limit, _AT_ONCE)
    return await context.store.write(lambda tx: Jobs(tx).claim_due(context.claimer(), most, besides=full))


async def poll(context: WorkerContext, job: TrackedJob) -> None:
    """Poll one job and write the answer. An answer that cannot be written is a failed poll, too."""
    # One that could not be read gets as long as any call.
    limit_seconds = None if job.unread_since else context.timeouts.poll_seconds
    with unless_taken_over("job", job.number):
        try:
            if job.service_id is None:
                raise LookupError(f"job {job.number} is polled without an id of the service")
            async with asyncio.timeout(limit_seconds):
                answer = await context.docs.get_job(job.project, job.service_id)
            context.answered[job.project] = context.clock()
            has_news = await context.settle(lambda tx: settle_answer(context, tx, job, answer))
        except (LeaseLost, DatabaseTrouble):
            raise
        except Exception as error:
            is_slow = isinstance(error, TimeoutError)
            failure = Unavailable(f"no answer within {limit_seconds} s", sent=True) if is_slow else error
            if not isinstance(failure, DocsApiError):
                log.exception("poll_broke", job=job.number)
            has_news = True
            await context.settle(lambda tx: settle_error(context, tx, job, failure))
            context.count("polls", "failed")
        else:
            context.count("polls", "answered")
        if has_news:
            context.wake()
