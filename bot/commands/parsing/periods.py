"""Parse periods as people type them: "28d", "last week", "Q3", "1 Oct to 5 Oct", "since monday"."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.messages.numbers import day as shown_day
from bot.model.period import Period, full_days, today, week_of
from bot.model.weekly_time import Weekday

MOST_DAYS = 366
"""Maximum length of a period."""
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_EARLIEST_YEAR = 2000


class BadPeriod(ValueError):
    """The text names a period that cannot be requested. The error's text tells people why."""


class UnknownPeriod(BadPeriod):
    """The text is no period at all."""


@dataclass(frozen=True, slots=True)
class _Calendar:
    """The current time and the time zone in which days are counted."""

    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return today(self.now, self.zone)

    @property
    def today_in_zone(self) -> str:
        """Return the current day and its zone for messages, because people may be in another zone."""
        return f"today is {shown_day(self.today)} in {self.zone.key}"


def _day(day: date) -> Period:
    return Period(day, day + timedelta(days=1))


def _last_month(calendar: _Calendar) -> Period:
    end = calendar.today.replace(day=1)
    last = end - timedelta(days=1)
    return Period(last.replace(day=1), end)


_WORDS: dict[str, Callable[[_Calendar], Period]] = {
    "today": lambda calendar: _day(calendar.today),
    "yesterday": lambda calendar: _day(calendar.today - timedelta(days=1)),
    "this week": lambda calendar: week_of(calendar.today),
    "last week": lambda calendar: week_of(calendar.today - timedelta(days=7)),
    "this month": lambda calendar: _whole_month(calendar.today.year, calendar.today.month),
    "last month": _last_month,
    "this quarter": lambda calendar: _quarter(calendar.today.year, _quarter_number(calendar.today)),
    "last quarter": lambda calendar: _quarter_before(calendar.today),
    "this year": lambda calendar: _whole_year(calendar.today.year),
    "last year": lambda calendar: _whole_year(calendar.today.year - 1),
}
_DAYS = re.compile(r"(?:(?:the )?(?:last|past) )?([0-9]+)\s*d(?:ays?)?")
_ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_ISO_MONTH = re.compile(r"([0-9]{4})-([0-9]{1,2})")
_YEAR = re.compile(r"[0-9]{4}")
_QUARTER = re.compile(r"q([1-4])(?:[\s/-]*([0-9]{4}))?")
_DAY_MONTH = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|\.)?\s+([a-z]{3,9})[.,]?(?:\s+([0-9]{4}))?")
_MONTH_DAY = re.compile(r"([a-z]{3,9})[.]?\s+([0-9]{1,2})(?:st|nd|rd|th)?(?:,?\s+([0-9]{4}))?")
_SINCE = "since "
_LEAP_YEARS = 9
"""A 29 February is found in one of so many years."""
_BETWEEN = re.compile(r" ?(?:\.{2,}|…|–|—| - |\bto\b) ?")
_NAMED = re.compile(r"([a-z]{3,9})[.,]?(?:\s+([0-9]{4}))?")
_MAX_LENGTH = 60
"""Maximum characters of a text that is parsed; every valid form is shorter."""


def default_period(now: datetime, zone: ZoneInfo) -> Period:
    """Return the last seven full days."""
    return full_days(7, now, zone)


def parse_period(text: str, now: datetime, zone: ZoneInfo) -> Period:
    """Return the period that a text names. A range includes both its ends. Raises BadPeriod.

    A week or a month that is not over ends with today. Periods in the future are refused.
    """
    calendar = _Calendar(now, zone)
    period, day = _parse(" ".join(text.lower().split()), calendar), calendar.today
    if period.first > day:
        raise BadPeriod(f"{shown_day(period.first)} hasn't come yet; {calendar.today_in_zone}")
    if period.end > day + timedelta(days=1):
        period = Period(period.first, day + timedelta(days=1))
    if period.days > MOST_DAYS:
        raise BadPeriod(f"that is more than {MOST_DAYS} days")
    return period


def _parse(text: str, calendar: _Calendar) -> Period:
    if len(text) > _MAX_LENGTH:
        raise UnknownPeriod("that is too long for a period")
    if text.startswith(_SINCE):
        return _since(text.removeprefix(_SINCE), calendar)
    ends = _BETWEEN.split(text)
    if len(ends) == 1:
        return _parse_single(text, calendar)
    if len(ends) > 2:
        raise UnknownPeriod("a range has one beginning and one end")
    return _parse_range(ends[0], ends[1], calendar)


def _parse_single(text: str, calendar: _Calendar) -> Period:
    """Parse a period that is no range."""
    if text in _WORDS:
        return _WORDS[text](calendar)
    if found := _DAYS.fullmatch(text):
        return _last_days(int(found[1]), calendar)
    if found := _ISO_MONTH.fullmatch(text):
        return _month(int(found[1]), int(found[2]), calendar)
    if found := _ISO_DAY.fullmatch(text):
        return _day(_date(int(found[1]), int(found[2]), int(found[3]), calendar))
    if _YEAR.fullmatch(text):
        return _whole_year(_year(int(text), calendar))
    if found := _QUARTER.fullmatch(text):
        return _named_quarter(int(found[1]), found[2], calendar)
    if (dated := _named_day(text, calendar.today, calendar)) is not None:
        return _day(dated)
    if (named := _NAMED.fullmatch(text)) and (month := _month_number(named[1])):
        return _named_month(month, named[2], calendar)
    raise UnknownPeriod("try last week, 28d, October or 2026-10-01..2026-10-15")


def _since(text: str, calendar: _Calendar) -> Period:
    """Return the days from the beginning of a period, or from the last such weekday, to today."""
    bare = text.rstrip("s.")
    days = [day for day in Weekday if len(bare) >= 3 and day.name.lower().startswith(bare)]
    if days:
        first = calendar.today - timedelta(days=(calendar.today.weekday() - days[0]) % 7)
    else:
        first = _parse_single(text, calendar).first
    if first > calendar.today:
        raise BadPeriod(f"{shown_day(first)} hasn't come yet; {calendar.today_in_zone}")
    return Period(first, calendar.today + timedelta(days=1))


def _named_day(text: str, until: date, calendar: _Calendar) -> date | None:
    """Return a day such as "1 Oct" or "October 1, 2025"; without a year, the latest one up to ``until``."""
    if found := _DAY_MONTH.fullmatch(text):
        number, name, year = found.groups()
    elif found := _MONTH_DAY.fullmatch(text):
        name, number, year = found.groups()
    else:
        return None
    month = _month_number(name)
    if month is None:
        return None
    if year is not None:
        return _date(int(year), month, int(number), calendar)
    years = range(until.year, until.year - _LEAP_YEARS, -1)
    dated = (_valid(each, month, int(number)) for each in years)
    latest = next((day for day in dated if day is not None and day <= until), None)
    if latest is None:
        raise BadPeriod(f"{_MONTHS[month - 1].capitalize()} has no day {number}")
    return latest


def _valid(year: int, month: int, number: int) -> date | None:
    """Return a day; None if the calendar does not have it."""
    return date(year, month, number) if 1 <= number <= monthrange(year, month)[1] else None


def _whole_year(year: int) -> Period:
    return Period(date(year, 1, 1), date(year + 1, 1, 1))


def _quarter(year: int, number: int) -> Period:
    first = date(year, 3 * number - 2, 1)
    return Period(first, _whole_month(year, 3 * number).end)


def _quarter_number(day: date) -> int:
    return (day.month + 2) // 3


def _quarter_before(day: date) -> Period:
    last = _quarter(day.year, _quarter_number(day)).first - timedelta(days=1)
    return _quarter(last.year, _quarter_number(last))


def _named_quarter(number: int, year: str | None, calendar: _Calendar) -> Period:
    """Return a quarter; without a year, the latest one of that number that has begun."""
    if year is not None:
        return _quarter(_year(int(year), calendar), number)
    this = calendar.today
    return _quarter(this.year if number <= _quarter_number(this) else this.year - 1, number)


def _last_days(count: int, calendar: _Calendar) -> Period:
    if not 1 <= count <= MOST_DAYS:
        raise BadPeriod(f"a number of days must be from 1 to {MOST_DAYS}")
    return full_days(count, calendar.now, calendar.zone)


def _parse_range(begin: str, end: str, calendar: _Calendar) -> Period:
    """Return the period from the first day of ``begin`` to the last day of ``end``; both can be months."""
    last = _parse_single(end, calendar)
    dated = _named_day(begin, last.last, calendar)
    first = _day(dated) if dated else _month_up_to(last.last, begin) or _parse_single(begin, calendar)
    if last.last < first.first:
        raise BadPeriod("the end comes before the beginning")
    if last.first > calendar.today:
        raise BadPeriod(f"{shown_day(last.first)} hasn't come yet; {calendar.today_in_zone}")
    return Period(first.first, last.end)


def _month_up_to(end: date, text: str) -> Period | None:
    """Return the latest month of that name up to ``end``, as in "Nov..Feb"; None for other texts."""
    named = _NAMED.fullmatch(text)
    month = _month_number(named[1]) if named and named[2] is None else None
    return _whole_month(end.year if month <= end.month else end.year - 1, month) if month else None


def _month_number(word: str) -> int | None:
    found = [number for number, name in enumerate(_MONTHS, 1) if name.startswith(word)]
    return found[0] if len(found) == 1 else None


def _named_month(month: int, year: str | None, calendar: _Calendar) -> Period:
    """Return a month; without a year, the latest of that name that has begun."""
    if year is not None:
        return _month(int(year), month, calendar)
    this = calendar.today
    return _whole_month(this.year if month <= this.month else this.year - 1, month)


def _month(year: int, month: int, calendar: _Calendar) -> Period:
    if not 1 <= month <= 12:
        raise BadPeriod(f"there is no month {month} in a year")
    return _whole_month(_year(year, calendar), month)


def _whole_month(year: int, month: int) -> Period:
    first = date(year, month, 1)
    return Period(first, first + timedelta(days=monthrange(year, month)[1]))


def _date(year: int, month: int, day: int, calendar: _Calendar) -> date:
    _year(year, calendar)
    try:
        return date(year, month, day)
    except ValueError:
        raise BadPeriod(f"the calendar has no day {year:04}-{month:02}-{day:02}") from None


def _year(year: int, calendar: _Calendar) -> int:
    """Return the year. Raise BadPeriod if it is too early or in the future."""
    if year < _EARLIEST_YEAR:
        raise BadPeriod(f"that is before {_EARLIEST_YEAR}")
    if year > calendar.today.year:
        raise BadPeriod(f"{year} hasn't come yet; {calendar.today_in_zone}")
    return year
