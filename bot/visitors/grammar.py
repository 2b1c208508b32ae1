"""Parse the text after ``/docs-visitors``: a period and options in any order."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from collections.abc import Callable
from datetime import date, time
from difflib import get_close_matches
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from bot.messages.blocks import code, escape
from bot.messages.plain_text import visible
from bot.visitors.model.gaps import Topic
from bot.visitors.model.periods import Period, days_before
from bot.visitors.model.questions import DEFAULT_TOP, MOST_TOP, FileTo, Query, SortBy
from bot.visitors.model.subscriptions import Weekday, WeeklyRequest
from bot.visitors.typed_periods import BadPeriod, parse_period

_SECTION_LENGTH, _MOST_CHARACTERS, _SHOWN_LENGTH = 300, 10_000, 60
_TIME = re.compile(r"([0-9]{1,2})(?:[:.]([0-9]{2}))?(am|pm)?h?")


_SITE = re.compile(r"https?://[^/]*", re.IGNORECASE)
_SORTS = {"people": SortBy.HUMAN, "humans": SortBy.HUMAN, "all": SortBy.TOTAL} | {
    str(sort): sort for sort in SortBy
}


_PLACES = {
    "here": FileTo.CHANNEL,
    "channel": FileTo.CHANNEL,
    "private": FileTo.PRIVATE,
    "me": FileTo.PRIVATE,
}


_WEEKLY_EXAMPLE = "`/docs-visitors subscribe monday 09:00`"
_CALENDAR = [
    f"{which} {unit}" for which in ("last", "this") for unit in ("week", "month", "quarter", "year")
]


_WORDS = """
    today yesterday last this week month quarter year since compare none top sort human total path days now
    searches feedback questions subscribe subscriptions unsubscribe digest pause resume
"""


_VOCABULARY = {word.lower(): word.lower() for word in (*day_name, *month_name[1:], *_WORDS.split())}


_VOCABULARY |= {phrase.replace(" ", ""): phrase for phrase in _CALENDAR}
"""The words of the command, and phrases as they are typed without a blank."""
_LONGEST_CORRECTED, _LIKENESS = 100, 0.75


_NO_ZONES = ("factory", "localtime", "posixrules")
"""Entries of the zone database that are no time zones: their meaning depends on the machine."""


class Misunderstood(ValueError):
    """A text that cannot be parsed. The error's text is the reason, in escaped mrkdwn."""


def _split(text: str) -> list[str]:
    if len(text) > _MOST_CHARACTERS:
        raise Misunderstood(
            f"More than {_MOST_CHARACTERS:,} characters are too many for this command."
        )
    return text.split()


def _quoted(text: str) -> str:
    return code(text, _SHOWN_LENGTH)


def correct_words(text: str) -> str:
    """Return a text with its misspelt words corrected, as far as the command has similar ones."""
    typed = text.split() if len(text) <= _LONGEST_CORRECTED else []
    matches = [
        get_close_matches(word.lower(), _VOCABULARY, 1, _LIKENESS)
        if len(word) > 2 and word.isalpha()
        else []
        for word in typed
    ]
    pairs = zip(typed, (_VOCABULARY[near[0]] if near else "" for near in matches), strict=True)
    return " ".join(word if near in ("", word.lower()) else near for word, near in pairs)


def parse_query(text: str, today: date, topic: Topic = Topic.VISITORS) -> Query:
    """Parse ``last month path /api top 20 sort ai csv``. The last of equal options counts."""
    rest, period_words, compared_words = _split(text), list[str](), list[str]()
    section, top, sort, file_to = None, DEFAULT_TOP, SortBy.TOTAL, FileTo.NOWHERE
    target = period_words
    while rest:
        word = rest.pop(0)
        option = word.lower()
        if topic.is_gaps and (option in ("path", "sort", "compare") or word.startswith("/")):
            raise Misunderstood(
                f"{_quoted(word)} can't follow {code(topic)}. Try {code(f'{topic} last month')}."
            )
        if option == "compare":
            target = compared_words = []
            if rest and rest[0].lower() in ("none", "nothing"):
                compared_words.append(rest.pop(0))
                target = period_words
            continue
        if option == "top":
            top = _parse_top(rest)
        elif option == "sort":
            sort = _parse_sort(rest)
        elif option == "path" or word.startswith("/"):
            section = _parse_path(rest if option == "path" else [word])
        elif option == "csv":
            place = _PLACES.get(rest[0].lower()) if rest else None
            file_to = place or FileTo.PRIVATE
            del rest[: 1 if place else 0]
        else:
            target.append(word)
            continue
        target = period_words
    period = _parse_period(period_words, today, "I don't know the period") if period_words else None
    period = period or days_before(today, 7)
    compared: Period | None = period.before()
    if compared_words:
        is_none = compared_words[0].lower() in ("none", "nothing")
        compared = None if is_none else _parse_period(compared_words, today, "I can't compare with")
    return Query(
        period, None if topic.is_gaps else compared, section, top, sort, file_to, topic=topic
    )


def _parse_period(rest: list[str], today: date, failure: str) -> Period:
    text = " ".join(rest)
    try:
        return parse_period(text, today)
    except BadPeriod as bad:
        raise Misunderstood(f"{failure} {_quoted(text)}: {escape(str(bad))}.") from bad


def _parse_top(rest: list[str]) -> int:
    value = rest.pop(0) if rest else ""
    if not re.fullmatch("[0-9]{1,4}", value) or not 1 <= int(value) <= MOST_TOP:
        raise Misunderstood(f"`top` takes 1 to {MOST_TOP}. For all pages, use `csv`.")
    return int(value)


def _parse_sort(rest: list[str]) -> SortBy:
    sort = _SORTS.get(rest.pop(0).lower() if rest else "")
    if sort is None:
        raise Misunderstood("`sort` takes `human`, `ai` or `total`.")
    return sort


def _parse_path(rest: list[str]) -> str | None:
    """Take a section such as ``/api`` from the words; return None for the whole site."""
    if not rest:
        raise Misunderstood("`path` takes the beginning of a path. Try `path /api`.")
    word = rest.pop(0)
    section = "/" + _SITE.sub("", word.strip("`"), count=1).lstrip("/")
    if len(section) > _SECTION_LENGTH:
        raise Misunderstood(f"A path of more than {_SECTION_LENGTH} characters is too long.")
    if visible(section) != section:
        raise Misunderstood(f"There are characters in {_quoted(word)} that nobody can see.")
    bare = section.rstrip("*")
    if not bare.strip("/"):
        return None
    return f"{bare}*" if bare != section and not bare.endswith("/") else bare.rstrip("/")


def parse_section(text: str) -> str | None:
    """Parse ``path /api``; return "" for the whole site, None for an empty text. Raises Misunderstood."""
    rest = _split(text)
    if not rest:
        return None
    if rest[0].lower() == "path":
        rest.pop(0)
    elif not rest[0].startswith("/"):
        raise Misunderstood(f"I don't know {_quoted(rest[0])}. Only `path /api` can follow here.")
    section = _parse_path(rest)
    if rest:
        raise Misunderstood(f"A digest has one path, and here is {_quoted(rest[0])} as well.")
    return section or ""


def parse_weekly(text: str) -> WeeklyRequest:
    """Parse ``monday 09:00 Europe/Berlin path /api`` in any order, each once. Raises Misunderstood."""
    rest, values = _split(text), dict[str, Any]()
    while rest:
        word = rest.pop(0)
        if word.lower() in ("every", "at", "on"):
            continue
        for part, parse in _WEEKLY_PARTS.items():
            if (value := parse(word, rest)) is None:
                continue
            if part in values:
                raise Misunderstood(f"A digest has one {part}, and here are 2.")
            values[part] = value
            break
        else:
            kind, example = (
                ("time zone", "`Europe/Berlin`") if "/" in word else ("word", _WEEKLY_EXAMPLE)
            )
            raise Misunderstood(f"I don't know the {kind} {_quoted(word)}. Try {example}.")
    default = WeeklyRequest()
    return WeeklyRequest(
        weekday=values.get("weekday", default.weekday),
        at=values.get("time", default.at),
        zone=values.get("time zone"),
        section=values.get("path") or None,
    )


def _parse_path_next(word: str, rest: list[str]) -> str | None:
    if word.lower() == "path":
        return _parse_path(rest) or ""
    return _parse_path([word]) or "" if word.startswith("/") else None


def _parse_weekday(word: str, _rest: list[str]) -> int | None:
    bare = word.lower().rstrip("s.,")
    days = [day for day in Weekday if len(bare) >= 2 and day.name.lower().startswith(bare)]
    return int(days[0]) if len(days) == 1 else None


def _parse_time(word: str, rest: list[str]) -> time | None:
    """Parse 9, 9:30, 09.30, 9am or 9 pm."""
    if rest and rest[0].lower() in ("am", "pm") and word[:1].isdecimal():
        word += rest.pop(0)
    match = _TIME.fullmatch(word.lower())
    if not match:
        return None
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if (half and not 1 <= hour <= 12) or hour > 23 or minute > 59:
        raise Misunderstood(f"{code(word, 20)} isn't a time. Try {_WEEKLY_EXAMPLE}.")
    return time(hour % 12 + (12 if half == "pm" else 0) if half else hour, minute)


def _parse_zone(word: str, _rest: list[str]) -> str | None:
    return _zones().get(word.lower())


@cache
def _zones() -> dict[str, str]:
    """Return the names of all IANA time zones by their lower-case form."""
    return {name.lower(): name for name in available_timezones() if name.lower() not in _NO_ZONES}


_WEEKLY_PARTS: dict[str, Callable[[str, list[str]], object]] = {
    "path": _parse_path_next,
    "weekday": _parse_weekday,
    "time": _parse_time,
    "time zone": _parse_zone,
}
"""Parsers of the parts of a weekly time. Each may take further words; None if the word is no such part."""
