"""Parse what people type after ``/docs-visitors``: a period and options in any order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from functools import cache
from typing import TypeVar
from zoneinfo import ZoneInfo

from bot.commands.parsing.periods import BadPeriod, UnknownPeriod, default_period, parse_period
from bot.messages.blocks import code, escape
from bot.messages.plain_text import one_line, visible
from bot.model.period import Period
from bot.model.questions import DEFAULT_TOP, MOST_TOP, FileTo, VisitorsQuery
from bot.model.visitors import SortBy
from bot.model.weekly_time import Weekday
from bot.setting_types import zone_names

_Value = TypeVar("_Value")
_SECTION_LENGTH = 300
_MOST_CHARACTERS = 10_000
"""Maximum length of all options together."""
_PERIOD_WORDS = 7
"""Words of the longest period, "1 October 2025 to 5 November 2025"."""
_TIME = re.compile(r"([0-9]{1,2})(?:[:.]([0-9]{2}))?(am|pm)?h?")
_SITE = re.compile(r"https?://[^/]*", re.IGNORECASE)
_NO_ZONES = ("factory", "localtime", "posixrules")
"""Names in the zone database that are no time zones: their meaning depends on the machine."""


class Misunderstood(ValueError):
    """The text cannot be parsed. The error's text tells people why, in escaped mrkdwn."""


@dataclass
class _Parsed:
    """The options parsed so far. ``rest`` collects the words of the period."""

    now: datetime
    zone: ZoneInfo
    top: int = DEFAULT_TOP
    sort: SortBy = SortBy.TOTAL
    section: str | None = None
    file_to: FileTo = FileTo.NOWHERE
    compared: Period | None = None
    compares: bool = True
    rest: list[str] = field(default_factory=list)


def parse_query(text: str, now: datetime, zone: ZoneInfo) -> VisitorsQuery:
    """Return the query that a text describes. Raises Misunderstood."""
    words, parsed = _words(text), _Parsed(now, zone)
    while words:
        word = words.pop(0)
        option = _OPTIONS.get(word.lower())
        if option is not None:
            option(words, parsed)
        elif word.startswith("/") and parsed.section is None:
            parsed.section = _section(word)
        else:
            parsed.rest.append(word)
    period = _period(" ".join(parsed.rest), now, zone) if parsed.rest else default_period(now, zone)
    compared = (parsed.compared or period.before()) if parsed.compares else None
    return VisitorsQuery(period, compared, parsed.section, parsed.top, parsed.sort, parsed.file_to)


def _words(text: str) -> list[str]:
    if len(text) > _MOST_CHARACTERS:
        raise Misunderstood(f"More than {_MOST_CHARACTERS:,} characters are too many for this command.")
    return text.split()


def _period(text: str, now: datetime, zone: ZoneInfo) -> Period:
    try:
        return parse_period(text, now, zone)
    except BadPeriod as bad:
        shown = code(one_line(text, 60))
        raise Misunderstood(f"I don't know the period {shown}: {escape(str(bad))}.") from None


def _top(words: list[str], parsed: _Parsed) -> None:
    given = words.pop(0) if words else ""
    if not re.fullmatch("[0-9]{1,4}", given) or not 1 <= int(given) <= MOST_TOP:
        raise Misunderstood(f"After `top` comes a number from 1 to {MOST_TOP}; `csv` has all pages.")
    parsed.top = int(given)


def _sort(words: list[str], parsed: _Parsed) -> None:
    names = {"people": "human", "humans": "human", "all": "total"}
    given = words.pop(0).lower() if words else ""
    try:
        parsed.sort = SortBy(names.get(given, given))
    except ValueError:
        raise Misunderstood("After `sort` comes `human`, `ai` or `total`.") from None


def _path(words: list[str], parsed: _Parsed) -> None:
    parsed.section = _named_section(words)


def _named_section(words: list[str]) -> str | None:
    if not words:
        raise Misunderstood("After `path` comes the beginning of a path, such as `/api`.")
    return _section(words.pop(0))


def _section(word: str) -> str | None:
    """Return a section such as ``/api`` in its normal form; None, for the whole site, if nothing is left."""
    section = "/" + _SITE.sub("", word.strip("`"), count=1).lstrip("/")
    if len(section) > _SECTION_LENGTH:
        raise Misunderstood(f"A path of more than {_SECTION_LENGTH} characters is too long.")
    if visible(section) != section:
        raise Misunderstood(f"There are characters in {code(one_line(word, 60))} that nobody can see.")
    bare = section.rstrip("*")
    if not bare.strip("/"):
        return None
    return f"{bare}*" if bare != section and not bare.endswith("/") else bare.rstrip("/")


def _csv(words: list[str], parsed: _Parsed) -> None:
    places = {
        "here": FileTo.CHANNEL,
        "channel": FileTo.CHANNEL,
        "private": FileTo.PRIVATE,
        "me": FileTo.PRIVATE,
    }
    place = places.get(words[0].lower()) if words else None
    if place is not None:
        words.pop(0)
    parsed.file_to = place or FileTo.PRIVATE


def _compare(words: list[str], parsed: _Parsed) -> None:
    """Parse the longest period at the beginning of ``words``, or ``none``. Otherwise keep the default."""
    if words and words[0].lower() in ("none", "nothing"):
        words.pop(0)
        parsed.compares = False
        return
    for count in range(min(_PERIOD_WORDS, len(words)), 0, -1):
        try:
            parsed.compared = parse_period(" ".join(words[:count]), parsed.now, parsed.zone)
        except UnknownPeriod:
            continue
        except BadPeriod as bad:
            shown = code(one_line(" ".join(words[:count]), 60))
            raise Misunderstood(f"I can't compare with {shown}: {escape(str(bad))}.") from None
        del words[:count]
        return


_OPTIONS: dict[str, Callable[[list[str], _Parsed], None]] = {
    "top": _top,
    "sort": _sort,
    "path": _path,
    "csv": _csv,
    "compare": _compare,
}


@dataclass(frozen=True, slots=True)
class WeeklyWords:
    """The weekday, time and section of a weekly digest. ``zone`` is None for the zone of the requester."""

    weekday: Weekday = Weekday.MONDAY
    at: time = time(9)
    zone: str | None = None
    section: str | None = None


@dataclass
class _ParsedWeekly:
    """The options parsed so far. Each is allowed once, which ``_once`` checks."""

    days: list[Weekday] = field(default_factory=list)
    clocks: list[time] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    sections: list[str | None] = field(default_factory=list)


def parse_weekly(text: str) -> WeeklyWords:
    """Parse ``[monday] [09:00] [zone] [path /api]`` in any order, each once. Raises Misunderstood."""
    words, parsed = _words(text), _ParsedWeekly()
    while words:
        _parse_weekly_word(words.pop(0), words, parsed)
    return WeeklyWords(
        _once("weekday", parsed.days, Weekday.MONDAY),
        _once("time", parsed.clocks, time(9)),
        _once("time zone", parsed.zones, None),
        _once("path", parsed.sections, None),
    )


def parse_section(text: str) -> str | None:
    """Parse ``path /api``; return None for an empty text. Raises Misunderstood."""
    words, parsed = _words(text), _ParsedWeekly()
    while words:
        word = words.pop(0)
        if not _parse_section_word(word, words, parsed):
            raise Misunderstood(
                f"I don't know {code(one_line(word, 60))}. Only `path /api` for a section may follow here."
            )
    return _once("path", parsed.sections, None)


def _parse_section_word(word: str, words: list[str], parsed: _ParsedWeekly) -> bool:
    """Parse a section if this word begins one. Return whether it does."""
    if word.lower() == "path":
        parsed.sections.append(_named_section(words))
    elif word.startswith("/"):
        parsed.sections.append(_section(word))
    else:
        return False
    return True


def _parse_weekly_word(word: str, words: list[str], parsed: _ParsedWeekly) -> None:
    if word.lower() in ("every", "at", "on") or _parse_section_word(word, words, parsed):
        return
    if (day := _weekday(word)) is not None:
        parsed.days.append(day)
    elif (clock := _clock(word, words)) is not None:
        parsed.clocks.append(clock)
    elif (found := _zones().get(word.lower())) is not None:
        parsed.zones.append(found)
    else:
        raise _unknown_weekly_word(word)


def _unknown_weekly_word(word: str) -> Misunderstood:
    shown = code(one_line(word, 60))
    if "/" in word:
        return Misunderstood(f"I don't know the time zone {shown}. Try `Europe/Berlin`.")
    return Misunderstood(
        f"I don't know the word {shown}. Try a weekday, a time and a zone: `monday 09:00 Europe/Berlin`."
    )


def _once(what: str, values: Sequence[_Value], default: _Value) -> _Value:
    """Return the only value, or the default if there is none. Raise Misunderstood if there are several."""
    if len(values) > 1:
        raise Misunderstood(f"A digest has one {what}, and here are {len(values)}.")
    return values[0] if values else default


def _weekday(word: str) -> Weekday | None:
    bare = word.lower().rstrip("s.,")
    found = [day for day in Weekday if len(bare) >= 2 and day.name.lower().startswith(bare)]
    return found[0] if len(found) == 1 else None


def _clock(word: str, words: list[str]) -> time | None:
    """Parse a time such as 9, 9:30, 09.30, 9am or 9 pm; return None if the word is no time."""
    if words and words[0].lower() in ("am", "pm") and word[:1].isdecimal():
        word += words.pop(0)
    found = _TIME.fullmatch(word.lower())
    if not found:
        return None
    hour, minute, half = int(found[1]), int(found[2] or 0), found[3]
    if (half and not 1 <= hour <= 12) or hour > 23 or minute > 59:
        raise Misunderstood(f"There is no time {code(one_line(word, 20))} on a clock.")
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return time(hour, minute)


@cache
def _zones() -> dict[str, str]:
    """Return the names of all IANA time zones by their lower-case form."""
    return {name.lower(): name for name in zone_names() if name.lower() not in _NO_ZONES}
