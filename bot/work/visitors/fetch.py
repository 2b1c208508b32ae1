"""The worker that fetches wanted snapshots from the analytics API within the hourly budget of calls."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog

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
from bot.model.ids import ProjectId
from bot.model.misses import NOT_HERE_FOR, Source, Words
from bot.model.quota import back_off_seconds
from bot.model.visitors import Counts, ReadingProblem, Snapshot, SnapshotState
from bot.store import AlreadyStored, DatabaseTrouble, LeaseLost, Transaction
from bot.store.snapshots import ReadPage
from bot.work.context import WorkerContext
from bot.work.jobs.service_health import is_refused, key_refused, service_is_well
from bot.work.visitors.words import read_words
from bot.work.writing import run_all, run_as_claimed

log = structlog.get_logger(__name__)
_AT_ONCE = 4
_REFUSED_AT_ONCE = 50
_MOST_TRIES = 4
_UNKNOWN_WAIT_SECONDS = 300.0
"""Pause after a 429 that names none."""
_UNSERVED_WAIT_SECONDS = 5.0
"""Pause, while others are served, of a project for which the budget allowed no call."""
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


async def fetch_snapshots(context: WorkerContext) -> int:
    """Make the most urgent calls that the budget allows, each for one page of rows. Return their number.

    All projects are served at once. While the service of one is slow, the others are served again.
    """
    calls, next_at = list[int](), dict[ProjectId, datetime]()

    async def claim(running: int) -> Sequence[ProjectId]:
        if calls and not running:
            return ()
        now = context.clock()
        waiting = await context.store.read(lambda tx: tx.snapshots.waiting_projects(now))
        # One that was served during the read gets its turn in the next run, as when it is alone.
        return [each for each in waiting if each not in next_at or next_at[each] < now]

    async def serve(project: ProjectId) -> None:
        next_at[project] = context.after(context.timeouts.lease_seconds)  # longer than the slowest call
        claimed, failed = await context.store.write(lambda tx: _claim(context, tx, project))
        await run_all(*(_fetch(context, snapshot) for snapshot in claimed))
        if claimed or failed:
            context.wake()
        calls.append(len(claimed) + failed)
        next_at[project] = context.after(0.0 if calls[-1] else _UNSERVED_WAIT_SECONDS)

    await run_as_claimed(claim, serve)
    return sum(calls)


async def sweep_snapshots(context: WorkerContext) -> int:
    """Delete the pages of old snapshots. Return how many snapshots were emptied."""
    now = context.clock()
    opened_before, final_before = now - _SWEEP_OPEN, (now - _SWEEP_FINAL).date()
    return await context.store.write(lambda tx: tx.snapshots.sweep(opened_before, final_before))


def _claim(context: WorkerContext, tx: Transaction, project: ProjectId) -> tuple[Sequence[Snapshot], int]:
    """Claim snapshots and count their calls. The lock on the budget keeps other processes out meanwhile.

    Return them, and how many were failed without a call, because the key was refused a moment ago.
    """
    now, counted, claimer = context.clock(), context.projects.budget_of(project), context.claimer()
    back_off = tx.back_offs.of(project)
    if back_off is not None and back_off.refuses_reading and back_off.until > now:
        refused = tx.snapshots.claim(claimer, project, _REFUSED_AT_ONCE)
        for each in refused:
            _fail(context, tx, each, ReadingProblem.KEY, each.attempts, timedelta())
        return (), len(refused)
    tx.budget.lock(counted)
    budget = context.budget(tx, project)
    if not budget.free:
        return (), 0
    claimed = tx.snapshots.claim(claimer, project, min(budget.free, _AT_ONCE), digests_too=False)
    room = min(context.analytics.background_room(budget), _AT_ONCE)
    if not claimed and room > 0:
        claimed = tx.snapshots.claim(claimer, project, room)
    tx.budget.take(counted, len(claimed), now)
    return claimed, 0


async def _fetch(context: WorkerContext, snapshot: Snapshot) -> None:
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
        tx.snapshots.store_words(snapshot, words, context.clock(), owner=context.owner)
        _go_on(context, tx, snapshot.project)

    await context.settle(keep)


def _go_on(context: WorkerContext, tx: Transaction, project: ProjectId) -> None:
    """Let the project's questions look at what was read, and its calls go on if the key was refused."""
    tx.questions.check_now(project, context.clock())
    if is_refused(tx, project):
        service_is_well(context, tx, project, wrote=False)


async def _store(context: WorkerContext, snapshot: Snapshot, page: VisitorsPage, next_offset: int) -> None:
    totals = Counts(page.totals.human, page.totals.ai, page.totals.total)
    rows = [(row.path, Counts(row.human, row.ai, row.total)) for row in page.visitors]
    is_last = not (page.has_more and snapshot.with_pages)

    def keep(tx: Transaction) -> None:
        read = ReadPage(totals, rows, context.clock(), next_offset, is_last)
        tx.snapshots.store(snapshot, read, owner=context.owner)
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
            tx.budget.mark_exhausted(context.projects.budget_of(snapshot.project), until)
            tx.snapshots.settle(snapshot.id, owner=context.owner)
        elif problem is ReadingProblem.UNWELL and attempts < _MOST_TRIES:
            due_at = context.clock() + wait
            tx.snapshots.settle(snapshot.id, owner=context.owner, attempts=attempts, due_at=due_at)
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
    pause = NOT_HERE_FOR if problem is ReadingProblem.NOT_HERE else pause
    tx.snapshots.settle(
        snapshot.id,
        owner=context.owner,
        state=SnapshotState.FAILED,
        attempts=attempts,
        problem=problem,
        due_at=context.clock() + max(wait, pause),
    )
    tx.questions.check_now(snapshot.project, context.clock())
