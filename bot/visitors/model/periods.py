"""Periods of whole days, and how messages show them."""

from __future__ import annotations

from calendar import month_abbr
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
MAX_DAYS = 366
"""Length of the longest period."""
MAX_POINTS = 20
"""Maximum points of a chart.

https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
"""
_MONTHS_OF_UNIT = {"month": 1, "quarter": 3, "year": 12}
_FINAL_AFTER = timedelta(hours=3)
"""The service adds late visits for so long after the end of a day."""


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """Whole days. Raises ValueError for an empty period."""

    first: date
    end: date
    """The day after the last one."""

    def __post_init__(self) -> None:
        if self.first >= self.end:
            raise ValueError("the end comes before the beginning")

    @property
    def last(self) -> date:
        """The last day."""
        return self.end - DAY

    @property
    def days(self) -> int:
        return (self.end - self.first).days

    @property
    def months(self) -> int:
        """12, 3 or 1 for a whole calendar year, quarter or month; otherwise 0."""
        if self.first.day != 1 or self.end.day != 1:
            return 0
        count = 12 * (self.end.year - self.first.year) + self.end.month - self.first.month
        if count not in _MONTHS_OF_UNIT.values() or (self.first.month - 1) % count:
            return 0
        return count

    def before(self) -> Period:
        """Return the period to compare with.

        That is the previous month, quarter or year, or as many days on the same weekdays: fewer
        people read on weekends.
        """
        if self.months:
            return Period(_add_months(self.first, -self.months), self.first)
        back = -(-self.days // 7) * WEEK
        return Period(self.first - back, self.end - back)

    def lead_week(self) -> Period:
        """Return the week that ends with the first day.

        Visits in it prove that the data began earlier.
        """
        return Period(self.first - 6 * DAY, self.first + DAY)

    def chart_points(self) -> list[Period]:
        """Return the points of a chart: days, or if there are too many the weeks that have them."""
        length = DAY
        first = self.first
        end = self.end
        if self.days > MAX_POINTS:
            first -= first.weekday() * DAY
            end += -end.weekday() % 7 * DAY
            length = -(-(end - first).days // (7 * MAX_POINTS)) * WEEK
        count = (end - first) // length
        return [Period(end - n * length, end - (n - 1) * length) for n in range(count, 0, -1)]

    def is_over(self, now: datetime, zone: ZoneInfo) -> bool:
        return now.astimezone(zone).date() >= self.end

    def is_final(self, now: datetime, zone: ZoneInfo) -> bool:
        """Return whether the counts of the period will not change any more."""
        return self.is_over(now - _FINAL_AFTER, zone)

    @property
    def short(self) -> str:
        """Return 14–20 Nov, or Fri 20 Nov."""
        first = self.first
        last = self.last
        if first == last:
            return f"{first:%a} {short_day(first)}"
        begin = str(first.day) if first.month == last.month else short_day(first)
        return f"{begin}–{short_day(last)}"

    def __str__(self) -> str:
        """Return 14–20 Nov 2026, 30 Sep – 6 Oct 2026, 20 Nov 2026, or 2026."""
        first = self.first
        last = self.last
        if self.months == 12:
            return str(first.year)
        if first == last:
            return format_day(last)
        if (first.year, first.month) == (last.year, last.month):
            return f"{first.day}–{format_day(last)}"
        begin = short_day(first) if first.year == last.year else format_day(first)
        return f"{begin} – {format_day(last)}"


def format_day(day: date) -> str:
    return f"{short_day(day)} {day.year}"


def short_day(day: date) -> str:
    return f"{day.day} {month_abbr[day.month]}"


def days_before(end: date, count: int) -> Period:
    return Period(end - count * DAY, end)


def last_full_week(today: date) -> Period:
    """Return the last week from Monday to Sunday that is over."""
    return days_before(today - today.weekday() * DAY, 7)


def calendar_period(unit: str, today: date, *, is_last: bool) -> Period:
    """Return the present week, month, quarter or year, or the one before it."""
    if unit == "week":
        monday = today - today.weekday() * DAY - is_last * WEEK
        return Period(monday, monday + WEEK)
    months = _MONTHS_OF_UNIT[unit]
    months_begun = (today.month - 1) % months
    this_month = date(today.year, today.month, 1)
    first = _add_months(this_month, -months_begun - is_last * months)
    return Period(first, _add_months(first, months))


def day_start(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _add_months(first: date, count: int) -> date:
    years, month = divmod(first.month - 1 + count, 12)
    return date(first.year + years, month + 1, 1)
