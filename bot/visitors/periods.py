"""Periods of whole days and weekly times: how people type them, and how messages show them."""

from __future__ import annotations

import re
from calendar import day_name, month_abbr, month_name
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.ports import is_zone

DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
MOST_DAYS = 366
"""Length of the longest period."""
MOST_POINTS = 20
"""Maximum points of a chart: https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block"""
_SETTLED_AFTER = timedelta(hours=3)
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
        return self.end - DAY

    @property
    def days(self) -> int:
        return (self.end - self.first).days

    @property
    def months(self) -> int:
        """12, 3 or 1 for a whole calendar year, quarter or month; otherwise 0."""
        count = 12 * (self.end.year - self.first.year) + self.end.month - self.first.month
        is_whole = self.first.day == self.end.day == 1 and count in (1, 3, 12)
        return count if is_whole and (self.first.month - 1) % count == 0 else 0

    def before(self) -> Period:
        """Return the period to compare with.

        That is the previous month, quarter or year, or as many days on the same weekdays: fewer people read
        on weekends.
        """
        if self.months:
            return Period(_add_months(self.first, -self.months), self.first)
        back = -(-self.days // 7) * WEEK
        return Period(self.first - back, self.end - back)

    def lead_week(self) -> Period:
        """Return the week that ends with the first day. Visits in it prove that the data began earlier."""
        return Period(self.first - 6 * DAY, self.first + DAY)

    def chart_points(self) -> list[Period]:
        """Return the points of a chart: days, or if there are too many the weeks that have them."""
        length, first, end = DAY, self.first, self.end
        if self.days > MOST_POINTS:
            first -= first.weekday() * DAY
            end += -end.weekday() % 7 * DAY
            length = -(-(end - first).days // (7 * MOST_POINTS)) * WEEK
        count = (end - first) // length
        return [Period(end - n * length, end - (n - 1) * length) for n in range(count, 0, -1)]

    def is_over(self, now: datetime, zone: ZoneInfo) -> bool:
        return now.astimezone(zone).date() >= self.end

    def is_final(self, now: datetime, zone: ZoneInfo) -> bool:
        """Return whether the counts of the period will not change any more."""
        return self.is_over(now - _SETTLED_AFTER, zone)

    @property
    def short(self) -> str:
        """Return 14–20 Nov, or Fri 20 Nov."""
        first, last = self.first, self.last
        if first == last:
            return f"{first:%a} {short_day(first)}"
        return f"{first.day if first.month == last.month else short_day(first)}–{short_day(last)}"

    def __str__(self) -> str:
        """Return 14–20 Nov 2026, 30 Sep – 6 Oct 2026, 20 Nov 2026, or 2026."""
        first, last = self.first, self.last
        if self.months == 12:
            return str(first.year)
        if first == last:
            return format_day(last)
        if (first.year, first.month) == (last.year, last.month):
            return f"{first.day}–{format_day(last)}"
        return f"{format_day(first) if first.year != last.year else short_day(first)} – {format_day(last)}"


def format_day(day: date) -> str:
    return f"{short_day(day)} {day.year}"


def short_day(day: date) -> str:
    return f"{day.day} {month_abbr[day.month]}"


def days_before(end: date, count: int) -> Period:
    return Period(end - count * DAY, end)


def last_full_week(today: date) -> Period:
    """Return the last week from Monday to Sunday that is over."""
    return days_before(today - today.weekday() * DAY, 7)


def day_start(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _add_months(first: date, count: int) -> date:
    years, month = divmod(first.month - 1 + count, 12)
    return date(first.year + years, month + 1, 1)


# ---- typed periods


class BadPeriod(ValueError):
    """A period that cannot be requested. The error's text is the reason, for people."""


class UnknownPeriod(BadPeriod):
    """A text that is no period at all."""


_LONGEST_TEXT = 60
_BETWEEN = re.compile(r" ?(?:\.{2,}|…|–|—| - |\bto\b) ?")
_DAYS = re.compile(r"(?:(?:the )?(?:last|past) )?([0-9]{1,9}) ?d(?:ays?)?")
_CALENDAR = re.compile(r"(this|last) (week|month|quarter|year)")
_QUARTER = re.compile(r"q([1-4])(?:[ /-]?([0-9]{4}))?")
_ISO = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_NAMED = (
    re.compile(
        r"(?:(?P<day>[0-9]{1,2})(?:st|nd|rd|th|\.)? )?(?P<month>[a-z]{3,9})[.,]?(?: (?P<year>[0-9]{4}))?"
    ),
    re.compile(
        r"(?P<month>[a-z]{3,9})\.? (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>[0-9]{4}))?"
    ),
)


def parse_period(text: str, today: date) -> Period:
    """Parse "28d", "last week", "Q3", "1 Oct to 5 Oct" or "since monday". Raises BadPeriod."""
    text = " ".join(text.lower().split())
    if len(text) > _LONGEST_TEXT:
        raise UnknownPeriod("that is too long for a period")
    try:
        if text.startswith("since "):
            period = Period(_parse_since(text[6:], today), today + DAY)
        elif len(ends := _BETWEEN.split(text)) == 2:
            last = _parse_single(ends[1], today)
            first = _parse_single(ends[0], last.last).first
            if first >= last.end:
                raise BadPeriod("the end comes before the beginning")
            period = Period(first, last.end)
        else:
            period = _parse_single(text, today)
    except BadPeriod:
        raise
    except (ValueError, OverflowError):
        raise BadPeriod("the calendar has no such day") from None
    if period.first > today:
        raise BadPeriod(f"{format_day(period.first)} hasn't come yet; today is {short_day(today)}")
    period = Period(period.first, min(period.end, today + DAY))
    if period.days > MOST_DAYS or period.first.year < 2000:
        raise BadPeriod(f"that is more than {MOST_DAYS} days, or long ago")
    return period


def _parse_since(text: str, today: date) -> date:
    for number, name in enumerate(day_name):
        if len(text) >= 3 and name.lower().startswith(text):
            return today - (today.weekday() - number) % 7 * DAY
    first = _parse_single(text, today).first
    if first > today:
        raise BadPeriod(f"{format_day(first)} hasn't come yet")
    return first


def _parse_single(text: str, until: date) -> Period:
    """Parse a period that is no range. Without a year it is the latest that begins up to ``until``."""
    if text in ("today", "yesterday"):
        return days_before(until + DAY if text == "today" else until, 1)
    if match := _DAYS.fullmatch(text):
        if not 1 <= (count := int(match[1])) <= MOST_DAYS:
            raise BadPeriod(f"a number of days must be from 1 to {MOST_DAYS}")
        return days_before(until, count)
    if match := _CALENDAR.fullmatch(text):
        return _calendar_period(match[2], until, is_last=match[1] == "last")
    if match := _QUARTER.fullmatch(text):
        return _latest_months(3 * int(match[1]) - 2, 3, match[2], until)
    if match := _ISO.fullmatch(text):
        year, month, day = (int(part) if part else None for part in match.groups())
        if day is not None:
            return days_before(date(year or 0, month or 0, day) + DAY, 1)
        first = date(year or 0, 1 if month is None else month, 1)
        return Period(first, _add_months(first, 12 if month is None else 1))
    for form in _NAMED:
        match = form.fullmatch(text)
        if match and (month := _month_number(match["month"])):
            return _named_period(match["day"], month, match["year"], until)
    raise UnknownPeriod("try last week")


def _calendar_period(unit: str, until: date, *, is_last: bool) -> Period:
    if unit == "week":
        monday = until - until.weekday() * DAY - is_last * WEEK
        return Period(monday, monday + WEEK)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    begun = (until.month - 1) % months
    first = _add_months(date(until.year, until.month, 1), -begun - is_last * months)
    return Period(first, _add_months(first, months))


def _latest_months(month: int, count: int, year: str | None, until: date) -> Period:
    """Return ``count`` months from this one on, of a year or else the latest that have begun."""
    first = date(int(year) if year else until.year, month, 1)
    if not year and first > until:
        first = date(until.year - 1, month, 1)
    return Period(first, _add_months(first, count))


def _named_period(day: str | None, month: int, year: str | None, until: date) -> Period:
    if day is None:
        return _latest_months(month, 1, year, until)
    single = date(int(year) if year else until.year, month, int(day))
    if not year and single > until:
        single = single.replace(year=until.year - 1)
    return days_before(single + DAY, 1)


def _month_number(word: str) -> int | None:
    return next(
        (n for n, name in enumerate(month_name) if n and name.lower().startswith(word)), None
    )


# ---- weekly times


@dataclass(frozen=True, slots=True)
class WeeklyTime:
    """A local time once a week. Raises ValueError for a zone that this machine lacks.

    A time that a clock change skips moves forward by the jump; of a repeated time the first one counts.
    """

    weekday: int
    """0 for Monday."""
    at: time
    zone: str

    def __post_init__(self) -> None:
        if not is_zone(self.zone):
            raise ValueError("no time zone of this machine")

    def next_after(self, moment: datetime) -> datetime:
        """Return the first occurrence after a moment, in UTC."""
        zone = ZoneInfo(self.zone)
        today = moment.astimezone(zone).date()
        day = today + (self.weekday - today.weekday()) % 7 * DAY
        # The week before as well: a skipped time may move to the next day.
        weeks = (
            datetime.combine(day + n * WEEK, self.at, zone).astimezone(UTC) for n in (-1, 0, 1, 2)
        )
        return next(at for at in weeks if at > moment)

    def __str__(self) -> str:
        """Return Monday at 09:00 (Berlin)."""
        city = self.zone.rpartition("/")[2].replace("_", " ")
        return f"{day_name[self.weekday]} at {self.at:%H:%M} ({city})"
