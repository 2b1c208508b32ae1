"""The round that reads wanted windows from the analytics API: page by page, within the hourly budget."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import structlog

from bot.docs_api import (
    DocsApiError,
    Forbidden,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    VisitorsPage,
)
from bot.messages.problems import ReadingProblem
from bot.model import Counts, Need, Snapshot, SnapshotState, back_off_seconds
from bot.store import LeaseLost
from bot.store.snapshots import ReadPage
from bot.work.jobs.key_health import is_refused, key_refused, reading_is_refused, service_is_well
from bot.work.worker_context import Workshop

log = structlog.get_logger(__name__)
_AT_ONCE = 4
_REFUSED_AT_ONCE = 50
_MOST_TRIES = 4
_MOST_ROWS = 1_000_000
_UNKNOWN_WAIT_SECONDS = 300.0
_SWEEP_OPEN = timedelta(days=2)
_SWEEP_FINAL = timedelta(days=200)


async def read_round(shop: Workshop) -> int:
    """Make the most urgent calls that the budget allows, each for one page of rows."""
    async with shop.registry.look() as tables:
        if not await tables.snapshots.waiting(shop.clock()):
            return 0
        kept_off = await reading_is_refused(tables, shop.project, shop.clock())
    if kept_off:
        return await _refuse(shop)
    claimed = await _claim(shop)
    await asyncio.gather(*(_read(shop, snapshot) for snapshot in claimed))
    if claimed:
        shop.wake()
    return len(claimed)


async def sweep_round(shop: Workshop) -> int:
    """Forget pages that nobody will look at again."""
    now = shop.clock()
    async with shop.registry.transaction() as tables:
        return await tables.snapshots.sweep(now - _SWEEP_OPEN, (now - _SWEEP_FINAL).date())


async def _claim(shop: Workshop) -> Sequence[Snapshot]:
    """Claim, and write the calls down, in one transaction that no other process can interleave with."""
    limit, now = shop.analytics.calls_an_hour, shop.clock()
    async with shop.registry.transaction() as tables:
        await tables.budget.lock(shop.project)
        budget = await tables.budget.look(shop.project, limit, now)
        if not budget.free:
            return []
        claimed = await tables.snapshots.claim(shop.claimer(), min(budget.free, _AT_ONCE), Need.CHART)
        room = min(shop.analytics.background_room(budget), _AT_ONCE)
        if not claimed and room > 0:
            claimed = await tables.snapshots.claim(shop.claimer(), room, Need.AHEAD)
        await tables.budget.take(shop.project, len(claimed), now)
    return claimed


async def _refuse(shop: Workshop) -> int:
    """No call is made with a key that was refused a moment ago; whoever waits is told."""
    async with shop.registry.transaction() as tables:
        claimed = await tables.snapshots.claim(shop.claimer(), _REFUSED_AT_ONCE, Need.AHEAD)
        for snapshot in claimed:
            await tables.snapshots.settle(
                snapshot.id, owner=shop.owner, state=SnapshotState.FAILED, problem=ReadingProblem.KEY
            )
    shop.wake()
    return len(claimed)


async def _read(shop: Workshop, snapshot: Snapshot) -> None:
    try:
        try:
            page = await shop.docs.visitors(
                snapshot.project,
                date_from=snapshot.period.first,
                date_to=snapshot.period.end,
                limit=shop.analytics.page_size if snapshot.with_pages else 1,
                offset=snapshot.next_offset if snapshot.with_pages else 0,
            )
        except DocsApiError as error:
            await _settle_error(shop, snapshot, error)
        else:
            await _store(shop, snapshot, page)
    except LeaseLost:
        log.warning("snapshot_taken_over", snapshot=snapshot.id)


async def _store(shop: Workshop, snapshot: Snapshot, page: VisitorsPage) -> None:
    goes_on = page.has_more and snapshot.with_pages
    totals = Counts(page.totals.human, page.totals.ai, page.totals.total)
    rows = [(row.path, Counts(row.human, row.ai, row.total)) for row in page.visitors]
    step = shop.analytics.page_size if snapshot.with_pages else 0
    next_offset = snapshot.next_offset + step
    async with shop.registry.transaction() as tables:
        fresh = await tables.snapshots.store(
            snapshot,
            ReadPage(totals, rows, shop.clock()),
            owner=shop.owner,
            next_offset=next_offset,
            is_last=not goes_on,
        )
        if goes_on and (not fresh or next_offset >= _MOST_ROWS):
            await tables.snapshots.stop(snapshot.id, ReadingProblem.ENDLESS)
            log.warning("visitors_without_end", snapshot=snapshot.id, offset=next_offset)
        if await is_refused(tables, snapshot.project):
            await service_is_well(shop, tables, snapshot.project, wrote=False)
    shop.count("analytics", "read")


async def _settle_error(shop: Workshop, snapshot: Snapshot, error: DocsApiError) -> None:
    """Later, or never with this key; and what to say about it."""
    shop.count("analytics", type(error).__name__.lower())
    log.warning("visitors_not_read", snapshot=snapshot.id, reason=type(error).__name__)
    if isinstance(error, RateLimited):
        await _hold(shop, snapshot, error.retry_after_seconds)
        return
    attempts, problem = snapshot.attempts + 1, problem_of(error)
    gives_up = problem is not ReadingProblem.UNWELL or attempts >= _MOST_TRIES
    asked_wait = getattr(error, "retry_after_seconds", None) or 0.0
    wait_seconds = max(asked_wait, back_off_seconds(attempts, shop.chance(), cap=60.0))
    async with shop.registry.transaction() as tables:
        await tables.snapshots.settle(
            snapshot.id,
            owner=shop.owner,
            attempts=attempts,
            state=SnapshotState.FAILED if gives_up else SnapshotState.WANTED,
            problem=problem if gives_up else None,
            due_at=shop.after(wait_seconds),
        )
        if isinstance(error, Unauthorized):
            await key_refused(shop, tables, snapshot.project, error, wrote=False)


async def _hold(shop: Workshop, snapshot: Snapshot, retry_after_seconds: float | None) -> None:
    """The service's count is believed over ours."""
    until = shop.after(max(retry_after_seconds or _UNKNOWN_WAIT_SECONDS, 1.0))
    async with shop.registry.transaction() as tables:
        await tables.budget.hold(shop.project, until)
        await tables.snapshots.settle(snapshot.id, owner=shop.owner, state=SnapshotState.WANTED)


def problem_of(error: DocsApiError) -> ReadingProblem:
    """What an error means to people."""
    match error:
        case Unauthorized():
            return ReadingProblem.KEY
        case Forbidden():
            return ReadingProblem.FORBIDDEN
        case NotFound():
            return ReadingProblem.PROJECT
        case Rejected():
            return ReadingProblem.REJECTED
        case _:
            return ReadingProblem.UNWELL
