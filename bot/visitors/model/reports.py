"""Reports on visitors: a period's pages in their order, compared with another period."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from bot.jobs.model.quota import Budget
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import Numbers, Query, in_section
from bot.visitors.model.readings import NO_VISITORS, Counts, Reading


@dataclass(frozen=True, slots=True)
class Page:
    """A page's counts in a period, and in the period compared with."""

    path: str
    now: Counts
    was: Counts | None = None
    """None if unknown."""

    @property
    def gained(self) -> int:
        return self.now.total - (self.was.total if self.was else 0)


def is_beyond_chance(now: float, was: float) -> bool:
    """Return whether two counts differ by more than three standard deviations."""
    return abs(now - was) > 3 * math.sqrt(now + was)


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
    was: Reading | None = None
    """The period compared with; None unless both are comparable."""
    not_compared: str = ""
    """The reason, as the end of a sentence, if a comparison was asked for."""
    gone: Sequence[Page] = ()
    """Pages that had visitors only before."""

    @property
    def before(self) -> Counts | None:
        return self.was.totals if self.was else None

    @property
    def top(self) -> Sequence[Page]:
        return self.pages[: self.query.top]

    @property
    def moved(self) -> list[Page]:
        """Pages whose visitors changed beyond chance, the largest change first."""
        moved = [
            page
            for page in (*self.pages, *self.gone)
            if page.was is not None and is_beyond_chance(page.now.total, page.was.total)
        ]
        return sorted(moved, key=lambda page: (-abs(page.gained), page.path))

    @property
    def risen(self) -> list[Page]:
        return [page for page in self.moved if page.gained > 0 and page.was != NO_VISITORS]

    @property
    def fallen(self) -> list[Page]:
        return [page for page in self.moved if page.gained < 0 and page.now != NO_VISITORS]

    @property
    def appeared(self) -> list[Page]:
        return [page for page in self.moved if page.was == NO_VISITORS]

    @property
    def vanished(self) -> list[Page]:
        return [page for page in self.moved if page.now == NO_VISITORS]


def build_report(numbers: Numbers, zone: ZoneInfo, budget: Budget) -> Report:
    """Build the report on a period, with days in a zone. Raises LookupError if it has not been read."""
    query = numbers.query
    now, was = numbers.visitors(query.period), numbers.visitors(query.compared)
    if now is None or now.totals is None or now.taken_at is None:
        raise LookupError("a period that was not read")
    not_compared = explain_no_comparison(numbers, now, was, zone) if query.compared else ""
    was = None if not_compared else was
    counts, before = now.pages or {}, (was.pages or {}) if was else {}
    missing = NO_VISITORS if was and was.complete else None
    rows = [
        Page(path, count, before.get(path, missing)) for path, count in _in_section(query, counts)
    ]
    rows.sort(key=lambda page: (-getattr(page.now, query.sort), page.path))
    earlier = _in_section(query, before) if now.complete else ()
    return Report(
        query=query,
        now=now,
        site=now.totals,
        pages=rows,
        chart=numbers.chart,
        budget=budget,
        zone=zone.key,
        is_open=not query.period.is_over(now.taken_at, zone),
        was=was,
        not_compared=not_compared,
        gone=[Page(path, NO_VISITORS, count) for path, count in earlier if path not in counts],
    )


def _in_section(query: Query, pages: Mapping[str, Counts]) -> Iterable[tuple[str, Counts]]:
    return ((path, counts) for path, counts in pages.items() if in_section(path, query.section))


def explain_no_comparison(
    numbers: Numbers, now: Reading, was: Reading | None, zone: ZoneInfo
) -> str:
    """Return why a period is not compared, as the end of a sentence; "" if it is."""
    period, compared = numbers.query.period, numbers.query.compared
    if (
        compared is None
        or was is None
        or was.totals is None
        or was.taken_at is None
        or now.taken_at is None
    ):
        return "it couldn't be read"
    if not was.totals.total:
        return "no visits for it"
    week = min(period, compared).lead_week()
    lead = numbers.visitors(week)
    if lead is None or lead.totals is None or not lead.totals.total:
        return f"no visits known for {week}, so the data may begin later"
    if not (period.is_over(now.taken_at, zone) and compared.is_over(was.taken_at, zone)):
        return f"they weren't both over; it had {was.totals.total:,} visitors"
    if period.days != compared.days:
        return f"it has {compared.days} days and not {period.days}, and had {was.totals.total:,} visitors"
    return ""
