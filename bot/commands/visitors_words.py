"""What people type after ``/docs-visitors``: a period and options, in any order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, time
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from bot.commands.periods import BadPeriod, UnknownPeriod, default_period, parse_period
from bot.messages.blocks import code, escape
from bot.messages.legible import one_line
from bot.model import DEFAULT_TOP, MOST_TOP, FileTo, Period, SortBy, Weekday, Wish

_SECTION_LENGTH = 300
_TIME = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm)?(?:\s*h)?")


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


def parse_wish(text: str, now: datetime, zone: ZoneInfo) -> Wish:
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
    return Wish(period, compared, read.section, read.top, read.sort, read.file_to)


def _period(text: str, now: datetime, zone: ZoneInfo) -> Period:
    try:
        return parse_period(text, now, zone)
    except BadPeriod as bad:
        shown = code(one_line(text, 60))
        raise Misunderstood(f"I do not understand {shown}: {escape(str(bad))}.") from None


def _top(words: list[str], read: _Read) -> None:
    given = words.pop(0) if words else ""
    if not given.isdecimal() or not 1 <= int(given[:9]) <= MOST_TOP:
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
    """``/api`` and all below it; a bare ``/`` is the whole site."""
    section = "/" + word.strip("`").lstrip("/")
    if len(section) > _SECTION_LENGTH:
        raise Misunderstood(f"A path of more than {_SECTION_LENGTH} characters is too long.")
    section = section.removesuffix("/*")
    return section if section.strip("/*") else None


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
    """The next one or two words when they are a period; ``none``; alone it is the default."""
    if words and words[0].lower() in ("none", "nothing"):
        words.pop(0)
        read.compares = False
        return
    for count in (2, 1):
        if len(words) < count:
            continue
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


def parse_weekly(text: str) -> WeeklyWords:
    """``[monday] [09:00] [zone] [path /api]`` in any order. Raises Misunderstood."""
    words, section = text.split(), None
    weekday, at, zone = Weekday.MONDAY, time(9), None
    while words:
        word = words.pop(0)
        if word.lower() in ("every", "at", "on"):
            continue
        if word.lower() == "path":
            section = _named_section(words)
        elif word.startswith("/"):
            section = _section(word)
        elif (day := _weekday(word)) is not None:
            weekday = day
        elif (clock := _clock(word, words)) is not None:
            at = clock
        elif (found := _zones().get(word.lower())) is not None:
            zone = found
        else:
            raise Misunderstood(
                f"I do not understand {code(one_line(word, 60))}: after `subscribe` come a weekday, "
                "a time such as `09:00`, a time zone such as `Europe/Berlin`, and `path /api` for a section."
            )
    return WeeklyWords(weekday, at, zone, section)


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
    return {name.lower(): name for name in available_timezones()}
