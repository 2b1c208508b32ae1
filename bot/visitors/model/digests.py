"""The content of a weekly digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.jobs.model.jobs import ToReview, TrackedJob
from bot.visitors.model.questions import Query
from bot.visitors.model.readings import Reading
from bot.visitors.model.reports import Report


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Work on the docs that a digest recommends."""

    heading: str
    """Its kind for people, such as *Readers asked*.

    A digest has one recommendation of each kind.
    """
    key: str
    """Its key in the values of buttons and in its jobs."""
    title: str
    evidence: str
    """Its numbers, such as "11 questions, no answer"; empty if they are too small to recommend
    it.
    """
    events: int
    """The size of the evidence, by which recommendations are ranked."""
    prompt: str
    """The suggested prompt."""
    quote: str = ""
    """Words of one person, shown after the evidence."""
    is_page: bool = False
    """Whether the title is the path of a page, to be improved and not written."""
    added_evidence: str = ""
    """Its numbers in the text of another recommendation; empty if ``evidence`` is clear there."""
    merged_keys: tuple[str, ...] = ()
    """The keys of the recommendations of the same subject that are one with it."""

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key, *self.merged_keys)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reviewed job that was asked for at a recommendation."""

    job: TrackedJob
    change: str = ""
    """How the readers' unmet needs changed since it was asked for; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of a weekly digest."""

    query: Query
    report: Report | None
    """None if the visitors of the week could not be read."""
    to_review: ToReview
    recommendations: Sequence[Recommendation] = ()
    asked: Mapping[str, tuple[TrackedJob, str | None]] | None = None
    """The jobs that were asked for at the recommendations, by key, with the links to them."""
    more: int = 0
    """Number of further recommendations."""
    outcomes: Sequence[Outcome] = ()
    unread_readings: Sequence[Reading] = ()
    """Readings of the week without any numbers or rows."""
    next_at: datetime | None = None
    """The local time of the next digest; None if this one was requested once."""
