"""The worker that tells a job's thread, once, how the page at which it began was read before and after."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import structlog

from bot.messages.page_change import visitors_before_and_after
from bot.model import Counts, JobNumber, Period, Priority, SnapshotState, TrackedJob
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.thread_messages import reply
from bot.work.visitors.snapshots import request_snapshot

log = structlog.get_logger(__name__)
_AT_ONCE = 5
_WINDOW = timedelta(days=28)
_AGAIN = timedelta(minutes=10)
"""When to look again whether the numbers have been fetched, within the analytics budget."""
_GIVE_UP = timedelta(days=45)
"""How long after the review the numbers may still come."""


async def compare_pages(context: WorkerContext) -> int:
    """Tell the threads whose time has come, once the numbers are there. Return how many were looked at."""
    due = await context.store.read(lambda tx: tx.jobs.to_compare(context.clock(), _AT_ONCE))
    for job in due:
        await context.store.write(partial(_compare, context, job.number))
    if due:
        context.wake()
    return len(due)


def windows(context: WorkerContext, job: TrackedJob) -> tuple[Period, Period] | None:
    """Return four weeks before the day of the review and four after it; None if there was no review."""
    if job.reviewed_at is None:
        return None
    day = job.reviewed_at.astimezone(context.analytics.zone).date()
    after = day + timedelta(days=1)
    return Period(day - _WINDOW, day), Period(after, after + _WINDOW)


def _compare(context: WorkerContext, number: JobNumber, tx: Transaction) -> None:
    now, job = context.clock(), tx.jobs.get_locked(number)
    if job is None or job.compare_at is None or job.compare_at > now:
        return  # another process was faster, or the job has gone on
    periods = windows(context, job)
    is_late = now - (job.reviewed_at or now) > _GIVE_UP
    if periods is None or job.page is None or is_late or not context.projects.serve(job.project):
        log.info("page_not_compared", job=number)
        tx.jobs.update(number, compare_at=None)
        return
    counts = [_counts(context, tx, job, period) for period in periods]
    if None in counts:
        tx.jobs.update(number, compare_at=now + _AGAIN)
        return
    tx.jobs.update(number, compare_at=None)
    before, after = (each or Counts(0, 0, 0) for each in counts)
    message = visitors_before_and_after(job, job.page, periods, (before, after))
    reply(tx, job, f"compared:{job.iteration}", message, now)


def _counts(context: WorkerContext, tx: Transaction, job: TrackedJob, period: Period) -> Counts | None:
    """Return the page's visitors in a period; None while they are being fetched."""
    now, project = context.clock(), job.project
    snapshot = request_snapshot(
        tx, context.analytics, project, period, Priority.HISTORY, now, is_patient=True
    )
    if snapshot.state is not SnapshotState.DONE or not snapshot.complete:
        return None
    return tx.pages.of_path(snapshot.id, job.page or "") or Counts(0, 0, 0)
