"""Reports on visitors: a period's pages in their order, compared with another period."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from zoneinfo import ZoneInfo

from bot.jobs.model.quota import Budget
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import Numbers, Query, in_section
from bot.visitors.model.readings import NO_VISITORS, Counts, Reading, ReadingProblem


@dataclass(frozen=True, slots=True)
class Page:
    """A page's counts in a period, and in the period compared with."""

    path: str
    now: Counts
    was: Counts | None = None
    """None if unknown."""

    @property
    def gain(self) -> int:
        """The growth in visitors; negative for a loss."""
        return self.now.total - (self.was.total if self.was else 0)


def is_beyond_chance(now: float, was: float) -> bool:
    """Return whether two counts differ by more than three standard deviations."""
    return abs(now - was) > 3 * math.sqrt(now + was)


class NotComparable(StrEnum):
    """Why two periods are not compared."""

    UNREAD = "unread"
    """The numbers of ``NoComparison.period`` are missing."""
    NO_VISITS = "no_visits"
    """The period compared with had no visits."""
    BEFORE_DATA = "before_data"
    """The week before, ``NoComparison.period``, had no visits, so that the data may begin later."""
    NOT_OVER = "not_over"
    """``NoComparison.period`` was not over."""
    UNEQUAL = "unequal"
    """One period is longer."""


@dataclass(frozen=True, slots=True)
class NoComparison:
    """Why a report has no comparison."""

    reason: NotComparable
    period: Period
    """The period that is the reason."""
    problem: str = ReadingProblem.LATE
    """Why its numbers are missing, if they are."""
    total: int = 0
    """The visitors of the period compared with."""


@dataclass(frozen=True, slots=True)
class Report:
    """The content of an answer about visitors."""

    query: Query
    now: Reading
    site: Counts
    """Totals of the whole site."""
    pages: Sequence[Page]
    """Pages of the section in their order."""
    chart: Sequence[tuple[Period, Counts]]
    budget: Budget
    zone: str
    is_open: bool = False
    """Whether the period was not over when it was read."""
    earlier: Reading | None = None
    """The period compared with; None unless both are comparable."""
    not_compared: NoComparison | None = None
    """The reason if a comparison was asked for and there is none."""
    gone: Sequence[Page] = ()
    """Pages that had visitors only before."""
    views: Counts | None = None
    """The views of all pages of the section.

    None without a section, and unless they are complete.
    """
    views_problem: str | None = None
    """Why the views of the section are missing.

    None if they are not, or if the service has none.
    """

    @property
    def before(self) -> Counts | None:
        return self.earlier.totals if self.earlier else None

    @property
    def top(self) -> Sequence[Page]:
        return self.pages[: self.query.top]

    @property
    def moved_pages(self) -> list[Page]:
        """Pages whose visitors changed beyond chance, the largest change first."""
        moved = [
            page
            for page in (*self.pages, *self.gone)
            if page.was is not None and is_beyond_chance(page.now.total, page.was.total)
        ]
        return sorted(moved, key=lambda page: (-abs(page.gain), page.path))

    @property
    def risen_pages(self) -> list[Page]:
        return [page for page in self.moved_pages if page.gain > 0 and page.was != NO_VISITORS]

    @property
    def fallen_pages(self) -> list[Page]:
        return [page for page in self.moved_pages if page.gain < 0 and page.now != NO_VISITORS]

    @property
    def new_pages(self) -> list[Page]:
        return [page for page in self.moved_pages if page.was == NO_VISITORS]

    @property
    def gone_pages(self) -> list[Page]:
        return [page for page in self.moved_pages if page.now == NO_VISITORS]


def build_report(numbers: Numbers, zone: ZoneInfo, budget: Budget) -> Report:
    """Build the report on a period, with days in a zone.

    Raises LookupError if it has not been read.
    """
    query = numbers.query
    now = numbers.visitors(query.period)
    if now is None or now.totals is None or now.read_at is None:
        raise LookupError("a period that was not read")
    not_compared = None
    was = None
    if query.compared is not None:
        was = numbers.visitors(query.compared)
        not_compared = explain_no_comparison(numbers, zone)
    if not_compared is not None:
        was = None
    views, views_problem = _add_views(numbers)
    return Report(
        query=query,
        now=now,
        site=now.totals,
        pages=_rank_pages(query, now, was),
        chart=numbers.chart,
        budget=budget,
        zone=zone.key,
        is_open=not query.period.is_over(now.read_at, zone),
        earlier=was,
        not_compared=not_compared,
        gone=_list_gone(query, now, was),
        views=views,
        views_problem=views_problem,
    )


def _add_views(numbers: Numbers) -> tuple[Counts | None, str | None]:
    """Return the views of the query's section, and why they are missing. A part is never shown."""
    reading = numbers.views
    if reading is None or reading.problem == ReadingProblem.NOT_HERE:
        return None, None
    if not reading.is_complete:
        return None, reading.problem or ReadingProblem.LATE
    pages = _select_section(numbers.query, reading.pages or {}).values()
    views = Counts(
        human=sum(page.human for page in pages),
        ai=sum(page.ai for page in pages),
        total=sum(page.total for page in pages),
    )
    return views, None


def _rank_pages(query: Query, now: Reading, was: Reading | None) -> list[Page]:
    """Return the pages of the section with their earlier counts, in the query's order."""
    before = (was.pages or {}) if was else {}
    # A page that is missing from all pages had no visitors. Otherwise its count is unknown.
    missing = NO_VISITORS if was and was.is_complete else None
    counts = _select_section(query, now.pages or {})
    pages = [Page(path, count, before.get(path, missing)) for path, count in counts.items()]
    return sorted(pages, key=lambda page: (-getattr(page.now, query.sort), page.path))


def _list_gone(query: Query, now: Reading, was: Reading | None) -> list[Page]:
    """Return the pages of the section with visitors only in the period before."""
    if was is None or not now.is_complete:
        return []
    counts = now.pages or {}
    before = _select_section(query, was.pages or {})
    return [Page(path, NO_VISITORS, count) for path, count in before.items() if path not in counts]


def _select_section(query: Query, pages: Mapping[str, Counts]) -> dict[str, Counts]:
    return {path: counts for path, counts in pages.items() if in_section(path, query.section)}


def explain_no_comparison(numbers: Numbers, zone: ZoneInfo) -> NoComparison | None:
    """Return why a period is not compared with the other one of the query; None if it is."""
    query = numbers.query
    period = query.period
    compared = query.compared or period
    lead_week = min(period, compared).lead_week()
    totals = dict[Period, int]()
    for needed in (period, compared, lead_week):
        reading = numbers.visitors(needed)
        if reading is None or reading.totals is None:
            problem = numbers.problem_of(needed)
            return NoComparison(NotComparable.UNREAD, needed, problem)
        totals[needed] = reading.totals.total
    if not totals[compared]:
        return NoComparison(NotComparable.NO_VISITS, compared)
    if not totals[lead_week]:
        return NoComparison(NotComparable.BEFORE_DATA, lead_week)
    for needed in (period, compared):
        reading = numbers.visitors(needed)
        if reading is None or reading.read_at is None or not needed.is_over(reading.read_at, zone):
            return NoComparison(NotComparable.NOT_OVER, needed, total=totals[compared])
    if period.days != compared.days:
        return NoComparison(NotComparable.UNEQUAL, compared, total=totals[compared])
    return None
