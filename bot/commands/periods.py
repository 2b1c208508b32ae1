"""Parse periods as people type them: "28d", "last week", "Q3", "1 Oct to 5 Oct", "since monday"."""

from __future__ import annotations

import re
from calendar import month_name
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.messages.numbers import day as shown_day
from bot.model.questions import Weekday
from bot.model.visitors import Period, full_days, today, week_of

MOST_DAYS = 366
"""Maximum length of a period."""
_MAX_LENGTH = 60
"""Maximum characters of a text that is parsed; every valid form is shorter."""
_EARLIEST_YEAR = 2000
_LEAP_YEARS = 9
"""A 29 February is found in one of so many years."""
_UNITS = {"month": 1, "quarter": 3, "year": 12}
"""Months of a unit."""
_RELATIVE = re.compile(r"(this|last) (week|month|quarter|year)")
_DAYS = re.compile(r"(?:(?:the )?(?:last|past) )?([0-9]+)\s*d(?:ays?)?")
_ISO = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_QUARTER = re.compile(r"q([1-4])(?:[\s/-]*([0-9]{4}))?")
_MONTH = r"(?P<month>[a-z]{3,9})"
_NAMED_MONTH = re.compile(rf"{_MONTH}[.,]?(?:\s+(?P<year>[0-9]{{4}}))?")
_NAMED_DAYS = (
    re.compile(rf"(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?\s+{_MONTH}[.,]?(?:\s+(?P<year>[0-9]{{4}}))?"),
    re.compile(rf"{_MONTH}[.]?\s+(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year>[0-9]{{4}}))?"),
)
_BETWEEN = re.compile(r" ?(?:\.{2,}|…|–|—| - |\bto\b) ?")


class BadPeriod(ValueError):
    """The text names a period that cannot be requested. The error's text tells people why."""


class FuturePeriod(BadPeriod):
    """The text names a period that has not come. The error's text is a sentence by itself."""


class UnknownPeriod(BadPeriod):
    """The text is no period at all."""


def default_period(now: datetime, zone: ZoneInfo) -> Period:
    """Return the last seven full days."""
    return full_days(7, now, zone)


def parse_period(text: str, now: datetime, zone: ZoneInfo) -> Period:
    """Return the period that a text names. A range includes both its ends. Raises BadPeriod.

    A week or a month that is not over ends with today. Periods in the future are refused.
    """
    reader = _Reader(now, zone)
    period = reader.read(" ".join(text.lower().split()))
    reader.check_begun(period.first)
    period = Period(period.first, min(period.end, reader.today + timedelta(days=1)))
    if period.days > MOST_DAYS:
        raise BadPeriod(f"that is more than {MOST_DAYS} days")
    return period


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads periods at a moment, in the time zone in which days are counted.

    ``until``: what is named without a year is the latest one that begins up to this day.
    """

    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return today(self.now, self.zone)

    def check_begun(self, first: date) -> None:
        """Raise BadPeriod if a day is in the future. The error names the zone: people may be in another."""
        if first > self.today:
            raise FuturePeriod(f"{shown_day(first)} hasn't come yet. {self._today_in_zone}")

    @property
    def _today_in_zone(self) -> str:
        return f"Today is {shown_day(self.today, year=False)} ({self.zone.key})"

    def read(self, text: str) -> Period:
        """Return the period that a text in lower case names, with its end perhaps in the future."""
        if len(text) > _MAX_LENGTH:
            raise UnknownPeriod("that is too long for a period")
        if text.startswith("since "):
            return self._since(text.removeprefix("since "))
        ends = _BETWEEN.split(text)
        if len(ends) == 1:
            return self._single(text, self.today)
        if len(ends) > 2:
            raise UnknownPeriod("a range has one beginning and one end")
        last = self._single(ends[1], self.today)
        first = self._single(ends[0], last.last)
        if last.last < first.first:
            raise BadPeriod("the end comes before the beginning")
        self.check_begun(last.first)
        return Period(first.first, last.end)

    def _since(self, text: str) -> Period:
        """Return the days from the beginning of a period, or from the last such weekday, to today."""
        bare = text.rstrip("s.")
        days = [day for day in Weekday if len(bare) >= 3 and day.name.lower().startswith(bare)]
        if days:
            first = self.today - timedelta(days=(self.today.weekday() - days[0]) % 7)
        else:
            first = self._single(text, self.today).first
        self.check_begun(first)
        return Period(first, self.today + timedelta(days=1))

    def _single(self, text: str, until: date) -> Period:
        """Return a period that is no range."""
        if text in ("today", "yesterday"):
            return _day(self.today - timedelta(days=text == "yesterday"))
        if found := _RELATIVE.fullmatch(text):
            return self._relative(found[2], 1 if found[1] == "last" else 0)
        if found := _DAYS.fullmatch(text):
            if not 1 <= (count := int(found[1])) <= MOST_DAYS:
                raise BadPeriod(f"a number of days must be from 1 to {MOST_DAYS}")
            return full_days(count, self.now, self.zone)
        if found := _ISO.fullmatch(text):
            return self._iso(*found.groups())
        if found := _QUARTER.fullmatch(text):
            return self._latest(3 * int(found[1]) - 3, 3, found[2], until)
        if (dated := self._named_day(text, until)) is not None:
            return _day(dated)
        if (found := _NAMED_MONTH.fullmatch(text)) and (month := _month_number(found["month"])):
            return self._latest(month - 1, 1, found["year"], until)
        raise UnknownPeriod("try last week, 28d, October or 2026-10-01..2026-10-15")

    def _relative(self, unit: str, ago: int) -> Period:
        if unit == "week":
            return week_of(self.today - timedelta(weeks=ago))
        months = _UNITS[unit]
        this = _month_index(self.today)
        return _months(this - this % months - ago * months, months)

    def _iso(self, year: str, month: str | None, day: str | None) -> Period:
        """Return a year, a month or a day written in numbers, as in 2026-10-05."""
        number = self._year(int(year))
        if month is None:
            return _months(12 * number, 12)
        if day is not None:
            return _day(_date(number, int(month), int(day)))
        if not 1 <= int(month) <= 12:
            raise BadPeriod(f"there is no month {int(month)} in a year")
        return _months(12 * number + int(month) - 1)

    def _latest(self, month: int, count: int, year: str | None, until: date) -> Period:
        """Return ``count`` months from that one, which counts from 0, of a year or else the latest."""
        if year is not None:
            return _months(12 * self._year(int(year)) + month, count)
        newest = _month_index(until)
        return _months(newest - (newest - month) % 12, count)

    def _named_day(self, text: str, until: date) -> date | None:
        """Return a day such as "1 Oct" or "October 1, 2025"."""
        found = _NAMED_DAYS[0].fullmatch(text) or _NAMED_DAYS[1].fullmatch(text)
        month = _month_number(found["month"]) if found else None
        if found is None or month is None:
            return None
        number = int(found["day"])
        if found["year"] is not None:
            return _date(self._year(int(found["year"])), month, number)
        for year in range(until.year, until.year - _LEAP_YEARS, -1):
            dated = _valid(year, month, number)
            if dated is not None and dated <= until:
                return dated
        raise BadPeriod(f"{month_name[month]} has no day {number}")

    def _year(self, year: int) -> int:
        """Return the year. Raise BadPeriod if it is too early or in the future."""
        if year < _EARLIEST_YEAR:
            raise BadPeriod(f"that is before {_EARLIEST_YEAR}")
        if year > self.today.year:
            raise FuturePeriod(f"{year} hasn't come yet. {self._today_in_zone}")
        return year


def _day(day: date) -> Period:
    return Period(day, day + timedelta(days=1))


def _months(first: int, count: int = 1) -> Period:
    """Return whole months; the first one counts from January of the year 0."""
    begin, end = (date(index // 12, index % 12 + 1, 1) for index in (first, first + count))
    return Period(begin, end)


def _month_index(day: date) -> int:
    return 12 * day.year + day.month - 1


def _month_number(word: str) -> int | None:
    found = [number for number, name in enumerate(month_name) if name.lower().startswith(word)]
    return found[0] if len(found) == 1 else None


def _valid(year: int, month: int, number: int) -> date | None:
    """Return a day; None if the calendar does not have it."""
    try:
        return date(year, month, number)
    except ValueError:
        return None


def _date(year: int, month: int, number: int) -> date:
    dated = _valid(year, month, number)
    if dated is None:
        raise BadPeriod(f"the calendar has no day {year:04}-{month:02}-{number:02}")
    return dated
