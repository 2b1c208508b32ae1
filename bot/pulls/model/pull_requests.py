"""When the pull request of a job is polled, on a host that the bot can poll."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.ids import JobNumber
from bot.jobs.model.pull_request import PullRequestSnapshot

_OFTEN_FOR = timedelta(days=1)
_SELDOM_FOR = timedelta(days=30)
"""A pull request is polled seldom until then, and afterwards never."""
_SELDOM = 6
"""How many times longer a pause is after the first day."""


@dataclass(frozen=True, slots=True)
class WatchedPullRequest:
    """The pull request of a job, and its state at the last poll."""

    job: JobNumber
    link: str
    iteration: int
    """The newest iteration that has ended with it."""
    iteration_ended_at: datetime
    reported_at: datetime
    """The time of the first end with it."""
    snapshot: PullRequestSnapshot | None = None
    """Its state at the last poll, which its job shows."""
    etag: str = ""
    """The host's id of its last answer."""
    polled_at: datetime | None = None
    """When the host last answered; None for never."""
    failed_polls: int = 0
    """Polls without an answer since then."""
    poll_at: datetime | None = None
    """When it is polled next; None for never."""

    def next_poll(self, now: datetime, pause_seconds: float) -> datetime | None:
        """Return the next poll of an open one; None for never.

        The pause is that of the first day.
        """
        age = now - self.iteration_ended_at
        if age >= _SELDOM_FOR:
            return None
        if age >= _OFTEN_FOR:
            pause_seconds *= _SELDOM
        return now + timedelta(seconds=pause_seconds)
