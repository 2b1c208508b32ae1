"""What a report about visitors is made of, gathered and ready to be said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.model.digests import Subscription
from bot.model.jobs import JobState
from bot.model.period import Period
from bot.model.questions import VisitorsQuery
from bot.model.visitors import Budget, Counts, PageCounts, Snapshot


@dataclass(frozen=True, slots=True)
class Movements:
    """What changed between two windows, and whose readers are unlike the site's."""

    risen: tuple[PageCounts, ...] = ()
    fallen: tuple[PageCounts, ...] = ()
    appeared: tuple[PageCounts, ...] = ()
    vanished: tuple[PageCounts, ...] = ()
    """As they were before."""
    hardly_people: tuple[PageCounts, ...] = ()
    hardly_ai: tuple[PageCounts, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """One window against another, with its pages.

    ``pages`` counts those of the section; ``chart`` holds a part of the window with its own unique visitors
    each, since days are never added; ``is_open``: the window is not over.
    """

    query: VisitorsQuery
    now: Snapshot
    was: Snapshot | None
    site: Counts
    before: Counts | None
    pages: int
    top: tuple[PageCounts, ...]
    movements: Movements
    chart: tuple[tuple[Period, Counts], ...]
    no_chart: str | None
    budget: Budget
    zone: str
    is_open: bool
    taken_at: datetime


@dataclass(frozen=True, slots=True)
class WorkDone:
    """What came of the jobs that were asked for in a week, as they stand now."""

    asked: int
    by_state: dict[JobState, int]
    median_time: timedelta | None


class Why(StrEnum):
    """Why a page is worth improving."""

    FALLING = "falling"
    ONLY_AI = "only_ai"
    MOST_READ = "most_read"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A page worth improving."""

    page: PageCounts
    why: Why


@dataclass(frozen=True, slots=True)
class WeeklyReport:
    """A weekly digest. ``curve``: the last eight weeks, oldest first; None where nothing is known."""

    report: Report
    curve: tuple[tuple[Period, Counts | None], ...]
    work: WorkDone
    suggestion: Suggestion | None
    subscription: Subscription | None
