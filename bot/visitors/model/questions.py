"""Questions about visitors and content gaps, and the numbers that answer them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import SecretStr

from bot.ids import ChannelId, MessageTs, ProjectId, QuestionId, ReadingId, SubscriptionId, UserId
from bot.visitors.model.gaps import GapRow, GapRows, Source, Topic
from bot.visitors.model.periods import Period
from bot.visitors.model.readings import Counts, Reading

DEFAULT_TOP = 5
MAX_TOP = 20
NOBODY = UserId("")
"""The user of a question that a subscription asks."""


def in_section(path: str, section: str | None) -> bool:
    """Return whether a page belongs to a section; None is the whole site.

    ``/api`` matches that page and all below it; ``/api*`` matches every path that starts with ``/api``.
    """
    if section is None:
        return True
    if section.endswith("*"):
        return path.startswith(section[:-1])
    bare = section.rstrip("/")
    return path == bare or path.startswith(f"{bare}/")


class SortBy(StrEnum):
    TOTAL = "total"
    HUMAN = "human"
    AI = "ai"


class FileTo(StrEnum):
    """The destination of the file with all rows."""

    NOWHERE = "nowhere"
    PRIVATE = "private"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True)
class Query:
    """The content of a question."""

    period: Period
    compared: Period | None = None
    section: str | None = None
    top: int = DEFAULT_TOP
    sort: SortBy = SortBy.TOTAL
    file_to: FileTo = FileTo.NOWHERE
    label: str | None = None
    """The project's label; None if the bot serves only one."""
    topic: Topic = Topic.VISITORS
    chart: tuple[Period, ...] = ()
    """The points of the chart."""
    recommended: tuple[str, ...] = ()
    """The keys of the recommendations of a digest that was posted."""


class QuestionKind(StrEnum):
    """The kind of answer. Visitors sort after digest: people are answered first."""

    VISITORS = "visitors"
    """A private message to the person who asked."""
    DIGEST = "digest"
    """A post in the channel."""


class QuestionState(StrEnum):
    WAITING = "waiting"
    ANSWERED = "answered"
    MISSED = "missed"
    """A digest that was not posted."""


@dataclass(frozen=True, slots=True)
class Question:
    """A person's question, or a digest."""

    id: QuestionId
    kind: QuestionKind
    project: ProjectId
    channel: ChannelId
    query: Query
    asked_at: datetime
    """It is answered from this time on, which lies ahead for a digest whose numbers are read early."""
    state: QuestionState
    user: UserId = NOBODY
    subscription: SubscriptionId | None = None
    thread_ts: MessageTs | None = None
    response_url: SecretStr | None = None
    readings: tuple[ReadingId, ...] = ()
    """Those that it was answered from, or has been waiting for."""
    calls: int = 0
    """Calls made for it."""

    @property
    def is_weekly(self) -> bool:
        """Whether a subscription asks it, so that no person waits for the answer."""
        return self.subscription is not None

    @property
    def has_gaps(self) -> bool:
        """Whether its answer shows content gaps, with readers' words."""
        return self.kind is QuestionKind.DIGEST or self.query.topic.is_gaps


@dataclass(frozen=True, slots=True)
class Numbers:
    """The readings of a question."""

    query: Query
    readings: Sequence[Reading]
    hidden: Collection[str] = ()
    """The keys of the questions that the reader's channel may not see."""

    def visitors(self, period: Period | None) -> Reading | None:
        """Return the reading of a period's visitors; None if it was not read."""
        return next((one for one in self.readings if one.period == period and one.totals), None)

    def gap_rows(self, source: Source) -> GapRows | None:
        """Return the rows of a source in the question's period; None if not read."""
        key = source, self.query.period
        stored = next(
            (one.gap_rows for one in self.readings if (one.source, one.period) == key), None
        )
        return stored.without(self.hidden) if stored and self.hidden else stored

    def rows_of(self, source: Source) -> Sequence[GapRow]:
        """Return the rows of a source in the question's period; none if they were not read."""
        stored = self.gap_rows(source)
        return stored.rows if stored else ()

    @property
    def chart(self) -> list[tuple[Period, Counts]]:
        """The points of the chart that were read."""
        points = ((period, self.visitors(period)) for period in self.query.chart)
        return [(period, point.totals) for period, point in points if point and point.totals]
