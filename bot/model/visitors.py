"""Unique visitors of the docs, and periods. The counts are approximate and must never be added up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from bot.model.ids import PageKey, ProjectId, SnapshotId

_CHART_POINTS = 20
"""The most points that Slack draws.

https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
"""
_MOST_DAILY_POINTS = 14
"""A longer period is charted by weeks."""


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

    def before(self) -> Period:
        """Return the period of equal length directly before this one."""
        return Period(self.first - timedelta(days=self.days), self.first)

    def earlier(self, count: int) -> tuple[Period, ...]:
        """Return the ``count`` periods of equal length that end with this one, oldest first."""
        lengths = (number * timedelta(days=self.days) for number in reversed(range(count)))
        return tuple(Period(self.first - length, self.end - length) for length in lengths)

    def steps(self) -> tuple[Period, ...]:
        """Split the period into 2 to 20 parts for a chart: days, weeks, or several weeks each.

        Returns nothing for a single day.
        """
        if self.days == 1:
            return ()
        length = 1 if self.days <= _MOST_DAILY_POINTS else 7
        while -(-self.days // length) > _CHART_POINTS:
            length += 7
        return tuple(self._cut(length))

    def _cut(self, length: int) -> Iterator[Period]:
        """Split from the end, so that only the oldest part can be shorter."""
        first = self.first
        end = self.first + timedelta(days=self.days % length or length)
        while first < self.end:
            yield Period(first, end)
            first, end = end, end + timedelta(days=length)

    def is_over(self, now: datetime, zone: ZoneInfo, settled: timedelta = timedelta()) -> bool:
        """Return whether the last day ended, in this zone, at least ``settled`` ago."""
        return now - settled >= day_start(self.end, zone)


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
    may be fetched (again). ``attempts``: calls that failed since the last one that did not.
    """

    id: SnapshotId
    project: ProjectId
    period: Period
    state: SnapshotState
    with_pages: bool
    totals: Counts | None
    rows: int
    repeated: int
    next_offset: int
    calls: int
    attempts: int
    complete: bool
    is_final: bool
    taken_at: datetime | None
    due_at: datetime
    problem: str | None = None


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
