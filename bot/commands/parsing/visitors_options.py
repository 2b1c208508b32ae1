"""What people type after ``/docs-visitors``: a period and options, in any order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from functools import cache
from typing import TypeVar
from zoneinfo import ZoneInfo, available_timezones

from bot.commands.parsing.periods import BadPeriod, UnknownPeriod, default_period, parse_period
from bot.messages.blocks import code, escape
from bot.messages.plain_text import one_line, visible
from bot.model import DEFAULT_TOP, MOST_TOP, FileTo, Period, SortBy, VisitorsQuery, Weekday

_Said = TypeVar("_Said")
_SECTION_LENGTH = 300
_MOST_WORDS = 5
"""The longest period: "October 2025 to November 2025"."""
_TIME = re.compile(r"([0-9]{1,2})(?:[:.]([0-9]{2}))?\s*(am|pm)?(?:\s*h)?")
_SITE = re.compile(r"https?://[^/]*", re.IGNORECASE)
_NOWHERE = ("factory", "localtime", "posixrules")
"""Files beside the zones that are no place: what they mean depends on the machine."""


class Misunderstood(ValueError):
    """What was typed makes no question; the text is for people, in escaped mrkdwn."""


@dataclass
class _Read:
    """What has been understood so far."""

    now: datetime
    zone: ZoneInfo
    top: int = DEFAULT_TOP
    sort: SortBy = SortBy.TOTAL
    section: str | None = None
    file_to: FileTo = FileTo.NOWHERE
    compared: Period | None = None
    compares: bool = True
    rest: list[str] = field(default_factory=list)


def parse_wish(text: str, now: datetime, zone: ZoneInfo) -> VisitorsQuery:
    """The question that a text asks. Raises Misunderstood."""
    words, read = text.split(), _Read(now, zone)
    while words:
        word = words.pop(0)
        option = _OPTIONS.get(word.lower())
        if option is not None:
            option(words, read)
        elif word.startswith("/") and read.section is None:
            read.section = _section(word)
        else:
            read.rest.append(word)
    period = _period(" ".join(read.rest), now, zone) if read.rest else default_period(now, zone)
    compared = (read.compared or period.before()) if read.compares else None
    return VisitorsQuery(period, compared, read.section, read.top, read.sort, read.file_to)


def _period(text: str, now: datetime, zone: ZoneInfo) -> Period:
    try:
        return parse_period(text, now, zone)
    except BadPeriod as bad:
        shown = code(one_line(text, 60))
        raise Misunderstood(f"I do not understand {shown}: {escape(str(bad))}.") from None


def _top(words: list[str], read: _Read) -> None:
    given = words.pop(0) if words else ""
    if not re.fullmatch("[0-9]{1,4}", given) or not 1 <= int(given) <= MOST_TOP:
        raise Misunderstood(f"After `top` comes a number from 1 to {MOST_TOP}; `csv` has all pages.")
    read.top = int(given)


def _sort(words: list[str], read: _Read) -> None:
    names = {"people": "human", "humans": "human", "all": "total"}
    given = words.pop(0).lower() if words else ""
    try:
        read.sort = SortBy(names.get(given, given))
    except ValueError:
        raise Misunderstood("After `sort` comes `human`, `ai` or `total`.") from None


def _path(words: list[str], read: _Read) -> None:
    read.section = _named_section(words)


def _named_section(words: list[str]) -> str | None:
    if not words:
        raise Misunderstood("After `path` comes the beginning of a path, such as `/api`.")
    return _section(words.pop(0))


def _section(word: str) -> str | None:
    """``/api`` and all below it, however it was written; the whole site when nothing is left."""
    section = "/" + _SITE.sub("", word.strip("`"), count=1).lstrip("/")
    if len(section) > _SECTION_LENGTH:
        raise Misunderstood(f"A path of more than {_SECTION_LENGTH} characters is too long.")
    if visible(section) != section:
        raise Misunderstood(f"There are signs in {code(one_line(word, 60))} that nobody can see.")
    bare = section.rstrip("*")
    if not bare.strip("/"):
        return None
    return f"{bare}*" if bare != section and not bare.endswith("/") else bare.rstrip("/")


def _csv(words: list[str], read: _Read) -> None:
    places = {
        "here": FileTo.CHANNEL,
        "channel": FileTo.CHANNEL,
        "private": FileTo.PRIVATE,
        "me": FileTo.PRIVATE,
    }
    place = places.get(words[0].lower()) if words else None
    if place is not None:
        words.pop(0)
    read.file_to = place or FileTo.PRIVATE


def _compare(words: list[str], read: _Read) -> None:
    """As many of the next words as are a period; ``none``; alone it is the default."""
    if words and words[0].lower() in ("none", "nothing"):
        words.pop(0)
        read.compares = False
        return
    for count in range(min(_MOST_WORDS, len(words)), 0, -1):
        try:
            read.compared = parse_period(" ".join(words[:count]), read.now, read.zone)
        except UnknownPeriod:
            continue
        except BadPeriod as bad:
            shown = code(one_line(" ".join(words[:count]), 60))
            raise Misunderstood(f"I cannot compare with {shown}: {escape(str(bad))}.") from None
        del words[:count]
        return


_OPTIONS: dict[str, Callable[[list[str], _Read], None]] = {
    "top": _top,
    "sort": _sort,
    "path": _path,
    "csv": _csv,
    "compare": _compare,
}


@dataclass(frozen=True, slots=True)
class WeeklyWords:
    """When a digest shall come, and for which section; without ``zone`` at the time of who asks."""

    weekday: Weekday = Weekday.MONDAY
    at: time = time(9)
    zone: str | None = None
    section: str | None = None


@dataclass
class _ReadWeekly:
    """What has been understood so far; each may come once."""

    days: list[Weekday] = field(default_factory=list)
    clocks: list[time] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    sections: list[str | None] = field(default_factory=list)


def parse_weekly(text: str) -> WeeklyWords:
    """``[monday] [09:00] [zone] [path /api]`` in any order, each once. Raises Misunderstood."""
    words, read = text.split(), _ReadWeekly()
    while words:
        _read_weekly(words.pop(0), words, read)
    return WeeklyWords(
        _once("weekday", read.days, Weekday.MONDAY),
        _once("time", read.clocks, time(9)),
        _once("time zone", read.zones, None),
        _once("path", read.sections, None),
    )


def parse_section(text: str) -> str | None:
    """Nothing, or ``path /api`` for a section. Raises Misunderstood."""
    words, read = text.split(), _ReadWeekly()
    while words:
        word = words.pop(0)
        if not _read_section(word, words, read):
            raise Misunderstood(
                f"I do not understand {code(one_line(word, 60))}: "
                "nothing may follow here but `path /api` for a section."
            )
    return _once("path", read.sections, None)


def _read_section(word: str, words: list[str], read: _ReadWeekly) -> bool:
    """Take a section if this word begins one; answers whether it did."""
    if word.lower() == "path":
        read.sections.append(_named_section(words))
    elif word.startswith("/"):
        read.sections.append(_section(word))
    else:
        return False
    return True


def _read_weekly(word: str, words: list[str], read: _ReadWeekly) -> None:
    if word.lower() in ("every", "at", "on") or _read_section(word, words, read):
        return
    if (day := _weekday(word)) is not None:
        read.days.append(day)
    elif (clock := _clock(word, words)) is not None:
        read.clocks.append(clock)
    elif (found := _zones().get(word.lower())) is not None:
        read.zones.append(found)
    else:
        raise Misunderstood(
            f"I do not understand {code(one_line(word, 60))}: after `subscribe` come a weekday, "
            "a time such as `09:00`, a time zone such as `Europe/Berlin`, and `path /api` for a section."
        )


def _once(what: str, said: Sequence[_Said], default: _Said) -> _Said:
    if len(said) > 1:
        raise Misunderstood(f"A digest has one {what}, and here are {len(said)}.")
    return said[0] if said else default


def _weekday(word: str) -> Weekday | None:
    bare = word.lower().rstrip("s.,")
    found = [day for day in Weekday if len(bare) >= 2 and day.name.lower().startswith(bare)]
    return found[0] if len(found) == 1 else None


def _clock(word: str, words: list[str]) -> time | None:
    """9, 9:30, 09.30, 9am, 9 pm."""
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
    """Every IANA zone by its name in small letters."""
    return {name.lower(): name for name in available_timezones() if name.lower() not in _NOWHERE}
