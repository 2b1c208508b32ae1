"""A question about visitors: what somebody wants to know, and which stored answers it takes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.model.ids import ChannelId, ProjectId, QuestionId, SnapshotId, UserId
from bot.model.period import Period
from bot.model.visitors import SortBy

DEFAULT_TOP = 10
MOST_TOP = 40
"""More rows do not fit into one message beside the rest."""


class FileTo(StrEnum):
    """Where all rows go as a file."""

    NOWHERE = "nowhere"
    PRIVATE = "private"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True)
class VisitorsQuery:
    """What is asked: a period, what it is compared with, and how the pages are shown."""

    period: Period
    compared: Period | None
    section: str | None = None
    top: int = DEFAULT_TOP
    sort: SortBy = SortBy.TOTAL
    file_to: FileTo = FileTo.NOWHERE


class QuestionState(StrEnum):
    """``waiting → answered``."""

    WAITING = "waiting"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Question:
    """Somebody's question. The snapshots are those its answer is made of; the answer can be made again."""

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
    """None while it is not decided whether there is one."""
    shown: int = 0
    """How often progress was shown."""
