"""The grammar of ``/docs-visitors``: questions, weekly times and sections.

The words of a question and of a weekly time come in any order::

    question = { period | option }
    period   = single [ ( ".." | "to" | "–" ) single ]
    single   = "today" | "yesterday"
             | [ "last" | "past" ] NUMBER ( "d" | "day" | "days" )
             | ( "this" | "last" ) ( "week" | "month" | "quarter" | "year" )
             | YYYY-MM-DD
    option   = "compare" ( period | "none" )
             | "top" NUMBER
             | "sort" ( "human" | "ai" | "total" )
             | "csv" [ "here" | "private" ]
             | path
    path     = "path" PATH | /PATH
    weekly   = { weekday | time | time zone | path }
    section  = [ path ]

Words between two options are one period. The last of equal options counts, and each part of a
weekly time stands once. Only paths depend on upper and lower case. A question about content gaps
has no path, no order and no comparison.
"""

from __future__ import annotations

import re
from calendar import day_name, month_name
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, time
from difflib import get_close_matches
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from bot.messages.blocks import code, escape
from bot.messages.plain_text import visible
from bot.visitors.model.gaps import Topic
from bot.visitors.model.periods import (
    DAY,
    MAX_DAYS,
    Period,
    calendar_period,
    days_before,
    format_day,
    short_day,
)
from bot.visitors.model.questions import DEFAULT_TOP, MAX_TOP, FileDestination, Query, SortBy
from bot.visitors.model.subscriptions import Weekday, WeeklyRequest

_MAX_TEXT_LENGTH = 10_000
_MAX_PERIOD_LENGTH = 60
_MAX_SECTION_LENGTH = 300
_QUOTED_LENGTH = 60


class Misunderstood(ValueError):
    """A text that cannot be parsed. The error's text is the reason, in escaped mrkdwn."""


def _split(text: str) -> list[str]:
    if len(text) > _MAX_TEXT_LENGTH:
        raise Misunderstood(
            f"More than {_MAX_TEXT_LENGTH:,} characters are too many for this command."
        )
    return text.split()


def _quoted(text: str) -> str:
    return code(text, _QUOTED_LENGTH)


# ---- questions

_SORTS = {
    "human": SortBy.HUMAN,
    "humans": SortBy.HUMAN,
    "people": SortBy.HUMAN,
    "ai": SortBy.AI,
    "total": SortBy.TOTAL,
    "all": SortBy.TOTAL,
}
_FILE_PLACES = {
    "here": FileDestination.CHANNEL,
    "channel": FileDestination.CHANNEL,
    "private": FileDestination.PRIVATE,
    "me": FileDestination.PRIVATE,
}
_NOT_COMPARED = ("none", "nothing")


@dataclass(slots=True)
class _TypedQuestion:
    """The parts of a question, as they are found in its words."""

    words: list[str]
    """The words that are still to be parsed."""
    topic: Topic
    period: list[str] = field(default_factory=list)
    compared: list[str] = field(default_factory=list)
    is_compared: bool = True
    section: str = ""
    top: int = DEFAULT_TOP
    sort: SortBy = SortBy.TOTAL
    file_to: FileDestination = FileDestination.NOWHERE

    def parse(self) -> None:
        """Take all words. Raises Misunderstood."""
        target = self.period
        while self.words:
            if self.take_option():
                target = self.period
            elif self.words[0].lower() == "compare":
                self.refuse_in_gaps()
                del self.words[0]
                target = self.begin_comparison()
            else:
                target.append(self.words.pop(0))

    def take_option(self) -> bool:
        """Take an option that ends the period before it. Return whether there is one."""
        if (section := _take_path(self.words, check=self.refuse_in_gaps)) is not None:
            self.section = section
            return True
        match self.words[0].lower():
            case "top":
                self.top = _parse_top(self.take_value())
            case "sort":
                self.refuse_in_gaps()
                self.sort = _parse_sort(self.take_value())
            case "csv":
                self.file_to = self.take_file_place()
            case _:
                return False
        return True

    def take_value(self) -> str:
        """Take an option and the word after it. Return that word; "" without one."""
        del self.words[0]
        return self.words.pop(0) if self.words else ""

    def take_file_place(self) -> FileDestination:
        """Take ``csv`` and the place after it. By default the file goes to direct messages."""
        del self.words[0]
        place = _FILE_PLACES.get(self.words[0].lower()) if self.words else None
        if place is None:
            return FileDestination.PRIVATE
        del self.words[0]
        return place

    def begin_comparison(self) -> list[str]:
        """Take ``none`` after ``compare``. Return the list for the words that follow."""
        self.compared = []
        self.is_compared = not (self.words and self.words[0].lower() in _NOT_COMPARED)
        if self.is_compared:
            return self.compared
        del self.words[0]
        return self.period

    def refuse_in_gaps(self) -> None:
        """Raise Misunderstood if a question about content gaps does not take the next word."""
        if self.topic.is_gaps:
            example = code(f"{self.topic} last month")
            raise Misunderstood(
                f"{_quoted(self.words[0])} can't follow {code(self.topic)}. Try {example}."
            )


def parse_query(text: str, today: date, topic: Topic = Topic.VISITORS) -> Query:
    """Parse ``last month path /api top 20 sort ai csv``. Raises Misunderstood."""
    typed = _TypedQuestion(_split(text), topic)
    typed.parse()
    period = days_before(today, 7)
    if typed.period:
        period = _parse_period_words(typed.period, today, "I don't know the period")
    compared: Period | None = period.before()
    if typed.compared:
        compared = _parse_period_words(typed.compared, today, "I can't compare with")
    if topic.is_gaps or not typed.is_compared:
        compared = None
    return Query(
        period=period,
        compared=compared,
        section=typed.section or None,
        top=typed.top,
        sort=typed.sort,
        file_to=typed.file_to,
        topic=topic,
    )


def _parse_period_words(words: list[str], today: date, failure: str) -> Period:
    text = " ".join(words)
    try:
        return parse_period(text, today)
    except UnknownPeriod as bad:
        last_month = calendar_period("month", today, is_last=True)
        example = code(f"{last_month.first}..{last_month.last}")
        raise Misunderstood(f"{failure} {_quoted(text)}. Try {example}.") from bad
    except BadPeriod as bad:
        raise Misunderstood(f"{failure} {_quoted(text)}: {escape(str(bad))}.") from bad


def _parse_top(value: str) -> int:
    if not re.fullmatch("[0-9]{1,4}", value) or not 1 <= int(value) <= MAX_TOP:
        raise Misunderstood(f"`top` takes 1 to {MAX_TOP}. For all pages, use `csv`.")
    return int(value)


def _parse_sort(value: str) -> SortBy:
    sort = _SORTS.get(value.lower())
    if sort is None:
        raise Misunderstood("`sort` takes `human`, `ai` or `total`.")
    return sort


# ---- periods

_RANGE = re.compile(r" ?(?:\.{2,}|…|–|—| - |\bto\b) ?")
_DAYS = re.compile(r"(?:(?:the )?(?:last|past) )?([0-9]{1,9}) ?d(?:ays?)?")
_CALENDAR = re.compile(r"(this|last) (week|month|quarter|year)")
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")


class BadPeriod(ValueError):
    """A period that cannot be requested. The error's text is the reason, for people."""


class UnknownPeriod(BadPeriod):
    """A text that is no period at all."""


def parse_period(text: str, today: date) -> Period:
    """Parse "28d", "last week" or "2026-10-01..2026-10-15". Raises BadPeriod.

    A period that is not over ends with the present day.
    """
    text = " ".join(text.lower().split())
    if len(text) > _MAX_PERIOD_LENGTH:
        raise UnknownPeriod("that is too long for a period")
    ends = [_parse_single(end, today) for end in _RANGE.split(text, 1)]
    first = ends[0].first
    end = ends[-1].end
    if first >= end:
        raise BadPeriod("the end comes before the beginning")
    if first > today:
        raise BadPeriod(f"{format_day(first)} hasn't come yet; today is {short_day(today)}")
    period = Period(first, min(end, today + DAY))
    if period.days > MAX_DAYS or period.first.year < 2000:
        raise BadPeriod(f"that is more than {MAX_DAYS} days, or long ago")
    return period


def _parse_single(text: str, today: date) -> Period:
    """Parse a period that is no range."""
    if text == "today":
        return days_before(today + DAY, 1)
    if text == "yesterday":
        return days_before(today, 1)
    if match := _DAYS.fullmatch(text):
        count = int(match[1])
        if not 1 <= count <= MAX_DAYS:
            raise BadPeriod(f"a number of days must be from 1 to {MAX_DAYS}")
        return days_before(today, count)
    if match := _CALENDAR.fullmatch(text):
        return calendar_period(match[2], today, is_last=match[1] == "last")
    if _ISO_DAY.fullmatch(text):
        return _parse_iso_day(text)
    raise UnknownPeriod("it is no period")


def _parse_iso_day(text: str) -> Period:
    year, month, day = map(int, text.split("-"))
    try:
        first = date(year, month, day)
        return Period(first, first + DAY)
    except (ValueError, OverflowError):
        raise BadPeriod("the calendar has no such day") from None


# ---- sections

_SITE = re.compile(r"https?://[^/]*", re.IGNORECASE)


def parse_section(text: str) -> str | None:
    """Parse ``path /api``; return "" for the whole site, None for an empty text.

    Raises Misunderstood.
    """
    words = _split(text)
    if not words:
        return None
    section = _take_path(words)
    if section is None:
        raise Misunderstood(f"I don't know {_quoted(words[0])}. Only `path /api` can follow here.")
    if words:
        raise Misunderstood(f"A digest has one path, and here is {_quoted(words[0])} as well.")
    return section


def _take_path(words: list[str], check: Callable[[], None] = lambda: None) -> str | None:
    """Take ``path /api`` or ``/api`` from the words. Return the section; None without a path.

    The section of the whole site is "". ``check`` runs before a path is taken.
    """
    is_named = words[0].lower() == "path"
    if not is_named and not words[0].startswith("/"):
        return None
    check()
    if is_named:
        del words[0]
    if not words:
        raise Misunderstood("`path` takes the beginning of a path. Try `path /api`.")
    word = words.pop(0)
    section = "/" + _SITE.sub("", word.strip("`"), count=1).lstrip("/")
    if len(section) > _MAX_SECTION_LENGTH:
        raise Misunderstood(f"A path of more than {_MAX_SECTION_LENGTH} characters is too long.")
    if visible(section) != section:
        raise Misunderstood(f"There are characters in {_quoted(word)} that nobody can see.")
    bare = section.rstrip("*")
    if bare != section and not bare.endswith("/"):
        return f"{bare}*"
    return bare.rstrip("/")


# ---- weekly times

_TIME = re.compile(r"([0-9]{1,2})(?:[:.]([0-9]{2}))?(am|pm)?h?")
_WEEKLY_EXAMPLE = "`/docs-visitors subscribe monday 09:00`"
_FILL_WORDS = ("every", "at", "on")
_NO_ZONES = ("factory", "localtime", "posixrules", "est", "mst", "hst")
"""Entries of the zone database that are no time zones of a place.

The meaning of the first three depends on the machine. The others are winter times, which stay when
the clocks of a place change.
"""


def parse_weekly(text: str) -> WeeklyRequest:
    """Parse ``monday 09:00 Europe/Berlin path /api``. Raises Misunderstood."""
    words = _split(text)
    values = dict[str, Any]()
    while words:
        if words[0].lower() in _FILL_WORDS:
            del words[0]
            continue
        part, value = _take_weekly_part(words)
        if part in values:
            raise Misunderstood(f"A digest has one {part}, and here are 2.")
        values[part] = value
    default = WeeklyRequest()
    return WeeklyRequest(
        weekday=values.get("weekday", default.weekday),
        time_of_day=values.get("time", default.time_of_day),
        zone=values.get("time zone"),
        section=values.get("path") or None,
    )


def _take_weekly_part(words: list[str]) -> tuple[str, object]:
    """Take one part of a weekly time from the words. Return its name and its value."""
    for part, take in _WEEKLY_PARTS.items():
        value = take(words)
        if value is not None:
            return part, value
    if "/" in words[0]:
        raise Misunderstood(f"I don't know the time zone {_quoted(words[0])}. Try `Europe/Berlin`.")
    raise Misunderstood(f"I don't know the word {_quoted(words[0])}. Try {_WEEKLY_EXAMPLE}.")


def _take_weekday(words: list[str]) -> Weekday | None:
    bare = words[0].lower().rstrip("s.,")
    days = [day for day in Weekday if len(bare) >= 2 and day.name.lower().startswith(bare)]
    if len(days) != 1:
        return None
    del words[0]
    return days[0]


def _take_time(words: list[str]) -> time | None:
    """Take 9, 9:30, 09.30, 9am or 9 pm."""
    text = words[0]
    count = 1
    if text[0].isdecimal() and len(words) > 1 and words[1].lower() in ("am", "pm"):
        text += words[1]
        count = 2
    match = _TIME.fullmatch(text.lower())
    if match is None:
        return None
    del words[:count]
    hour = int(match[1])
    minute = int(match[2] or 0)
    half = match[3]
    if (half and not 1 <= hour <= 12) or hour > 23 or minute > 59:
        raise Misunderstood(f"{code(text, 20)} isn't a time. Try {_WEEKLY_EXAMPLE}.")
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return time(hour, minute)


def _take_zone(words: list[str]) -> str | None:
    zone = _zones().get(words[0].lower())
    if zone is not None:
        del words[0]
    return zone


@cache
def _zones() -> dict[str, str]:
    """Return the names of all IANA time zones by their lower-case form."""
    return {name.lower(): name for name in available_timezones() if name.lower() not in _NO_ZONES}


_WEEKLY_PARTS: dict[str, Callable[[list[str]], object]] = {
    "path": _take_path,
    "weekday": _take_weekday,
    "time": _take_time,
    "time zone": _take_zone,
}
"""The parts of a weekly time.

Each function takes its words; it returns None if the next word is another.
"""


# ---- misspelt texts

_CALENDAR_PHRASES = [
    f"{which} {unit}" for which in ("last", "this") for unit in ("week", "month", "quarter", "year")
]
_WORDS = """
    today yesterday last this week month quarter year compare none top sort human total path days now help
    searches feedback questions subscribe subscriptions unsubscribe digest pause resume
"""
_VOCABULARY: dict[str, str] = {name.lower(): name.lower() for name in day_name}
_VOCABULARY |= {word: word for word in _WORDS.split()}
_VOCABULARY |= {phrase.replace(" ", ""): phrase for phrase in _CALENDAR_PHRASES}
"""The words of the command, and phrases as they are typed without a blank."""
_MAX_CORRECTED_LENGTH = 100
_LIKENESS = 0.75
_PAGE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{2,60}")


def correct_text(text: str) -> list[str]:
    """Return texts with the command's words that somebody may have meant, the nearest first.

    Each may be misunderstood as well.
    """
    corrected = _correct_words(text)
    texts = [corrected] if corrected else []
    nearest = corrected or text
    if nearest.partition(" ")[0].lower() in map(str.lower, day_name):
        texts.append(f"subscribe {nearest}")
    return texts


def find_page_name(text: str) -> str:
    """Return the path of the page that a text may name; "" if it is no name of a page.

    A word of the command or a month is none.
    """
    is_name = _PAGE_NAME.fullmatch(text) is not None
    if not is_name or text.lower() in _VOCABULARY or _is_like_month(text):
        return ""
    return f"/{text}"


def _is_like_month(word: str) -> bool:
    """Return whether a word is the beginning of a month's name, or like one."""
    name = word.capitalize()
    is_beginning = any(month.startswith(name) for month in month_name[1:])
    return is_beginning or bool(get_close_matches(name, month_name[1:], 1, _LIKENESS))


def _correct_words(text: str) -> str:
    """Return a text with its misspelt words corrected; "" if there is nothing to correct."""
    if len(text) > _MAX_CORRECTED_LENGTH:
        return ""
    words = text.split()
    corrected = [_correct_word(word) for word in words]
    return " ".join(corrected) if corrected != words else ""


def _correct_word(word: str) -> str:
    """Return the word of the command that is most like a word; the word itself if none is."""
    if len(word) <= 2 or not word.isalpha():
        return word
    for near in get_close_matches(word.lower(), _VOCABULARY, 1, _LIKENESS):
        corrected = _VOCABULARY[near]
        if corrected != word.lower():
            return corrected
    return word
