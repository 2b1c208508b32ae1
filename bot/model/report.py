"""The content of reports about visitors, ready to be rendered as messages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.model.digests import Subscription
from bot.model.ids import JobNumber
from bot.model.jobs import JobState
from bot.model.period import Period
from bot.model.questions import VisitorsQuery
from bot.model.visitors import Budget, Counts, PageCounts, Snapshot


@dataclass(frozen=True, slots=True)
class Movements:
    """Pages whose readership changed between two periods, and pages with an unusual share of AI agents."""

    risen: tuple[PageCounts, ...] = ()
    fallen: tuple[PageCounts, ...] = ()
    appeared: tuple[PageCounts, ...] = ()
    vanished: tuple[PageCounts, ...] = ()
    """With their counts in the earlier period."""
    hardly_people: tuple[PageCounts, ...] = ()
    hardly_ai: tuple[PageCounts, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A period compared with another, and its pages.

    ``site`` and ``before`` are the totals of both periods. ``pages`` is the number of pages in the section.
    ``chart`` has the unique visitors of each part of the period, which do not add up. ``is_open``: the
    period was not over when its numbers were taken. ``is_fair``: the two periods can be compared; they are
    equally long, both were over, and pages are known of both. Otherwise no page has earlier counts.
    ``no_chart``: the reason why there is no chart, if there is one to tell.
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
    is_fair: bool
    taken_at: datetime


@dataclass(frozen=True, slots=True)
class WorkDone:
    """The jobs requested in a week, counted by their current state.

    ``to_review``: jobs of the digest's channel whose pull requests wait for review, newest first.
    """

    asked: int
    by_state: dict[JobState, int]
    median_time: timedelta | None
    to_review: tuple[JobNumber, ...] = ()


class SuggestionReason(StrEnum):
    """Why the digest suggests improving a page."""

    FALLING = "falling"
    ONLY_AI = "only_ai"
    MOST_READ = "most_read"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A page that the digest suggests improving."""

    page: PageCounts
    why: SuggestionReason


@dataclass(frozen=True, slots=True)
class WeeklyReport:
    """The content of a weekly digest.

    ``curve``: the last eight weeks, oldest first, with None for a week that has not been read.
    ``suggestion``: None if no page qualifies. ``subscription``: None if the digest was requested once.
    """

    report: Report
    curve: tuple[tuple[Period, Counts | None], ...]
    work: WorkDone
    suggestion: Suggestion | None
    subscription: Subscription | None
