"""Questions about visitors: the query, and the snapshots that answer it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.model.ids import ChannelId, MessageTs, ProjectId, QuestionId, SnapshotId, UserId
from bot.model.period import Period
from bot.model.visitors import SortBy

DEFAULT_TOP = 5
MOST_TOP = 40
"""The most rows that fit into one message together with the rest of the answer."""


class FileTo(StrEnum):
    """Where a file with all rows is sent."""

    NOWHERE = "nowhere"
    PRIVATE = "private"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True)
class VisitorsQuery:
    """A query about visitors: the period, the period to compare with, and how to list the pages.

    ``label``: how people read the project; None where only one is served.
    """

    period: Period
    compared: Period | None
    section: str | None = None
    top: int = DEFAULT_TOP
    sort: SortBy = SortBy.TOTAL
    file_to: FileTo = FileTo.NOWHERE
    label: str | None = None


class QuestionState(StrEnum):
    """``waiting → answered``."""

    WAITING = "waiting"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a user.

    ``now``, ``was`` and ``chart`` are the snapshots that the answer is built from: the period, the period
    before, and the points of the chart. The answer can be built again from them.
    """

    id: QuestionId
    project: ProjectId
    channel: ChannelId
    user: UserId
    query: VisitorsQuery
    asked_at: datetime
    state: QuestionState
    now: SnapshotId
    was: SnapshotId | None
    chart: tuple[SnapshotId, ...] | None
    """None until it is decided whether the answer has a chart."""
    thread_ts: MessageTs | None = None
    """The thread in which it was asked, if it was asked in one."""
    calls_before: int = 0
    """How many calls had been made for its windows when it was asked."""

    @property
    def windows(self) -> tuple[SnapshotId, ...]:
        """The snapshots of its period and of the one compared with, whose pages are read."""
        return (self.now,) if self.was is None else (self.now, self.was)
