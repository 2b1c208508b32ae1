"""Read the snapshots that questions wait for, page by page, within the hourly budget of calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TypedDict

import structlog

from bot.context import WorkerContext
from bot.docs_api import (
    DocsApiError,
    DocsClient,
    Forbidden,
    NotConfigured,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
)
from bot.engine import back_off_seconds
from bot.ids import ProjectId
from bot.jobs.service_health import analytics_budget, is_refused, service_is_well, settle_refused_key
from bot.jobs.store.limits import AnalyticsQuota, BackOffs
from bot.messages.plain_text import one_line
from bot.store import DatabaseTrouble, LeaseLost, Transaction
from bot.visitors.content_gaps import (
    MOST_READ,
    TEXT_LENGTH,
    Comment,
    GapRows,
    Search,
    Source,
    UnansweredQuestion,
    Votes,
    clean_text,
    merge_searches,
    page_of,
)
from bot.visitors.model import Counts, ReadingProblem, Snapshot
from bot.visitors.periods import Period
from bot.visitors.store import Questions, SnapshotFields, Snapshots

log = structlog.get_logger(__name__)
AT_ONCE = 4
"""Maximum concurrent calls for a project."""
_QUICK_TRIES, _REFUSED_AT_ONCE = 4, 50
_PAUSE = timedelta(minutes=10)
_UNKNOWN_WAIT_SECONDS = 300.0
"""Pause after a 429 without Retry-After."""
_KEEP_OPEN, _KEEP_FINAL = timedelta(days=2), timedelta(days=200)
"""Age up to which pages are kept: of a period that was not over, and of others."""
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
    now, claimed = context.clock(), list[Snapshot]()
    for project in await context.store.read(lambda tx: Snapshots(tx).waiting_projects(now)):
        if project not in full:
            claimed += await context.store.write(partial(_claim, context, project))
    return claimed


def _claim(context: WorkerContext, project: ProjectId, tx: Transaction) -> Sequence[Snapshot]:
    """Claim people's snapshots, or else those of digests, and take their calls from the budget."""
    claimer, back_off = context.claimer(), BackOffs(tx).of(project)
    if back_off is not None and back_off.refuses_reading and back_off.lasts(context.clock()):
        for snapshot in Snapshots(tx).claim(claimer, project, _REFUSED_AT_ONCE):
            _store_problem(context, tx, snapshot, ReadingProblem.KEY, snapshot.attempts, timedelta())
        return ()
    account, quota = context.projects.budget_of(project), AnalyticsQuota(tx)
    budget = analytics_budget(context, tx, project)
    claimed = Snapshots(tx).claim(claimer, project, min(budget.free, AT_ONCE), digests_too=False)
    room = min(budget.digest_calls_left, AT_ONCE)
    if not claimed and room > 0:
        claimed = Snapshots(tx).claim(claimer, project, room)
    quota.take(account, len(claimed), context.clock())
    return claimed


async def read_snapshot(context: WorkerContext, snapshot: Snapshot) -> None:
    """Make a call for one page of rows, and store the result."""
    try:
        await _call(context, snapshot)
    except LeaseLost:
        log.warning("snapshot_taken_over", snapshot=snapshot.id)
    except DatabaseTrouble:
        raise
    except Exception as error:  # counts as a try: otherwise the page would be read again and again
        unexpected = {} if isinstance(error, DocsApiError) else {"exc_info": True}
        log.warning("visitors_not_read", snapshot=snapshot.id, reason=type(error).__name__, **unexpected)
        await context.settle(partial(_fail, context, snapshot, error))
    context.wake()


async def _call(context: WorkerContext, snapshot: Snapshot) -> None:
    project, period = snapshot.project, snapshot.period
    if snapshot.source is not Source.VISITORS:
        gap_rows = await read_gap_rows(context.docs, project, snapshot.source, period)

        def store(tx: Transaction) -> None:
            Snapshots(tx).store_gap_rows(snapshot, gap_rows, context.clock(), context.owner)
            _resume(context, tx, project)
    else:
        size = context.page_size if snapshot.with_pages else 1
        page = await context.docs.visitors(
            project, date_from=period.first, date_to=period.end, limit=size, offset=snapshot.next_offset
        )
        rows = [(row.path, Counts(row.human, row.ai, row.total)) for row in page.visitors]

        def store(tx: Transaction) -> None:
            Snapshots(tx).store_page(
                snapshot,
                Counts(page.totals.human, page.totals.ai, page.totals.total),
                rows,
                has_more=page.has_more,
                next_offset=snapshot.next_offset + size,
                now=context.clock(),
                owner=context.owner,
            )
            _resume(context, tx, project)

    await context.settle(store)


def _resume(context: WorkerContext, tx: Transaction, project: ProjectId) -> None:
    """Check the waiting questions, and end a back-off because of the key, since the service answers."""
    Questions(tx).check_now(project, context.clock())
    if is_refused(tx, project):
        service_is_well(context, tx, project, wrote=False)


def _fail(context: WorkerContext, snapshot: Snapshot, error: Exception, tx: Transaction) -> None:
    """Retry in seconds, or store the problem and pause. After a 429 all calls of the project stop."""
    asked_seconds = getattr(error, "retry_after_seconds", None) or 0.0
    if isinstance(error, RateLimited):
        until = context.after(max(asked_seconds or _UNKNOWN_WAIT_SECONDS, 1.0))
        AnalyticsQuota(tx).mark_exhausted(context.projects.budget_of(snapshot.project), until)
        Snapshots(tx).settle(snapshot, context.owner)
        return
    attempts, problem = snapshot.attempts + 1, _PROBLEMS.get(type(error), ReadingProblem.UNWELL)
    wait = timedelta(seconds=max(asked_seconds, back_off_seconds(attempts, context.chance(), cap=60.0)))
    if snapshot.source is not Source.VISITORS and isinstance(error, Forbidden | NotFound):
        problem = ReadingProblem.NOT_HERE
    if problem is ReadingProblem.UNWELL and attempts < _QUICK_TRIES:
        Snapshots(tx).settle(snapshot, context.owner, attempts=attempts, due_at=context.clock() + wait)
    else:
        _store_problem(context, tx, snapshot, problem, attempts, wait)
    if isinstance(error, Unauthorized):
        settle_refused_key(context, tx, snapshot.project, error, wrote=False)


def _store_problem(
    context: WorkerContext,
    tx: Transaction,
    snapshot: Snapshot,
    problem: ReadingProblem,
    attempts: int,
    wait: timedelta,
) -> None:
    """Store why a snapshot was not read, and let its questions be answered. A later try may succeed."""
    now = context.clock()
    pause = min(max(attempts - _QUICK_TRIES + 1, 1), 3) * _PAUSE
    fields = SnapshotFields(attempts=attempts, due_at=now + max(pause, wait), problem=problem)
    if problem is ReadingProblem.NOT_HERE:
        fields["taken_at"] = now
    Snapshots(tx).settle(snapshot, context.owner, **fields)
    Questions(tx).check_now(snapshot.project, now)


async def sweep_snapshots(context: WorkerContext) -> int:
    """Delete the pages of old snapshots. Return the number of snapshots."""
    now = context.clock()
    open_before, final_before = now - _KEEP_OPEN, (now - _KEEP_FINAL).date()
    return await context.store.write(lambda tx: Snapshots(tx).sweep(open_before, final_before))


# ---- content gaps


class _Window(TypedDict):
    date_from: date
    date_to: date
    limit: int


async def read_gap_rows(docs: DocsClient, project: str, source: Source, period: Period) -> GapRows:
    """Return the masked rows of one call. Raises DocsApiError."""
    window = _Window(date_from=period.first, date_to=period.end, limit=MOST_READ)
    read = {Source.VOTES: _votes, Source.COMMENTS: _comments, Source.QUESTIONS: _questions}
    return await read.get(source, _searches)(docs, project, window)


async def _searches(docs: DocsClient, project: str, window: _Window) -> GapRows:
    page = await docs.searches(project, **window)
    searches = (
        Search(
            clean_text(search.search_query),
            search.hits,
            None if search.ctr is None else round(search.hits * search.ctr / 100),
            _page(search.top_clicked_page),
        )
        for search in page.searches
    )
    rows = merge_searches(search for search in searches if search.words)
    return GapRows(searches=tuple(rows), events=page.total_searches, is_part=page.has_more)


async def _votes(docs: DocsClient, project: str, window: _Window) -> GapRows:
    page = await docs.feedback_by_page(project, **window)
    votes = [
        Votes(_page(votes.path) or "/", votes.thumbs_up, votes.thumbs_down, votes.code)
        for votes in page.feedback
        if votes.thumbs_up or votes.thumbs_down or votes.code
    ]
    return GapRows(votes=tuple(votes), is_part=page.has_more)


async def _comments(docs: DocsClient, project: str, window: _Window) -> GapRows:
    page = await docs.feedback(project, **window)
    long_ago = datetime.min.replace(tzinfo=UTC)
    newest = sorted(page.feedback, key=lambda comment: comment.created_at or long_ago, reverse=True)
    comments = (
        Comment(_page(comment.path) or "/", clean_text(comment.comment or ""), comment.source == "agent")
        for comment in newest
    )
    rows = tuple(comment for comment in comments if comment.text)
    return GapRows(comments=rows, is_part=page.has_more)


async def _questions(docs: DocsClient, project: str, window: _Window) -> GapRows:
    page = await docs.assistant(project, **window)
    questions = (
        UnansweredQuestion(clean_text(asked.query), page=_page(asked.page_url))
        for asked in page.conversations
        if asked.is_unanswered
    )
    rows = tuple(question for question in questions if question.text)
    return GapRows(questions=rows, events=len(page.conversations), is_part=page.has_more)


def _page(address: str | None) -> str | None:
    return page_of(one_line(address, TEXT_LENGTH)) if address else None
