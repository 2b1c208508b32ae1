"""The choice of a digest's recommendations, and the digest that shows them.

A subject with an open job or pull request is left out, however the job was begun.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.ids import Recommendation
from bot.jobs.model.jobs import ToReview, TrackedJob
from bot.messages.plain_text import one_line
from bot.visitors.model import Snapshot
from bot.visitors.report import Report

MOST_RECOMMENDED = 3
_TEXT_LENGTH = 300
"""A long prompt names many subjects besides its own, which stands at its beginning."""
_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?<=...)(?:ing|ies|ed|es|s|e|y)$")
_COMMON_WORDS = """
    a an and are at can do docs does for from how i in is it me my not of on or our page the there to use we
    what when where which who why with you your
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reviewed job that was asked for at a recommendation."""

    job: TrackedJob
    change: str = ""
    """How the readers' unmet needs changed since it was asked for; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of a weekly digest."""

    report: Report
    to_review: ToReview
    recommendations: Sequence[Recommendation] = ()
    asked: Mapping[str, tuple[TrackedJob, str | None]] | None = None
    """The jobs that were asked for at the recommendations, by key, with the links to them."""
    more: int = 0
    """Number of further recommendations."""
    outcomes: Sequence[Outcome] = ()
    gap_snapshots: Sequence[Snapshot] = ()
    """The snapshots of content gaps, read or not."""
    next_at: datetime | None = None
    """The local time of the next digest; None if this one was requested once."""


def drop_taken(
    candidates: Sequence[Recommendation], keys: Collection[str], open_jobs: Sequence[TrackedJob]
) -> list[Recommendation]:
    """Return the recommendations without those in ``keys`` or about the subject of an open job."""
    texts = [_stem_words(text) for job in open_jobs for text in _list_texts(job)]
    free = (item for item in candidates if item.key not in keys)
    return [item for item in free if not any(_stem_words(item.title, "-") <= text for text in texts)]


def _list_texts(job: TrackedJob) -> list[str]:
    titles = [job.pull_request.title] if job.pull_request else []
    return [*titles, job.about.title if job.about else one_line(job.text, _TEXT_LENGTH)]


def _stem_words(text: str, if_none: str = "") -> set[str]:
    """Return the stems of the words that distinguish a text; ``if_none`` without any."""
    distinct = set(_WORD.findall(text.casefold())) - set(_COMMON_WORDS.split())
    return {_ENDING.sub("", word) for word in distinct} or {if_none}


def choose_largest(candidates: Sequence[Recommendation]) -> list[Recommendation]:
    """Return the first recommendation of each kind, as many as a digest has."""
    first: dict[str, Recommendation] = {}
    for item in candidates:
        first.setdefault(item.heading, item)
    return list(first.values())[:MOST_RECOMMENDED]
