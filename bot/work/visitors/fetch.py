"""The worker that fetches requested snapshots from the analytics API within the hourly budget of calls."""

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
from bot.model.ids import ProjectId, SnapshotId
from bot.model.polling import back_off_seconds
from bot.model.visitors import Counts, Priority, ReadingProblem, Snapshot, SnapshotState
from bot.store import AlreadyStored, DatabaseTrouble, LeaseLost, Transaction
from bot.store.snapshots import ReadPage, SnapshotFields
from bot.work.context import WorkerContext
from bot.work.jobs.key_health import is_refused, key_refused, reading_is_refused, service_is_well
from bot.work.tasks import run_all, run_as_claimed
from bot.work.visitors.snapshots import has_had_share

log = structlog.get_logger(__name__)
_AT_ONCE = 4
_REFUSED_AT_ONCE = 50
_MOST_TRIES = 4
_MOST_ROWS = 1_000_000
_UNKNOWN_WAIT_SECONDS = 300.0
"""Pause after a 429 that names none."""
_UNSERVED_WAIT_SECONDS = 5.0
"""Pause, while others are served, of a project for which the budget allowed no call."""
_SWEEP_OPEN = timedelta(days=2)
"""How long the pages of a period that was not over are kept."""
_SWEEP_FINAL = timedelta(days=200)
"""How long the pages of a period that is over are kept."""


async def fetch_snapshots(context: WorkerContext) -> int:
    """Make the most urgent calls that the budget allows, each for one page of rows. Return their number.

    All projects are served at once. While the service of one is slow, the others are served again.
    """
    calls, next_at = list[int](), dict[ProjectId, datetime]()

    async def claim(running: int) -> Sequence[tuple[ProjectId, bool]]:
        if calls and not running:
            return ()
        now = context.clock()
        waiting = await context.store.read(lambda tx: _waiting(tx, now))
        # One that was served during the read gets its turn in the next run, as when it is alone.
        return [each for each in waiting.items() if each[0] not in next_at or next_at[each[0]] < now]

    async def serve(each: tuple[ProjectId, bool]) -> None:
        project, refused = each
        next_at[project] = context.after(context.timeouts.lease_seconds)  # longer than the slowest call
        calls.append(await _fetch_some(context, project, refused=refused))
        next_at[project] = context.after(0.0 if calls[-1] else _UNSERVED_WAIT_SECONDS)

    await run_as_claimed(claim, serve)
    return sum(calls)


def _waiting(tx: Transaction, now: datetime) -> dict[ProjectId, bool]:
    """Return the projects that have something to fetch, and of each whether its key is refused."""
    return {project: reading_is_refused(tx, project, now) for project in tx.snapshots.waiting_projects(now)}


async def _fetch_some(context: WorkerContext, project: ProjectId, *, refused: bool) -> int:
    if refused:
        return await _fail_all(context, project)
    claimed = await context.store.write(lambda tx: _claim(context, tx, project))
    await run_all(*(_fetch(context, snapshot) for snapshot in claimed))
    if claimed:
        context.wake()
    return len(claimed)


async def sweep_snapshots(context: WorkerContext) -> int:
    """Delete the pages of old snapshots. Return how many snapshots were emptied."""
    now = context.clock()
    opened_before, final_before = now - _SWEEP_OPEN, (now - _SWEEP_FINAL).date()
    return await context.store.write(lambda tx: tx.snapshots.sweep(opened_before, final_before))


def _claim(context: WorkerContext, tx: Transaction, project: ProjectId) -> Sequence[Snapshot]:
    """Claim snapshots and count their calls. The lock on the budget keeps other processes out meanwhile."""
    counted = context.projects.budget_of(project)
    tx.budget.lock(counted)
    budget = context.budget(tx, project)
    if not budget.free:
        return []
    claimed = tx.snapshots.claim(context.claimer(), project, min(budget.free, _AT_ONCE), Priority.CHART)
    room = min(context.analytics.background_room(budget), _AT_ONCE)
    if not claimed and room > 0:
        claimed = tx.snapshots.claim(context.claimer(), project, room, Priority.AHEAD)
    tx.budget.take(counted, len(claimed), context.clock())
    return claimed


async def _fail_all(context: WorkerContext, project: ProjectId) -> int:
    """Fail the waiting snapshots without a call, because the key was refused a moment ago."""

    def fail(tx: Transaction) -> int:
        claimed = tx.snapshots.claim(context.claimer(), project, _REFUSED_AT_ONCE, Priority.AHEAD)
        for snapshot in claimed:
            tx.snapshots.settle(
                snapshot.id,
                owner=context.owner,
                state=SnapshotState.FAILED,
                problem=ReadingProblem.KEY,
                due_at=context.clock() + _pause(snapshot.attempts),
            )
        return len(claimed)

    failed = await context.store.write(fail)
    context.wake()
    return failed


async def _fetch(context: WorkerContext, snapshot: Snapshot) -> None:
    try:
        try:
            page = await context.docs.visitors(
                snapshot.project,
                date_from=snapshot.period.first,
                date_to=snapshot.period.end,
                limit=context.analytics.page_size if snapshot.with_pages else 1,
                offset=snapshot.next_offset if snapshot.with_pages else 0,
            )
            await _store(context, snapshot, page)
        except (LeaseLost, AlreadyStored, DatabaseTrouble):
            raise
        except DocsApiError as error:
            await _settle_error(context, snapshot, error)
        except Exception as error:
            # Counts as a try, or the page would be fetched again and again.
            log.exception("page_not_stored", snapshot=snapshot.id)
            await _settle_error(context, snapshot, error)
    except (LeaseLost, AlreadyStored):
        # Whoever holds the lease now may store the same page at this moment.
        log.warning("snapshot_taken_over", snapshot=snapshot.id)


async def _store(context: WorkerContext, snapshot: Snapshot, page: VisitorsPage) -> None:
    has_more = page.has_more and snapshot.with_pages
    totals = Counts(page.totals.human, page.totals.ai, page.totals.total)
    rows = [(row.path, Counts(row.human, row.ai, row.total)) for row in page.visitors]
    step = context.analytics.page_size if snapshot.with_pages else 0
    next_offset = snapshot.next_offset + step

    def keep(tx: Transaction) -> None:
        fresh = tx.snapshots.store(
            snapshot,
            ReadPage(totals, rows, context.clock()),
            owner=context.owner,
            next_offset=next_offset,
            is_last=not has_more,
        )
        rests = _rest_if_had(context, tx, snapshot.id)
        if has_more and (not fresh or next_offset >= _MOST_ROWS):
            tx.snapshots.stop(snapshot.id, ReadingProblem.ENDLESS)
            log.warning("visitors_without_end", snapshot=snapshot.id, offset=next_offset)
        if rests or not has_more:
            tx.questions.hasten(snapshot.project, context.clock())
        if is_refused(tx, snapshot.project):
            service_is_well(context, tx, snapshot.project, wrote=False)

    await context.settle(keep)
    context.count("analytics", "read")


def _rest_if_had(context: WorkerContext, tx: Transaction, snapshot: SnapshotId) -> bool:
    """Stop reading if questions wait for a snapshot and all have had their share. Return whether so."""
    waiting, now = tx.questions.waiting_for(snapshot), context.clock()
    if not waiting or not all(has_had_share(tx, context.analytics, each, now) for each in waiting):
        return False
    tx.snapshots.rest({window for each in waiting for window in each.windows})
    return True


async def _settle_error(context: WorkerContext, snapshot: Snapshot, error: Exception) -> None:
    """Write a failed call: retry the snapshot later, or fail it with the reason to show."""
    context.count("analytics", type(error).__name__.lower())
    log.warning("visitors_not_read", snapshot=snapshot.id, reason=type(error).__name__)
    if isinstance(error, RateLimited):
        await _pause_calls(context, snapshot, error.retry_after_seconds)
        return
    attempts, problem = snapshot.attempts + 1, problem_of(error)
    gives_up = problem is not ReadingProblem.UNWELL or attempts >= _MOST_TRIES
    asked_wait = getattr(error, "retry_after_seconds", None) or 0.0
    wait = timedelta(seconds=max(asked_wait, back_off_seconds(attempts, context.chance(), cap=60.0)))
    outcome = SnapshotFields(attempts=attempts, due_at=context.clock() + wait)
    if gives_up:
        due_at = context.clock() + max(wait, _pause(attempts))
        outcome = SnapshotFields(
            attempts=attempts, due_at=due_at, state=SnapshotState.FAILED, problem=problem
        )

    def settle(tx: Transaction) -> None:
        tx.snapshots.settle(snapshot.id, owner=context.owner, **outcome)
        if isinstance(error, Unauthorized):
            key_refused(context, tx, snapshot.project, error, wrote=False)

    await context.settle(settle)


def _pause(attempts: int) -> timedelta:
    """Return for how long a failed snapshot is not fetched unless a person asks.

    After the first quick calls this makes six calls in the first hour, and two in each later one.
    """
    return min(max(attempts - _MOST_TRIES + 1, 1), 3) * timedelta(minutes=10)


async def _pause_calls(context: WorkerContext, snapshot: Snapshot, retry_after_seconds: float | None) -> None:
    """Stop all calls after a 429 for as long as the service says: its count overrides ours."""
    until = context.after(max(retry_after_seconds or _UNKNOWN_WAIT_SECONDS, 1.0))

    def hold(tx: Transaction) -> None:
        tx.budget.mark_exhausted(context.projects.budget_of(snapshot.project), until)
        tx.snapshots.settle(snapshot.id, owner=context.owner)

    await context.settle(hold)


def problem_of(error: Exception) -> ReadingProblem:
    """Return the problem to show to people for an error."""
    match error:
        case Unauthorized():
            return ReadingProblem.KEY
        case Forbidden():
            return ReadingProblem.FORBIDDEN
        case NotConfigured():
            return ReadingProblem.NOT_SERVED
        case NotFound():
            return ReadingProblem.PROJECT
        case Rejected():
            return ReadingProblem.REJECTED
        case _:
            return ReadingProblem.UNWELL
