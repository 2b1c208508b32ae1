"""The state of a job's pull request, on a host that the bot can poll."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.ids import JobNumber
from bot.jobs.model.changes import ChangedLine

_OFTEN_FOR, _SELDOM_FOR, _SELDOM = timedelta(days=1), timedelta(days=30), 6


class Size(NamedTuple):
    """How much a pull request changes, in lines and in files."""

    additions: int
    deletions: int
    files: int


@dataclass(frozen=True, slots=True)
class SeenPullRequest:
    """A pull request as of its last poll."""

    title: str
    size: Size
    is_draft: bool
    iteration: int
    """The job's iteration whose end it belongs to."""
    since: datetime
    """When the job had it first."""
    before: Size | None = None
    """Its size at the end before that of ``iteration``."""
    is_merged: bool = False
    ended_at: datetime | None = None
    """When it was merged or closed; None while it is open."""
    merged_by: str | None = None
    """A login of the host."""
    as_of: datetime | None = None
    """When it was polled, if the next poll is late, fails for long or never comes; else None."""
    branch: str | None = None
    head: str | None = None
    """The newest commit."""
    made: Size | None = None
    """The size of the iteration's change; None where only the totals before and after it are known."""
    lines: tuple[ChangedLine, ...] = ()
    """The lines that the iteration changed, where they are few."""


@dataclass(frozen=True, slots=True)
class WatchedPullRequest:
    """The pull request of a job, and its state at the last poll."""

    job: JobNumber
    link: str
    iteration: int
    """The newest iteration that has ended with it."""
    iteration_ended_at: datetime
    since: datetime
    """The time of the first end with it."""
    seen: SeenPullRequest | None = None
    etag: str = ""
    """The host's id of its last answer."""
    looked_at: datetime | None = None
    """When the host last answered; None for never."""
    failures: int = 0
    """Polls without an answer since then."""
    look_at: datetime | None = None
    """When it is polled next; None for never."""

    def next_look(self, now: datetime, pause_seconds: float) -> datetime | None:
        """Return the next poll of an open one; None for never. The pause is that of the first day."""
        age = now - self.iteration_ended_at
        if age >= _SELDOM_FOR:
            return None
        return now + timedelta(seconds=pause_seconds * (1 if age < _OFTEN_FOR else _SELDOM))
