"""The numbers of a month: requests for changes, questions about the docs, and their outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.ids import ChannelId, ProjectId


@dataclass(frozen=True, slots=True)
class Month:
    """A calendar month in UTC."""

    begins_at: datetime
    ends_at: datetime
    """The beginning of the next month."""

    @classmethod
    def of(cls, at: datetime) -> Month:
        """Return the month of a time."""
        begins_at = at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        next_month = (begins_at + timedelta(days=32)).replace(day=1)
        return cls(begins_at, next_month)

    def before(self) -> Month:
        """Return the month before."""
        return Month.of(self.begins_at - timedelta(days=1))


@dataclass(frozen=True, slots=True)
class UsageScope:
    """The requests that are counted."""

    projects: Sequence[ProjectId]
    month: Month
    channel: ChannelId | None = None
    """None for all channels."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The numbers of one month.

    The outcomes are those of the month's own requests as they are now, so that no outcome is
    counted without its request.
    """

    jobs: int = 0
    """Jobs that were asked for, without refused and withdrawn ones."""
    follow_ups: int = 0
    """Follow-ups that the docs service has accepted."""
    merged: int = 0
    """Jobs whose pull request was merged."""
    reviewed: int = 0
    """Jobs whose pull request somebody marked as reviewed, where the bot cannot see it."""
    open: int = 0
    """Jobs whose pull request waits for its outcome."""
    closed: int = 0
    """Jobs whose pull request was closed without a merge."""
    time_to_merge: timedelta | None = None
    """The median time from the first end with a pull request to its merge; None for no merge."""
    answered: int = 0
    """Questions that the docs answered."""
    unanswered: int = 0
    """Questions that the docs do not answer yet."""
    written: int = 0
    """Questions that a change of the docs has answered since."""
    gaps_closed: int = 0
    """Changes that have answered them: questions with the same words are one gap."""
    assistant_messages: int = 0
    """Questions that were put to the assistant, which costs credits."""

    @property
    def questions(self) -> int:
        """The number of questions with an outcome."""
        return self.answered + self.unanswered + self.written


def median_time(times: Sequence[timedelta]) -> timedelta | None:
    """Return the median of durations; None without any."""
    if not times:
        return None
    ordered = sorted(times)
    upper = ordered[len(ordered) // 2]
    lower = ordered[(len(ordered) - 1) // 2]
    return (lower + upper) / 2
