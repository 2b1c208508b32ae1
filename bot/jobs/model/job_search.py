"""The search for jobs by words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from bot.ids import JobNumber

MAX_SEARCHED_JOBS = 1_000
"""The newest jobs that are searched."""
MAX_SEARCH_CHARACTERS = 150
"""The longest text to search for."""


@dataclass(frozen=True, slots=True)
class SearchedJob:
    """A job's words in which a search looks."""

    number: JobNumber
    prompt: str
    title: str = ""
    """The title of its pull request, if the bot has seen it."""


def find_jobs(text: str, candidates: Sequence[SearchedJob]) -> list[JobNumber]:
    """Return the jobs whose title and prompt contain every word of a text, in any case.

    A word may be the part of a longer one, since some languages do not divide words.
    """
    words = _fold(text).split()
    found = []
    for job in candidates:
        searched = _fold(f"{job.title}\n{job.prompt}")
        if all(word in searched for word in words):
            found.append(job.number)
    return found


def _fold(text: str) -> str:
    """Return a text without differences of case and width."""
    return unicodedata.normalize("NFKC", text).casefold()
