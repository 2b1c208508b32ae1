"""Read the numbers of periods for questions, within the hourly budget of calls.

A reading is one value, stored when reading ends: nothing of it is stored before. Questions of this process
that need the same reading share its calls.
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
    RateLimited,
    Rejected,
    Unauthorized,
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
from bot.store import DatabaseTrouble, Transaction
from bot.visitors.gap_rows import read_gap_rows
from bot.visitors.model.gaps import Source
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import Question, QuestionKind
from bot.visitors.model.readings import Counts, Reading, ReadingProblem
from bot.visitors.store import Readings

log = structlog.get_logger(__name__)
MOST_PAGES = 50_000


_PATH_LENGTH = 2_000
_QUICK_TRIES = 4


_PAUSE = timedelta(minutes=10)
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
    with_pages: bool = False


@dataclass(slots=True)
class Purse:
    """The calls and the time that a question may spend in one run."""

    calls: float
    until: datetime
    spent: int = 0
    """Its own calls and the shared ones."""


class _NoCallLeft(Exception):
    """The hourly budget is used up."""


class _RefusedBefore(Exception):
    """The service has just refused the key."""


class _Turn(asyncio.Lock):
    """The turn to read one period of a source. The questions that wait for it share its calls."""

    calls = 0
    """Calls made by all the questions that had the turn."""


class Reader:
    """Reads for the questions of this process; several of them share a reading."""

    def __init__(self) -> None:
        self._turns = WeakValueDictionary[object, _Turn]()
        self._places = dict[object, asyncio.Semaphore]()

    async def read(
        self, context: WorkerContext, question: Question, window: Window, purse: Purse
    ) -> Reading:
        """Read on as far as the question may, and store that. Return the reading without its pages.

        The pages stay in the store until the question is answered, because they may take much memory.
        """
        turn = self._turns.setdefault((question.project, window[:2]), _Turn())
        calls_before = turn.calls
        async with turn:
            purse.spent += turn.calls - calls_before
            before = await context.store.read(
                lambda tx: find_reading(context, tx, question.project, window, question.readings)
            )
            if question.user and before.tried_at and before.tried_at < question.asked_at:
                before = replace(before, attempts=0, problem=None, retry_at=None)
            reading, error = before, None
            if before.retry_at is None or before.retry_at <= context.clock():
                reading, error = await self._read_on(context, question, before, purse, turn)
            if error or reading is not before or before.id is None:
                is_well = error is None and reading is not before
                reading = await context.settle(
                    lambda tx: _store(context, tx, reading, error, is_well=is_well)
                )
        return replace(reading, pages=None if reading.is_whole else {})

    async def _read_on(
        self,
        context: WorkerContext,
        question: Question,
        reading: Reading,
        purse: Purse,
        turn: _Turn,
    ) -> tuple[Reading, Exception | None]:
        """Make calls until a reading is whole, fails, or the question may make no more."""
        # Four calls at once about a project: three for people and one for digests.
        count = 3 if question.kind is QuestionKind.VISITORS else 1
        places = self._places.setdefault(
            (question.project, question.kind), asyncio.Semaphore(count)
        )
        try:
            while not reading.is_whole and context.clock() < purse.until:
                async with places:
                    if purse.spent >= purse.calls:
                        break
                    purse.spent += 1
                    await context.settle(partial(_take_call, context, question))
                    turn.calls += 1
                    reading = await _call(context, reading)
        except _NoCallLeft:
            purse.spent -= 1
        except asyncio.CancelledError:  # the process stops
            await context.store.write(lambda tx: Readings(tx).put(reading, context.clock()))
            raise
        except DatabaseTrouble:
            raise
        except Exception as error:  # counts as a try: otherwise it would be read again and again
            is_unexpected = not isinstance(error, DocsApiError | _RefusedBefore)
            log.warning("visitors_not_read", reason=type(error).__name__, exc_info=is_unexpected)
            return reading, error
        return reading, None


def find_reading(
    context: Context,
    tx: Transaction,
    project: ProjectId,
    window: Window,
    listed: Sequence[ReadingId] = (),
) -> Reading:
    """Return the one of the listed readings that is of a window, else a stored one, else one with nothing."""
    source, period, with_pages = window
    now = context.clock()
    is_final = period.is_final(now, context.settings.analytics_zone)
    reading = Readings(tx).find(project, source, period, now, listed, is_final=is_final)
    reading = reading or Reading(project, source, period, now, is_final)
    return replace(reading, pages=(reading.pages or {}) if with_pages else None)


def _take_call(context: WorkerContext, question: Question, tx: Transaction) -> None:
    """Take a call from the budget. Raises _NoCallLeft or _RefusedBefore."""
    project = question.project
    back_off = BackOffs(tx).of(project)
    if back_off is not None and back_off.refuses_reading and back_off.lasts(context.clock()):
        raise _RefusedBefore
    account = context.projects.budget_of(project)
    budget = analytics_budget(context, tx, project)
    if (budget.digest_calls_left if question.kind is QuestionKind.DIGEST else budget.free) < 1:
        raise _NoCallLeft
    AnalyticsQuota(tx).take(account, 1, context.clock())


async def _call(context: WorkerContext, reading: Reading) -> Reading:
    """Make one call, and return the reading with its result."""
    project, period = reading.project, reading.period
    well = replace(reading, attempts=0, problem=None, tried_at=None, retry_at=None)
    if reading.source is not Source.VISITORS:
        rows = await read_gap_rows(context.docs, project, reading.source, period)
        return replace(well, gap_rows=rows, taken_at=context.clock())
    size, offset = (1, 0) if reading.pages is None else (context.page_size, reading.next_offset)
    page = await context.docs.visitors(
        project, date_from=period.first, date_to=period.end, limit=size, offset=offset
    )
    totals = Counts(page.totals.human, page.totals.ai, page.totals.total)
    well = replace(well, totals=totals, taken_at=context.clock())
    if reading.pages is None:
        return well
    pages = dict(reading.pages)
    for row in page.visitors:
        path = row.path[:_PATH_LENGTH].encode("utf-8", "replace").decode()
        pages.setdefault(path, Counts(row.human, row.ai, row.total))
    is_endless = page.has_more and not reading.rows < len(pages) < MOST_PAGES
    return replace(
        well,
        pages=pages,
        next_offset=offset + size,
        complete=not page.has_more,
        problem=ReadingProblem.ENDLESS if is_endless else None,
    )


def _store(
    context: WorkerContext,
    tx: Transaction,
    reading: Reading,
    error: Exception | None,
    *,
    is_well: bool,
) -> Reading:
    """Store a reading. A call that succeeded ends a back-off because of the key."""
    if error:
        reading = _fail(context, tx, reading, error)
    elif is_well and is_refused(tx, reading.project):
        service_is_well(context, tx, reading.project, wrote=False)
    return Readings(tx).put(reading, context.clock())


def _fail(context: WorkerContext, tx: Transaction, reading: Reading, error: Exception) -> Reading:
    """Let a reading be tried again in seconds, or note the problem. After a 429 the project's calls stop."""
    now = context.clock()
    asked_seconds = getattr(error, "retry_after_seconds", None) or 0.0
    if isinstance(error, RateLimited):
        until = context.after(max(asked_seconds or _UNKNOWN_WAIT_SECONDS, 1.0))
        AnalyticsQuota(tx).mark_exhausted(context.projects.budget_of(reading.project), until)
        return reading
    problem = (
        ReadingProblem.KEY if isinstance(error, _RefusedBefore) else _PROBLEMS.get(type(error))
    )
    if reading.source is not Source.VISITORS and isinstance(error, Forbidden | NotFound):
        problem = ReadingProblem.NOT_HERE
    if isinstance(error, Unauthorized):
        settle_refused_key(context, tx, reading.project, error, wrote=False)
    attempts = reading.attempts + 1
    wait = timedelta(
        seconds=max(asked_seconds, back_off_seconds(attempts, context.chance(), cap=60.0))
    )
    if problem or attempts >= _QUICK_TRIES:
        problem = problem or ReadingProblem.UNWELL
        wait = max(wait, min(max(attempts - _QUICK_TRIES + 1, 1), 3) * _PAUSE)
    return replace(reading, attempts=attempts, problem=problem, tried_at=now, retry_at=now + wait)
