"""Unique visitors of the docs, and periods. The counts are approximate and must never be added up."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from bot.ids import PageKey, ProjectId, SnapshotId
from bot.model.misses import Source, Words

_CHART_POINTS = 20
"""The most points that Slack draws.

https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
"""
_WEEK = 7
_UNITS = (12, 3, 1)
"""The months of a year, a quarter and a month, which are compared with the one before."""


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """Whole days from ``first`` to the day before ``end``. Raises ValueError if that is no day."""

    first: date
    end: date

    def __post_init__(self) -> None:
        if self.first >= self.end:
            raise ValueError("a period has at least one day")

    @property
    def last(self) -> date:
        """The last day of the period."""
        return self.end - timedelta(days=1)

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.end - self.first).days

    @property
    def is_year(self) -> bool:
        """Whether this is a whole calendar year."""
        return self._months() == 12

    def before(self) -> Period:
        """Return the period to compare with.

        For a whole calendar month, quarter or year it is the one before, which may be longer or shorter.
        Otherwise it is the latest earlier period of equal length on the same weekdays, since fewer people
        read on weekends.
        """
        if months := self._months():
            return Period(_months_before(self.first, months), self.first)
        back = timedelta(days=-(-self.days // _WEEK) * _WEEK)
        return Period(self.first - back, self.end - back)

    def _months(self) -> int:
        """Return the months of the whole year, quarter or month that this is; 0 if it is none."""
        if self.first.day != 1:
            return 0
        begun = self.first.month - 1
        fits = (each for each in _UNITS if begun % each == 0 and _months_before(self.end, each) == self.first)
        return next(fits, 0) if self.end.day == 1 else 0

    def lead(self) -> Period:
        """Return the week that ends with the first day.

        If the service has visits for it, its data does not begin later than the period.
        """
        end = self.first + timedelta(days=1)
        return Period(end - timedelta(days=_WEEK), end)

    def earlier(self, count: int) -> tuple[Period, ...]:
        """Return the ``count`` periods of equal length that end with this one, oldest first."""
        lengths = (number * timedelta(days=self.days) for number in reversed(range(count)))
        return tuple(Period(self.first - length, self.end - length) for length in lengths)

    def steps(self) -> tuple[Period, ...]:
        """Return 2 to 20 equally long parts for a chart: days, weeks from Monday, or several such weeks each.

        Days before the first Monday and after the last Sunday are left out, because a part of a week would
        look like a fall. Returns nothing for a single day.
        """
        if self.days <= _CHART_POINTS:
            length, first, end = 1, self.first, self.end
        else:
            first = self.first + timedelta(days=-self.first.weekday() % _WEEK)
            end = self.end - timedelta(days=self.end.weekday())
            length = -(-(end - first).days // (_CHART_POINTS * _WEEK)) * _WEEK
        count = (end - first).days // length
        starts = (end - timedelta(days=length * number) for number in range(count, 0, -1))
        return tuple(Period(each, each + timedelta(days=length)) for each in starts) if count > 1 else ()

    def is_over(self, now: datetime, zone: ZoneInfo, settled: timedelta = timedelta()) -> bool:
        """Return whether the last day ended, in this zone, at least ``settled`` ago."""
        return now - settled >= day_start(self.end, zone)


def _months_before(day: date, count: int) -> date:
    """Return the first day of the month that many months before a day's."""
    index = 12 * day.year + day.month - 1 - count
    return date(index // 12, index % 12 + 1, 1)


def day_start(day: date, zone: ZoneInfo) -> datetime:
    """Return the moment, in UTC, at which a day begins in a zone."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def today(now: datetime, zone: ZoneInfo) -> date:
    """Return the current date in a zone."""
    return now.astimezone(zone).date()


def week_of(day: date) -> Period:
    """Return the week, Monday to Sunday, that contains a day."""
    monday = day - timedelta(days=day.weekday())
    return Period(monday, monday + timedelta(days=7))


def last_full_week(now: datetime, zone: ZoneInfo) -> Period:
    """Return the last complete week, Monday to Sunday."""
    return week_of(week_of(today(now, zone)).first - timedelta(days=1))


def full_days(count: int, now: datetime, zone: ZoneInfo) -> Period:
    """Return the last ``count`` whole days, ending yesterday."""
    end = today(now, zone)
    return Period(end - timedelta(days=count), end)


_SETTLED = timedelta(hours=3)
"""How long after its last day a period's counts are final; the service has added late visits by then."""

_BACKGROUND_SHARE = 0.7
"""Share of the hourly budget that digests may use."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Unique visitors of one period.

    ``total`` counts a visitor once who came both as a person and as an AI agent, so it can be less than
    ``human + ai``.
    """

    human: int
    ai: int
    total: int

    @property
    def ai_share(self) -> float | None:
        """Share of AI agents among all visitors, 0 to 1; None without visitors."""
        return self.ai / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class PageCounts:
    """Counts of one page in a period.

    ``was`` are its counts in the period compared with; None if the page has no row there.
    """

    key: PageKey
    path: str
    now: Counts
    was: Counts | None = None


CHANCE = 3
"""How many standard deviations a change must exceed: one of hundreds of pages exceeds two by chance."""


def is_beyond_chance(now: float, was: float) -> bool:
    """Return whether two counts differ by more than chance makes.

    A count's standard deviation is about its square root, that of a difference the root of the sum.
    """
    return abs(now - was) > CHANCE * math.sqrt(now + was)


class SortBy(StrEnum):
    """The count by which pages are ranked."""

    TOTAL = "total"
    HUMAN = "human"
    AI = "ai"


class ReadingProblem(StrEnum):
    """Why visitors could not be read, as a code."""

    UNWELL = "unwell"
    KEY = "key"
    FORBIDDEN = "forbidden"
    PROJECT = "project"
    NOT_SERVED = "not_served"
    NOT_HERE = "not_here"
    """The service does not give it: another plan, another service, or a key without the right."""
    REJECTED = "rejected"
    ENDLESS = "endless"
    LATE = "late"
    DOWN = "down"


class SnapshotState(StrEnum):
    """``requested → done | failed``. Only what is wanted at the moment is read."""

    REQUESTED = "requested"
    DONE = "done"
    FAILED = "failed"
    """Read again after a pause for a digest, and at once for a person who asks again."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stored answer of the analytics API for one period.

    ``next_offset``: where the next call continues. ``rows``: number of stored pages. ``repeated``: number of
    rows that were returned twice because the ranking changed between calls; as many others may be missing.
    ``complete``: all pages were read. ``is_final``: the counts will not change any more. ``due_at``: when it
    may be fetched (again). ``attempts``: calls that failed since the last one that did not. ``source``: what
    it is an answer of. ``words``: what readers wrote, where that is no count of visitors.
    """

    id: SnapshotId
    project: ProjectId
    period: Period
    state: SnapshotState
    due_at: datetime
    with_pages: bool = False
    totals: Counts | None = None
    rows: int = 0
    repeated: int = 0
    next_offset: int = 0
    calls: int = 0
    attempts: int = 0
    complete: bool = False
    is_final: bool = False
    taken_at: datetime | None = None
    problem: str | None = None
    source: Source = Source.VISITORS
    words: Words | None = None

    @property
    def is_read(self) -> bool:
        """Return whether there is something to show."""
        return self.totals is not None or self.words is not None


@dataclass(frozen=True, slots=True)
class Budget:
    """State of the hourly budget of analytics calls."""

    limit: int
    used: int
    free_at: datetime | None
    """When the next call is possible; None if one is possible now."""

    @property
    def free(self) -> int:
        """Number of calls that are possible now."""
        return 0 if self.free_at is not None else max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True)
class Analytics:
    """The analytics API: its hourly limit on calls, the time zone of its days, and the rows per call."""

    calls_an_hour: int = 100
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    page_size: int = 250

    def background_room(self, budget: Budget) -> int:
        """Return how many calls digests may make now. The rest of the budget is for people who wait."""
        return min(max(1, int(self.calls_an_hour * _BACKGROUND_SHARE)) - budget.used, budget.free)

    @property
    def question_calls(self) -> int:
        """The most calls that one question takes: a third of the hour's."""
        return max(1, self.calls_an_hour // 3)

    def chart_parts(self, period: Period, now: datetime) -> tuple[Period, ...]:
        """Return the parts of a period for a chart that are over; nothing if there are fewer than two."""
        over = tuple(part for part in period.steps() if part.is_over(now, self.zone))
        return over if len(over) > 1 else ()

    def is_final(self, period: Period, now: datetime) -> bool:
        """Return whether the counts of a period will not change any more."""
        return period.is_over(now, self.zone, _SETTLED)


def in_section(path: str, section: str) -> bool:
    """Return whether a page belongs to a section.

    ``/api`` matches that page and all below it; ``/api*`` matches every path that starts with ``/api``.
    """
    if section.endswith("*"):
        return path.startswith(section[:-1])
    bare = section.rstrip("/")
    return path == bare or path.startswith(f"{bare}/")
