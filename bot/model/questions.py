"""Questions about visitors: a person's, and a digest's; and the snapshots that answer them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import SecretStr

from bot.model.ids import ChannelId, MessageTs, ProjectId, QuestionId, SnapshotId, SubscriptionId, UserId
from bot.model.period import Period
from bot.model.visitors import Budget, Snapshot, SortBy

DEFAULT_TOP = 5
NOBODY = UserId("")
"""Who asks for the digest of a subscription."""
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


class QuestionKind(StrEnum):
    """What answers a question."""

    VISITORS = "visitors"
    """A private message to the person who asked."""
    DIGEST = "digest"
    """A post in the channel, which a subscription or a person asked for."""


class QuestionState(StrEnum):
    """``waiting → answered | missed``. ``missed``: a digest that was not posted."""

    WAITING = "waiting"
    ANSWERED = "answered"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about visitors.

    ``now``, ``was`` and ``chart`` are the snapshots that the answer is built from: the period, the period
    before, and the points of the chart. The answer can be built again from them. ``user`` is empty for the
    digest of a ``subscription``.
    """

    id: QuestionId
    kind: QuestionKind
    project: ProjectId
    channel: ChannelId
    query: VisitorsQuery
    asked_at: datetime
    state: QuestionState
    now: SnapshotId
    was: SnapshotId | None
    chart: tuple[SnapshotId, ...]
    """Empty if the answer has no chart."""
    user: UserId = NOBODY
    subscription: SubscriptionId | None = None
    thread_ts: MessageTs | None = None
    """The thread in which it was asked, if it was asked in one."""
    response_url: SecretStr | None = None
    """Where the answer goes until it expires."""
    calls_before: int = 0
    """How many calls had been made for its snapshots when it was asked."""

    @property
    def is_standing(self) -> bool:
        """Return whether a subscription asks it, so that nobody waits for the answer."""
        return self.kind is QuestionKind.DIGEST and not self.user

    @property
    def snapshots(self) -> tuple[SnapshotId, ...]:
        """All snapshots that the answer is built from."""
        return (self.now, *((self.was,) if self.was else ()), *self.chart)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The snapshots of a question as they are stored, and what is left of the hourly budget."""

    now: Snapshot
    was: Snapshot | None
    chart: tuple[Snapshot, ...]
    budget: Budget

    @property
    def windows(self) -> tuple[Snapshot, ...]:
        """Return the snapshots of the period and of the one compared with."""
        return (self.now,) if self.was is None else (self.now, self.was)
