"""The options of the bot's own words within a text: the name of a job, a period, a path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from bot.intent.folding import fold
from bot.intent.word_files import read_lists
from bot.intent.word_lists import WordList

_JOB_PATTERN = re.compile(r"(?<![\w#&])(?:job )?#(\d{1,9})(?!\w)|(?<!\w)job (\d{1,9})(?!\w)")
_PATH_PATTERN = re.compile(r"(?<!\S)/[\w.-][\w./*-]*")
_CALENDAR_PATTERN = re.compile(r"(?<!\S)(?:\d{4}-\d{2}(?:-\d{2})?|q[1-4](?: \d{4})?)(?!\S)")
"""A period that reads alike in all languages: ``2026-05``, ``q3``."""
_NUMBER_PATTERN = re.compile(r"\d+")
_ANY_NUMBER = "0"
"""Stands for each number while a period is looked for: "last 30 days" reads "last 0 days"."""


@dataclass(frozen=True, slots=True)
class Options:
    """A text without the options in it, and each option as a person types it after a word."""

    text: str
    job: str = ""
    """``12``."""
    period: str = ""
    """``last week``."""
    path: str = ""
    """``/api``."""

    def fill(self, template: str) -> str:
        """Return the text to type for ``visitors {period} {path}``."""
        typed = template.replace("{job}", self.job).replace("{period}", self.period)
        typed = typed.replace("{path}", f"path {self.path}" if self.path else "")
        return " ".join(typed.split())


def take_options(folded: str) -> Options:
    """Split a folded text into its options and the rest: "readers of /api last week"."""
    rest, job = _take(_JOB_PATTERN, folded)
    rest, path = _take(_PATH_PATTERN, rest)
    rest, period = _take(_CALENDAR_PATTERN, rest)
    if not period:
        rest, period = _take_named_period(rest)
    return Options(" ".join(rest.split()), job.removeprefix("job ").strip("# "), period, path)


def _take(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    """Return a text without the first match of a pattern, and the match."""
    match = pattern.search(text)
    if match is None:
        return text, ""
    return text[: match.start()] + " " + text[match.end() :], match[0]


def _take_named_period(text: str) -> tuple[str, str]:
    """Return a text without the first phrase for a period, and the period to type."""
    numbers = _NUMBER_PATTERN.findall(text)
    template = _NUMBER_PATTERN.sub(_ANY_NUMBER, text)
    for start, end in _make_period_list().spans(template):
        phrase = template[start:end]
        period = _read_periods()[phrase]
        if _ANY_NUMBER in phrase:
            period = f"{numbers.pop(template[:start].count(_ANY_NUMBER))}d"
        rest = template[:start] + " " + template[end:]
        return _restore_numbers(rest, numbers), period
    return text, ""


def _restore_numbers(template: str, numbers: Sequence[str]) -> str:
    """Return a text with its numbers where they were."""
    first, *others = template.split(_ANY_NUMBER)
    restored = [number + part for number, part in zip(numbers, others, strict=True)]
    return first + "".join(restored)


@cache
def _read_periods() -> Mapping[str, str]:
    """Return the period to type by each phrase: "letzte woche" is "last week"."""
    return {
        fold(phrase).replace("{days}", _ANY_NUMBER): period
        for period, phrases in read_lists("periods").items()
        for phrase in phrases
    }


@cache
def _make_period_list() -> WordList:
    return WordList(_read_periods(), joins_hyphens=False)
