"""Periods of whole days, and how to split and compare them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

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
