"""Parse what people type after ``/docs-visitors``: a period and options in any order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time
from functools import cache, partial
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from bot.commands.periods import BadPeriod, FuturePeriod, UnknownPeriod, default_period, parse_period
from bot.context import Context
from bot.ids import ChannelId, JobNumber, MessageTs
from bot.messages.blocks import code, escape
from bot.messages.plain_text import visible
from bot.model.jobs import TrackedJob
from bot.model.misses import Topic
from bot.model.questions import DEFAULT_TOP, MOST_TOP, FileTo, VisitorsQuery, Weekday
from bot.model.visitors import Period, SortBy
from bot.ports import ThreadRef
from bot.store import Transaction
from bot.store.jobs import Jobs

_SECTION_LENGTH = 300
_MOST_CHARACTERS = 10_000
"""Maximum length of all options together."""
_PERIOD_WORDS = 7
"""Words of the longest period, "1 October 2025 to 5 November 2025"."""
_TIME = re.compile(r"([0-9]{1,2})(?:[:.]([0-9]{2}))?(am|pm)?h?")
_SITE = re.compile(r"https?://[^/]*", re.IGNORECASE)
_NO_ZONES = ("factory", "localtime", "posixrules")
"""Names in the zone database that are no time zones: their meaning depends on the machine."""
_SORTS = {"people": SortBy.HUMAN, "humans": SortBy.HUMAN, "all": SortBy.TOTAL} | {
    str(by): by for by in SortBy
}
_PLACES = {"here": FileTo.CHANNEL, "channel": FileTo.CHANNEL, "private": FileTo.PRIVATE, "me": FileTo.PRIVATE}
_FILLER = "filler"


class Misunderstood(ValueError):
    """The text cannot be parsed. The error's text tells people why, in escaped mrkdwn."""


def parse_query(text: str, now: datetime, zone: ZoneInfo) -> VisitorsQuery:
    """Return the query that a text describes; the last one of equal options counts. Raises Misunderstood."""
    words, period_words, found = _words(text), list[str](), dict[str, Any]()
    options: dict[str, Callable[[list[str]], object]] = {
        "top": _top,
        "sort": _sort,
        "path": _path,
        "csv": _csv,
        "compare": partial(_compare, now=now, zone=zone),
    }
    while words:
        word = words.pop(0)
        name = word.lower()
        if name.startswith("/") and found.get("path") is None:
            found["path"] = _section(word)
        elif name in options:
            found[name] = options[name](words)
        else:
            period_words.append(word)
    period = default_period(now, zone)
    if period_words:
        period = _period(period_words, now, zone, "I don't know the period")
    compared = found.get("compare") or [period.before()]
    return VisitorsQuery(
        period,
        compared[0],
        found.get("path"),
        found.get("top", DEFAULT_TOP),
        found.get("sort", SortBy.TOTAL),
        found.get("csv", FileTo.NOWHERE),
    )


def parse_misses(topic: Topic, text: str, now: datetime, zone: ZoneInfo) -> VisitorsQuery:
    """Return the query about what readers miss that a text describes. Raises Misunderstood."""
    others = [word for word in _words(text) if word.lower() in ("path", "sort", "compare") or word[0] == "/"]
    if others:
        raise Misunderstood(
            f"{code(others[0], 60)} can't follow {code(topic)}. A period, `top 20` and `csv` can."
        )
    return replace(parse_query(text, now, zone), compared=None, topic=topic)


def _words(text: str) -> list[str]:
    if len(text) > _MOST_CHARACTERS:
        raise Misunderstood(f"More than {_MOST_CHARACTERS:,} characters are too many for this command.")
    return text.split()


def _period(words: list[str], now: datetime, zone: ZoneInfo, why: str) -> Period:
    """Return the period that words name. Raises UnknownPeriod if they are none, otherwise Misunderstood."""
    try:
        return parse_period(" ".join(words), now, zone)
    except BadPeriod as bad:
        named = "" if isinstance(bad, FuturePeriod) else f"{why} {code(' '.join(words), 60)}: "
        raise Misunderstood(f"{named}{escape(str(bad))}.") from bad


def _top(words: list[str]) -> int:
    given = words.pop(0) if words else ""
    if not re.fullmatch("[0-9]{1,4}", given) or not 1 <= int(given) <= MOST_TOP:
        raise Misunderstood(f"After `top` comes a number from 1 to {MOST_TOP}; `csv` has all pages.")
    return int(given)


def _sort(words: list[str]) -> SortBy:
    by = _SORTS.get(words.pop(0).lower() if words else "")
    if by is None:
        raise Misunderstood("After `sort` comes `human`, `ai` or `total`.")
    return by


def _path(words: list[str]) -> str | None:
    if not words:
        raise Misunderstood("After `path` comes the beginning of a path, such as `/api`.")
    return _section(words.pop(0))


def _section(word: str) -> str | None:
    """Return a section such as ``/api`` in its normal form; None, for the whole site, if nothing is left."""
    section = "/" + _SITE.sub("", word.strip("`"), count=1).lstrip("/")
    if len(section) > _SECTION_LENGTH:
        raise Misunderstood(f"A path of more than {_SECTION_LENGTH} characters is too long.")
    if visible(section) != section:
        raise Misunderstood(f"There are characters in {code(word, 60)} that nobody can see.")
    bare = section.rstrip("*")
    if not bare.strip("/"):
        return None
    return f"{bare}*" if bare != section and not bare.endswith("/") else bare.rstrip("/")


def _csv(words: list[str]) -> FileTo:
    place = _PLACES.get(words[0].lower()) if words else None
    if place is not None:
        del words[0]
    return place or FileTo.PRIVATE


def _compare(words: list[str], *, now: datetime, zone: ZoneInfo) -> list[Period | None]:
    """Take the longest period at the beginning of ``words``, or ``none``; return nothing for the default."""
    if words and words[0].lower() in ("none", "nothing"):
        del words[0]
        return [None]
    for count in range(min(_PERIOD_WORDS, len(words)), 0, -1):
        try:
            compared = _period(words[:count], now, zone, "I can't compare with")
        except Misunderstood as why:
            if isinstance(why.__cause__, UnknownPeriod):
                continue
            raise
        del words[:count]
        return [compared]
    return []


@dataclass(frozen=True, slots=True)
class WeeklyWords:
    """The weekday, time and section of a weekly digest. ``zone`` is None for the zone of the requester."""

    weekday: Weekday = Weekday.MONDAY
    at: time = time(9)
    zone: str | None = None
    section: str | None = None


def parse_weekly(text: str) -> WeeklyWords:
    """Parse ``[monday] [09:00] [zone] [path /api]`` in any order, each once. Raises Misunderstood."""
    kinds = {_FILLER: _filler, "path": _path_here, "weekday": _weekday, "time": _clock, "time zone": _zone}
    found = _kinds(text, kinds, _unknown_weekly_word)
    return WeeklyWords(
        found.get("weekday", Weekday.MONDAY),
        found.get("time", time(9)),
        found.get("time zone"),
        found.get("path") or None,
    )


def parse_section(text: str) -> str | None:
    """Parse ``path /api``; return "" for the whole site, None for an empty text. Raises Misunderstood."""
    unknown = "I don't know {}. Only `path /api` for a section may follow here."
    return _kinds(text, {"path": _path_here}, lambda _: unknown).get("path")


_Kind = Callable[[str, list[str]], object]
"""Reads a word, and more of those after it if it needs them; returns None if it is of another kind."""


def _kinds(text: str, kinds: Mapping[str, _Kind], unknown: Callable[[str], str]) -> dict[str, Any]:
    """Return the value of each kind in a text. ``unknown`` has the answer to a word of no kind."""
    words, found = _words(text), dict[str, list[object]]()
    while words:
        word = words.pop(0)
        values = ((kind, read(word, words)) for kind, read in kinds.items())
        kind, value = next((each for each in values if each[1] is not None), ("", None))
        if value is None:
            raise Misunderstood(unknown(word).format(code(word, 60)))
        found.setdefault(kind, []).append(value)
    for kind, several in found.items():
        if kind != _FILLER and len(several) > 1:
            raise Misunderstood(f"A digest has one {kind}, and here are {len(several)}.")
    return {kind: values[0] for kind, values in found.items()}


def _unknown_weekly_word(word: str) -> str:
    if "/" in word:
        return "I don't know the time zone {}. Try `Europe/Berlin`."
    return "I don't know the word {}. Try a weekday, a time and a zone: `monday 09:00 Europe/Berlin`."


def _filler(word: str, _words: list[str]) -> str | None:
    return word if word.lower() in ("every", "at", "on") else None


def _path_here(word: str, words: list[str]) -> str | None:
    """Return a section that this word begins; an empty text for the whole site."""
    if word.lower() == "path":
        return _path(words) or ""
    return _section(word) or "" if word.startswith("/") else None


def _weekday(word: str, _words: list[str]) -> Weekday | None:
    bare = word.lower().rstrip("s.,")
    found = [day for day in Weekday if len(bare) >= 2 and day.name.lower().startswith(bare)]
    return found[0] if len(found) == 1 else None


def _clock(word: str, words: list[str]) -> time | None:
    """Return a time such as 9, 9:30, 09.30, 9am or 9 pm; None if the word is no time."""
    if words and words[0].lower() in ("am", "pm") and word[:1].isdecimal():
        word += words.pop(0)
    found = _TIME.fullmatch(word.lower())
    if not found:
        return None
    hour, minute, half = int(found[1]), int(found[2] or 0), found[3]
    if (half and not 1 <= hour <= 12) or hour > 23 or minute > 59:
        raise Misunderstood(f"There is no time {code(word, 20)} on a clock.")
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return time(hour, minute)


def _zone(word: str, _words: list[str]) -> str | None:
    return _zones().get(word.lower())


@cache
def _zones() -> dict[str, str]:
    """Return the names of all IANA time zones by their lower-case form."""
    return {name.lower(): name for name in available_timezones() if name.lower() not in _NO_ZONES}


NUMBER = "[0-9]{1,9}"
"""The shape of a job's number."""
LINK = r"https?://[^\s/]+/archives/([A-Z0-9]+)/p([0-9]{10})([0-9]{6})/?(?:\?(\S*))?"
"""The shape of a link to a message, such as

https://acme.slack.com/archives/C0123/p1700000000123456?thread_ts=1700000000.123456&cid=C0123
"""
_THREAD = re.compile(r"(?:^|&)thread_ts=([0-9]+\.[0-9]+)")


def as_thread(named: str) -> ThreadRef | None:
    """Return the thread of a link to a Slack message; None if the text is no such link."""
    found = re.fullmatch(LINK, named)
    if found is None:
        return None
    channel, seconds, fraction, query = found.groups()
    root = _THREAD.search(query or "")
    return ThreadRef(ChannelId(channel), MessageTs(root[1] if root else f"{seconds}.{fraction}"))


async def find_job(context: Context, named: str) -> TrackedJob | None:
    """Return the job that a text names (``42``, ``#42``, a service id, a link), or None."""
    return await context.store.read(lambda tx: _find_job(tx, named))


def _find_job(tx: Transaction, named: str) -> TrackedJob | None:
    if re.fullmatch(f"#?{NUMBER}", named):
        return Jobs(tx).get(JobNumber(int(named.removeprefix("#"))))
    if thread := as_thread(named):
        return Jobs(tx).in_thread(thread)
    return Jobs(tx).with_service_id(named)
