"""The content of a weekly digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.ids import Recommendation
from bot.jobs.model.jobs import ToReview, TrackedJob
from bot.visitors.model.questions import Query
from bot.visitors.model.readings import Reading
from bot.visitors.model.reports import Report


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
