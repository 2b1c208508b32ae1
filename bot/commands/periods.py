"""Periods as people type them: "28d", "last week", "October", "2026-10-01..2026-10-15"."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.model import Period, full_days, today, week_of

MOST_DAYS = 366
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
    """What was typed names no period that can be asked for; the text says why, for people."""


class UnknownPeriod(BadPeriod):
    """What was typed is no period at all."""


@dataclass(frozen=True, slots=True)
class _Calendar:
    """Today, and the periods that begin with it."""

    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return today(self.now, self.zone)


def _day(day: date) -> Period:
    return Period(day, day + timedelta(days=1))


def _month(year: int, month: int) -> Period:
    try:
        first = date(year, month, 1)
    except ValueError:
        raise BadPeriod(f"there is no month {month} in a year") from None
    return Period(first, first + timedelta(days=monthrange(year, month)[1]))


def _last_month(calendar: _Calendar) -> Period:
    end = calendar.today.replace(day=1)
    last = end - timedelta(days=1)
    return Period(last.replace(day=1), end)


_WORDS: dict[str, Callable[[_Calendar], Period]] = {
    "today": lambda calendar: _day(calendar.today),
    "yesterday": lambda calendar: _day(calendar.today - timedelta(days=1)),
    "this week": lambda calendar: week_of(calendar.today),
    "last week": lambda calendar: week_of(calendar.today - timedelta(days=7)),
    "this month": lambda calendar: _month(calendar.today.year, calendar.today.month),
    "last month": _last_month,
}
_DAYS = re.compile(r"(\d{1,6})\s*d(?:ays?)?")
_ISO_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_RANGE = re.compile(r"(\S+?)\s*(?:\.\.+|…|–|—|\bto\b)\s*(\S+)")
_NAMED = re.compile(r"([a-z]{3,9})\.?(?:\s+(\d{4}))?")


def default_period(now: datetime, zone: ZoneInfo) -> Period:
    """The last seven full days."""
    return full_days(7, now, zone)


def parse_period(text: str, now: datetime, zone: ZoneInfo) -> Period:
    """The period that a text names, both ends included as people mean them. Raises BadPeriod.

    A week or a month that is not over ends today; what lies in the future is refused.
    """
    period = _parse(" ".join(text.lower().split()), _Calendar(now, zone))
    day = today(now, zone)
    if period.first > day:
        raise BadPeriod("that lies in the future: nobody has read anything then")
    if period.end > day + timedelta(days=1):
        period = Period(period.first, day + timedelta(days=1))
    if period.days > MOST_DAYS:
        raise BadPeriod(f"that is more than {MOST_DAYS} days")
    return period


def _parse(text: str, calendar: _Calendar) -> Period:
    if text in _WORDS:
        return _WORDS[text](calendar)
    if found := _DAYS.fullmatch(text):
        return _last_days(int(found[1]), calendar)
    if found := _ISO_MONTH.fullmatch(text):
        return _month(int(found[1]), int(found[2]))
    if found := _RANGE.fullmatch(text):
        return _between(found[1], found[2], calendar)
    if (named := _NAMED.fullmatch(text)) and (month := _month_number(named[1])):
        return _named_month(month, named[2], calendar)
    return _day(_date(text))


def _last_days(count: int, calendar: _Calendar) -> Period:
    if not 1 <= count <= MOST_DAYS:
        raise BadPeriod(f"a number of days must be from 1 to {MOST_DAYS}")
    return full_days(count, calendar.now, calendar.zone)


def _between(begin: str, end: str, calendar: _Calendar) -> Period:
    """From the first day of the one to the last day of the other: days, or whole months."""
    first, last = (_parse(each, calendar) for each in (begin, end))
    if last.last < first.first:
        raise BadPeriod("the end comes before the beginning")
    if last.first > calendar.today:
        raise BadPeriod(f"the end lies in the future: today is {calendar.today}")
    return Period(first.first, last.end)


def _month_number(word: str) -> int | None:
    found = [number for number, name in enumerate(_MONTHS, 1) if name.startswith(word)]
    return found[0] if len(found) == 1 else None


def _named_month(month: int, year: str | None, calendar: _Calendar) -> Period:
    """Without a year the latest such month that has begun."""
    if year is not None:
        return _month(int(year), month)
    this = calendar.today
    return _month(this.year if month <= this.month else this.year - 1, month)


def _date(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise UnknownPeriod("that is no period I know") from None
    if day.year < _EARLIEST_YEAR:
        raise BadPeriod(f"that is before {_EARLIEST_YEAR}")
    return day
