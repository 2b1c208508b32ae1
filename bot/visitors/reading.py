"""Read the numbers of periods for questions, within the hourly budget of calls.

A reading is one value. It is stored when a run ends, whole or as a part, and after every few calls,
so that a crash loses few of them. Questions of this process that need the same reading share its
calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple
from weakref import WeakValueDictionary

import structlog

from bot.context import Context, WorkerContext
from bot.docs_api import (
    DocsApiError,
    Forbidden,
    NotConfigured,
    NotFound,
    PageViews,
    PageVisitors,
    RateLimited,
    Rejected,
    Unauthorized,
    Views,
    Visitors,
)
from bot.engine import back_off_seconds
from bot.ids import ProjectId, ReadingId
from bot.jobs.service_health import (
    analytics_budget,
    is_refused,
    service_is_well,
    settle_refused_key,
)
from bot.jobs.store.limits import AnalyticsQuota, BackOffs
from bot.logs import reason_of
from bot.store import DatabaseTrouble, Transaction
from bot.visitors.gap_rows import read_gap_rows
from bot.visitors.model.gaps import Source
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import Question, QuestionKind
from bot.visitors.model.readings import MAX_QUICK_TRIES, Counts, Reading, ReadingProblem
from bot.visitors.store import Readings

log = structlog.get_logger(__name__)
MAX_PAGES = 50_000
MAX_VIEWS_CALLS = 10
"""Calls for the views of one period.

Other tools of the organisation share the hour's calls.
"""
_MAX_PATH_LENGTH = 2_000
_CALLS_STORED_AT_ONCE = 10
"""Calls after which the part that was read is stored."""
_PLACES = {QuestionKind.VISITORS: 3, QuestionKind.DIGEST: 1}
"""Calls at once about a project, for each kind of question."""
_DROPPED_AT_ONCE = 50
"""Readings that lose their pages in one transaction, so that no request waits for long."""
_PAUSE = timedelta(minutes=10)
"""Shortest pause of a reading that was given up; it grows to three times that."""
_UNKNOWN_WAIT_SECONDS = 300.0
"""Pause after a 429 without Retry-After."""
_PROBLEMS: dict[type[Exception], ReadingProblem] = {
    Unauthorized: ReadingProblem.KEY,
    Forbidden: ReadingProblem.FORBIDDEN,
    NotConfigured: ReadingProblem.NOT_SERVED,
    NotFound: ReadingProblem.PROJECT,
    Rejected: ReadingProblem.REJECTED,
}


class Window(NamedTuple):
    """A period of a source that a question needs."""

    source: Source
    period: Period
    has_pages: bool = False


@dataclass(slots=True)
class Purse:
    """The calls and the time that a question may spend in one run."""

    calls: float
    until: datetime
    spent: int = 0
    """Its own calls and the shared ones."""


class _NotCalled(Exception):
    """A call may not be made yet."""

    def __init__(self, problem: ReadingProblem) -> None:
        super().__init__(problem)
        self.problem = problem


class _RefusedBefore(Exception):
    """The service has just refused the key."""


class _Turn(asyncio.Lock):
    """The turn to read one period of a source. The questions that wait for it share its calls."""

    calls = 0
    """Calls made by all the questions that had the turn."""


class Reader:
    """Reads for the questions of this process."""

    def __init__(self) -> None:
        self._turns = WeakValueDictionary[object, _Turn]()
        self._places = dict[object, asyncio.Semaphore]()

    async def read(
        self, context: WorkerContext, question: Question, window: Window, purse: Purse
    ) -> Reading:
        """Read on as far as the question may, and store that. Return the reading without its pages.

        The pages stay in the store until the question is answered, because they may take much
        memory.
        """
        turn = self._turns.setdefault((question.project, window.source, window.period), _Turn())
        calls_before = turn.calls
        async with turn:
            purse.spent += turn.calls - calls_before
            found = await context.store.read(
                lambda tx: find_reading(context, tx, question.project, window, question.readings)
            )
            reading = _forget_failures(found, question, context.clock())
            if reading.retry_at is None or reading.retry_at <= context.clock():
                reading = await self._read_on(context, question, reading, purse, turn)
            if reading != found or reading.id is None:
                is_well = reading.read_at != found.read_at and not reading.attempts
                reading = await context.settle(partial(_store, context, reading, is_well))
        return replace(reading, pages=None if reading.is_whole else {})

    async def _read_on(
        self,
        context: WorkerContext,
        question: Question,
        reading: Reading,
        purse: Purse,
        turn: _Turn,
    ) -> Reading:
        """Make calls until a reading is whole, fails, or the question may make no more."""
        places = self._places.setdefault(
            (question.project, question.kind), asyncio.Semaphore(_PLACES[question.kind])
        )
        calls = 0
        if not reading.is_whole and await _has_too_many_pages(context, reading):
            return replace(reading, problem=ReadingProblem.TOO_LARGE)
        try:
            while not reading.is_whole:
                if _has_all_calls(context, reading):
                    return replace(reading, problem=ReadingProblem.TOO_LARGE)
                async with places:
                    await _take_call(context, question, purse)
                    turn.calls += 1
                    reading = await _call(context, reading)
                calls += 1
                if calls % _CALLS_STORED_AT_ONCE == 0 and not reading.is_whole:
                    reading = await context.settle(partial(_store, context, reading, True))
        except _NotCalled as reason:
            return replace(reading, problem=reason.problem)
        except asyncio.CancelledError:  # the process stops
            await context.store.write(lambda tx: Readings(tx).put(reading))
            raise
        except DatabaseTrouble:
            raise
        except Exception as error:  # counts as a try: otherwise it would be read again and again
            is_unexpected = not isinstance(error, DocsApiError | _RefusedBefore)
            log.warning("visitors_not_read", reason=reason_of(error), exc_info=is_unexpected)
            return await context.settle(partial(_fail, context, reading, error))
        return reading


def find_reading(
    context: Context,
    tx: Transaction,
    project: ProjectId,
    window: Window,
    listed: Sequence[ReadingId] = (),
) -> Reading:
    """Return the listed reading of a window.

    Else a stored one, else one with nothing.
    """
    now = context.clock()
    period = window.period
    is_final = period.is_final(now, context.settings.analytics_zone)
    reading = Readings(tx).find(project, window.source, period, now, listed, is_final=is_final)
    if reading is None:
        reading = Reading(project, window.source, period, now, is_final)
    return replace(reading, pages=(reading.pages or {}) if window.has_pages else None)


def _forget_failures(reading: Reading, question: Question, now: datetime) -> Reading:
    """Return a reading that is tried at once if it failed too early.

    That is before its question was to be answered.
    """
    if reading.failed_at is None or not reading.failed_at < question.asked_at <= now:
        return reading
    return replace(reading, attempts=0, problem=None, failed_at=None, retry_at=None)


async def drop_old_pages(context: WorkerContext) -> int:
    """Delete some of the numbers by page whose periods are long over.

    Return the number of readings.
    """
    today = context.today()
    return await context.store.write(
        lambda tx: Readings(tx).drop_old_pages(today, _DROPPED_AT_ONCE)
    )


# ---- calls


async def _take_call(context: WorkerContext, question: Question, purse: Purse) -> None:
    """Take a call from the purse and from the hour's budget.

    Raises _NotCalled or _RefusedBefore.
    """
    if context.clock() >= purse.until:
        raise _NotCalled(ReadingProblem.LATE)
    if purse.spent >= purse.calls:
        raise _NotCalled(ReadingProblem.SHARE)
    # Before the await, because the windows of a question are read at once.
    purse.spent += 1
    try:
        await context.settle(partial(_take_from_budget, context, question))
    except (_NotCalled, _RefusedBefore):
        purse.spent -= 1
        raise


def _take_from_budget(context: WorkerContext, question: Question, tx: Transaction) -> None:
    """Take a call from the hour's budget. Raises _NotCalled or _RefusedBefore."""
    project = question.project
    now = context.clock()
    back_off = BackOffs(tx).of(project)
    if back_off is not None and back_off.refuses_reading and back_off.lasts(now):
        raise _RefusedBefore
    budget = analytics_budget(context, tx, project)
    if budget.used >= budget.limit:
        raise _NotCalled(ReadingProblem.NO_CALLS)
    if budget.free < 1:
        raise _NotCalled(ReadingProblem.LIMITED)
    if question.kind is QuestionKind.DIGEST and budget.digest_calls_left < 1:
        raise _NotCalled(ReadingProblem.KEPT)
    AnalyticsQuota(tx).take(context.projects.budget_of(project), 1, now)


async def _call(context: WorkerContext, reading: Reading) -> Reading:
    """Make one call, and return the reading with its result."""
    well = replace(reading, attempts=0, problem=None, failed_at=None, retry_at=None)
    if not reading.is_of_gaps:
        return await _call_pages(context, well)
    rows = await read_gap_rows(context.docs, reading.project, reading.source, reading.period)
    return replace(well, gap_rows=rows, read_at=context.clock())


class _PageOfRows(NamedTuple):
    """The response to one call for visitors or views."""

    totals: Visitors | Views
    rows: Sequence[PageVisitors | PageViews]
    has_more: bool


async def _call_pages(context: WorkerContext, reading: Reading) -> Reading:
    """Read the totals of a period, or its next pages. Pages that come again are left out."""
    size = context.page_size if reading.pages is not None else 1
    offset = reading.next_offset if reading.pages is not None else 0
    page = await _fetch_rows(context, reading, size, offset)
    reading = replace(reading, totals=_to_counts(page.totals), read_at=context.clock())
    if reading.pages is None:
        return reading
    pages = dict(reading.pages)
    for row in page.rows:
        path = row.path[:_MAX_PATH_LENGTH].encode("utf-8", "replace").decode()
        pages.setdefault(path, _to_counts(row))
    is_endless = page.has_more and not reading.rows < len(pages) < MAX_PAGES
    return replace(
        reading,
        pages=pages,
        next_offset=offset + size,
        is_complete=not page.has_more,
        problem=ReadingProblem.ENDLESS if is_endless else None,
    )


async def _fetch_rows(
    context: WorkerContext, reading: Reading, size: int, offset: int
) -> _PageOfRows:
    first = reading.period.first
    end = reading.period.end
    if reading.source is Source.VIEWS:
        views = await context.docs.views(
            reading.project, limit=size, offset=offset, date_from=first, date_to=end
        )
        return _PageOfRows(views.totals, views.views, views.has_more)
    visitors = await context.docs.visitors(
        reading.project, limit=size, offset=offset, date_from=first, date_to=end
    )
    return _PageOfRows(visitors.totals, visitors.visitors, visitors.has_more)


def _to_counts(counts: Visitors | Views) -> Counts:
    return Counts(counts.human, counts.ai, counts.total)


async def _has_too_many_pages(context: WorkerContext, reading: Reading) -> bool:
    """Return whether views are known to take more calls than are made for them.

    The visitors of the period, which are read before, have as many pages.
    """
    if reading.source is not Source.VIEWS:
        return False
    window = Window(Source.VISITORS, reading.period)
    visitors = await context.store.read(
        lambda tx: find_reading(context, tx, reading.project, window)
    )
    return visitors.next_offset > MAX_VIEWS_CALLS * context.page_size


def _has_all_calls(context: WorkerContext, reading: Reading) -> bool:
    """Return whether all calls for the views of a period were made."""
    is_at_end = reading.next_offset >= MAX_VIEWS_CALLS * context.page_size
    return reading.source is Source.VIEWS and is_at_end


# ---- outcomes


def _store(context: WorkerContext, reading: Reading, is_well: bool, tx: Transaction) -> Reading:
    """Store a reading. A call that succeeded (``is_well``) ends a back-off because of the key."""
    if is_well and is_refused(tx, reading.project):
        service_is_well(context, tx, reading.project, wrote=False)
    return Readings(tx).put(reading)


def _fail(context: WorkerContext, reading: Reading, error: Exception, tx: Transaction) -> Reading:
    """Return a reading with its failure.

    After a 429 the calls of all projects with the key stop.
    """
    asked_seconds = getattr(error, "retry_after_seconds", None) or 0.0
    if isinstance(error, RateLimited):
        until = context.after(max(asked_seconds or _UNKNOWN_WAIT_SECONDS, 1.0))
        AnalyticsQuota(tx).mark_exhausted(context.projects.budget_of(reading.project), until)
        return replace(reading, problem=ReadingProblem.LIMITED)
    if isinstance(error, Unauthorized):
        settle_refused_key(context, tx, reading.project, error, wrote=False)
    problem = _problem_of(error, reading.source)
    attempts = reading.attempts + 1
    chance = context.chance()
    wait = timedelta(seconds=max(asked_seconds, back_off_seconds(attempts, chance, cap=60.0)))
    failures = attempts - MAX_QUICK_TRIES + 1
    if problem is not ReadingProblem.UNWELL or failures > 0:
        wait = max(wait, min(max(failures, 1), 3) * _PAUSE)
    now = context.clock()
    return replace(reading, attempts=attempts, problem=problem, failed_at=now, retry_at=now + wait)


def _problem_of(error: Exception, source: Source) -> ReadingProblem:
    """Return the problem of a call that failed."""
    if source is not Source.VISITORS and isinstance(error, Forbidden | NotFound):
        return ReadingProblem.NOT_HERE
    if isinstance(error, _RefusedBefore):
        return ReadingProblem.KEY
    return _PROBLEMS.get(type(error), ReadingProblem.UNWELL)
