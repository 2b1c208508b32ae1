"""Periods as people type them."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from datetime import date

from bot.visitors.model.periods import (
    DAY,
    MOST_DAYS,
    WEEK,
    Period,
    _add_months,
    days_before,
    format_day,
    short_day,
)


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
