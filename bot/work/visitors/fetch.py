"""The worker that fetches wanted snapshots from the analytics API within the hourly budget of calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import partial

import structlog

from bot.context import WorkerContext
from bot.docs_api import (
    DocsApiError,
    Forbidden,
    NotConfigured,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    VisitorsPage,
)
from bot.engine import back_off_seconds
from bot.ids import ProjectId
from bot.model.misses import Source, Words
from bot.model.visitors import Counts, ReadingProblem, Snapshot, SnapshotState
from bot.store import AlreadyStored, DatabaseTrouble, LeaseLost, Transaction
from bot.store.limits import AnalyticsQuota, BackOffs
from bot.store.questions import Questions
from bot.store.snapshots import ReadPage, Snapshots
from bot.work.jobs.service_health import is_refused, key_refused, service_is_well
from bot.work.visitors.words import read_words

log = structlog.get_logger(__name__)
AT_ONCE = 4
"""How many calls of a project are made at once."""
_REFUSED_AT_ONCE = 50
_MOST_TRIES = 4
_UNKNOWN_WAIT_SECONDS = 300.0
"""Pause after a 429 that names none."""
_SWEEP_OPEN = timedelta(days=2)
"""How long the pages of a period that was not over are kept."""
_SWEEP_FINAL = timedelta(days=200)
"""How long the pages of a period that is over are kept."""

_PROBLEMS: dict[type[Exception], ReadingProblem] = {
    Unauthorized: ReadingProblem.KEY,
    Forbidden: ReadingProblem.FORBIDDEN,
    NotConfigured: ReadingProblem.NOT_SERVED,
    NotFound: ReadingProblem.PROJECT,
    Rejected: ReadingProblem.REJECTED,
}


async def claim_snapshots(
    context: WorkerContext, _limit: int, full: Collection[str] = ()
) -> Sequence[Snapshot]:
    """Claim the most urgent snapshots of each project for which the hourly budget allows a call."""
    claimed, now = list[Snapshot](), context.clock()
    for project in await context.store.read(lambda tx: Snapshots(tx).waiting_projects(now)):
        if project not in full:
            snapshots, has_failed = await context.store.write(partial(_claim, context, project))
            claimed += snapshots
            if has_failed:
                context.wake()
    return claimed


async def sweep_snapshots(context: WorkerContext) -> int:
    """Delete the pages of old snapshots. Return how many snapshots were emptied."""
    now = context.clock()
    opened_before, final_before = now - _SWEEP_OPEN, (now - _SWEEP_FINAL).date()
    return await context.store.write(lambda tx: Snapshots(tx).sweep(opened_before, final_before))


def _claim(context: WorkerContext, project: ProjectId, tx: Transaction) -> tuple[Sequence[Snapshot], bool]:
    """Claim snapshots and count their calls. The lock on the budget keeps other processes out meanwhile.

    Return them, and whether others were failed without a call, because the key was refused a moment ago.
    """
    now, counted, claimer = context.clock(), context.projects.budget_of(project), context.claimer()
    back_off = BackOffs(tx).of(project)
    if back_off is not None and back_off.refuses_reading and back_off.lasts(now):
        refused = Snapshots(tx).claim(claimer, project, _REFUSED_AT_ONCE)
        for each in refused:
            _fail(context, tx, each, ReadingProblem.KEY, each.attempts, timedelta())
        return (), bool(refused)
    AnalyticsQuota(tx).lock(counted)
    budget = context.budget(tx, project)
    if not budget.free:
        return (), False
    claimed = Snapshots(tx).claim(claimer, project, min(budget.free, AT_ONCE), digests_too=False)
    room = min(context.analytics.background_room(budget), AT_ONCE)
    if not claimed and room > 0:
        claimed = Snapshots(tx).claim(claimer, project, room)
    AnalyticsQuota(tx).take(counted, len(claimed), now)
    return claimed, False


async def fetch_snapshot(context: WorkerContext, snapshot: Snapshot) -> None:
    """Make a call for one page of rows, and store it."""
    try:
        try:
            await _read(context, snapshot)
        except (LeaseLost, AlreadyStored, DatabaseTrouble):
            raise
        except Exception as error:
            if not isinstance(error, DocsApiError):
                # Counts as a try, or the page would be fetched again and again.
                log.exception("page_not_stored", snapshot=snapshot.id)
            await _settle_error(context, snapshot, error)
    except (LeaseLost, AlreadyStored):
        # Whoever holds the lease now may store the same page at this moment.
        log.warning("snapshot_taken_over", snapshot=snapshot.id)
    context.wake()


async def _read(context: WorkerContext, snapshot: Snapshot) -> None:
    """Make one call and store what it brings."""
    if snapshot.source is not Source.VISITORS:
        words = await read_words(context.docs, snapshot.project, snapshot.source, snapshot.period)
        await _store_words(context, snapshot, words)
        return
    size = context.analytics.page_size if snapshot.with_pages else 0
    page = await context.docs.visitors(
        snapshot.project,
        date_from=snapshot.period.first,
        date_to=snapshot.period.end,
        limit=size or 1,
        offset=snapshot.next_offset if size else 0,
    )
    await _store(context, snapshot, page, snapshot.next_offset + size)


async def _store_words(context: WorkerContext, snapshot: Snapshot, words: Words) -> None:
    def keep(tx: Transaction) -> None:
        Snapshots(tx).store_words(snapshot, words, context.clock(), owner=context.owner)
        _go_on(context, tx, snapshot.project)

    await context.settle(keep)


def _go_on(context: WorkerContext, tx: Transaction, project: ProjectId) -> None:
    """Let the project's questions look at what was read, and its calls go on if the key was refused."""
    Questions(tx).check_now(project, context.clock())
    if is_refused(tx, project):
        service_is_well(context, tx, project, wrote=False)


async def _store(context: WorkerContext, snapshot: Snapshot, page: VisitorsPage, next_offset: int) -> None:
    totals = Counts(page.totals.human, page.totals.ai, page.totals.total)
    rows = [(row.path, Counts(row.human, row.ai, row.total)) for row in page.visitors]
    is_last = not (page.has_more and snapshot.with_pages)

    def keep(tx: Transaction) -> None:
        read = ReadPage(totals, rows, context.clock(), next_offset, is_last)
        Snapshots(tx).store(snapshot, read, owner=context.owner)
        _go_on(context, tx, snapshot.project)

    await context.settle(keep)


async def _settle_error(context: WorkerContext, snapshot: Snapshot, error: Exception) -> None:
    """Write a failed call: retry the snapshot later, or fail it with the reason to show.

    After a 429 all calls stop for as long as the service says: its count overrides ours.
    """
    log.warning("visitors_not_read", snapshot=snapshot.id, reason=type(error).__name__)
    attempts, problem = snapshot.attempts + 1, _PROBLEMS.get(type(error), ReadingProblem.UNWELL)
    if snapshot.source is not Source.VISITORS and isinstance(error, Forbidden | NotFound):
        problem = ReadingProblem.NOT_HERE
    asked_wait = getattr(error, "retry_after_seconds", None) or 0.0
    wait = timedelta(seconds=max(asked_wait, back_off_seconds(attempts, context.chance(), cap=60.0)))

    def settle(tx: Transaction) -> None:
        if isinstance(error, RateLimited):
            until = context.after(max(asked_wait or _UNKNOWN_WAIT_SECONDS, 1.0))
            AnalyticsQuota(tx).mark_exhausted(context.projects.budget_of(snapshot.project), until)
            Snapshots(tx).settle(snapshot.id, owner=context.owner)
        elif problem is ReadingProblem.UNWELL and attempts < _MOST_TRIES:
            due_at = context.clock() + wait
            Snapshots(tx).settle(snapshot.id, owner=context.owner, attempts=attempts, due_at=due_at)
        else:
            _fail(context, tx, snapshot, problem, attempts, wait)
        if isinstance(error, Unauthorized):
            key_refused(context, tx, snapshot.project, error, wrote=False)

    await context.settle(settle)


def _fail(
    context: WorkerContext,
    tx: Transaction,
    snapshot: Snapshot,
    problem: ReadingProblem,
    attempts: int,
    wait: timedelta,
) -> None:
    """Write that a snapshot failed, and for how long it is not fetched unless a person asks.

    After the first quick calls this makes six calls in the first hour, and two in each later one.
    """
    pause = min(max(attempts - _MOST_TRIES + 1, 1), 3) * timedelta(minutes=10)
    Snapshots(tx).settle(
        snapshot.id,
        owner=context.owner,
        state=SnapshotState.FAILED,
        attempts=attempts,
        problem=problem,
        due_at=context.clock() + max(wait, pause),
        taken_at=context.clock() if problem is ReadingProblem.NOT_HERE else snapshot.taken_at,
    )
    Questions(tx).check_now(snapshot.project, context.clock())
