"""Days as people mean them: a period, half open inside, and how one is cut and compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_CHART_POINTS = 20
"""A chart takes no more: https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block"""
_DAILY = 14


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """Whole days from ``first`` up to, without, ``end``; never empty."""

    first: date
    end: date

    def __post_init__(self) -> None:
        if self.first >= self.end:
            raise ValueError("a period has at least one day")

    @property
    def last(self) -> date:
        """The last day that belongs to it."""
        return self.end - timedelta(days=1)

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.end - self.first).days

    def before(self) -> Period:
        """The period of equal length that ends where this one begins."""
        return Period(self.first - timedelta(days=self.days), self.first)

    def steps(self) -> tuple[Period, ...]:
        """The period in two to twenty parts for a chart: days, else weeks or more; nothing for one day."""
        if self.days == 1:
            return ()
        length = 1 if self.days <= _DAILY else 7
        while -(-self.days // length) > _CHART_POINTS:
            length += 7
        return tuple(self._cut(length))

    def _cut(self, length: int) -> Iterator[Period]:
        """Cut from the end, so that the newest part is a whole one; the first may be shorter."""
        first = self.first
        end = self.first + timedelta(days=self.days % length or length)
        while first < self.end:
            yield Period(first, end)
            first, end = end, end + timedelta(days=length)

    def is_over(self, now: datetime, zone: ZoneInfo, settled: timedelta = timedelta()) -> bool:
        """Whether its last day has passed in this zone, ``settled`` ago at least."""
        return now - settled >= day_start(self.end, zone)


def day_start(day: date, zone: ZoneInfo) -> datetime:
    """When a day begins in a zone, in UTC."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def today(now: datetime, zone: ZoneInfo) -> date:
    """Which day it is there."""
    return now.astimezone(zone).date()


def week_of(day: date) -> Period:
    """The week, Monday to Sunday, that a day belongs to."""
    monday = day - timedelta(days=day.weekday())
    return Period(monday, monday + timedelta(days=7))


def last_full_week(now: datetime, zone: ZoneInfo) -> Period:
    """The last week, Monday to Sunday, that is over."""
    return week_of(week_of(today(now, zone)).first - timedelta(days=1))


def full_days(count: int, now: datetime, zone: ZoneInfo) -> Period:
    """The last so many whole days, ending yesterday."""
    end = today(now, zone)
    return Period(end - timedelta(days=count), end)
