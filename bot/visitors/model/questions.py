"""Questions about visitors and content gaps, and the numbers that answer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pydantic import SecretStr

from bot.ids import ChannelId, MessageTs, ProjectId, QuestionId, ReadingId, SubscriptionId, UserId
from bot.visitors.model.gaps import GapRow, GapRows, ReportType, Source
from bot.visitors.model.own_questions import OwnQuestions
from bot.visitors.model.periods import Period
from bot.visitors.model.readings import Counts, Reading, ReadingProblem

DEFAULT_TOP = 5
MAX_TOP = 20
NOBODY = UserId("")
"""The user of a question that a subscription asks."""


def in_section(path: str, section: str | None) -> bool:
    """Return whether a page belongs to a section; None is the whole site.

    ``/api`` matches that page and all below it; ``/api*`` matches every path that starts with
    ``/api``.
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


class FileDestination(StrEnum):
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
    file_to: FileDestination = FileDestination.NOWHERE
    label: str | None = None
    """The project's label; None if the bot serves only one."""
    report_type: ReportType = ReportType.VISITORS
    chart: tuple[Period, ...] = ()
    """The points of the chart."""
    recommended: tuple[str, ...] = ()
    """The keys of the recommendations of a digest that was posted."""
    is_shared_outside: bool = False
    """Whether another organisation reads the channel, where only its own words may be shown."""


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
    """It is answered from this time on.

    That lies ahead for a digest whose numbers are read early.
    """
    state: QuestionState
    user: UserId = NOBODY
    subscription: SubscriptionId | None = None
    thread_ts: MessageTs | None = None
    response_url: SecretStr | None = None
    readings: tuple[ReadingId, ...] = ()
    """The readings that answered the question, or that it waits for."""
    calls: int = 0
    """Calls made for it."""
    waited_seconds: float = 0.0
    """How long it has been worked on and let wait since ``asked_at``.

    Times without a process do not count.
    """
    due_at: datetime | None = None
    """The time from which a process may work on it; None before it is stored."""

    @property
    def is_weekly(self) -> bool:
        """Whether a subscription asks it, so that no person waits for the answer."""
        return self.subscription is not None

    @property
    def has_gaps(self) -> bool:
        """Whether its answer shows content gaps, with readers' words."""
        return self.kind is QuestionKind.DIGEST or self.query.report_type.is_gaps


@dataclass(frozen=True, slots=True)
class Numbers:
    """The readings of a question."""

    query: Query
    readings: Sequence[Reading]
    own: OwnQuestions = field(default_factory=OwnQuestions)
    """The bot's own questions, of which the reader's channel may not see all."""

    def visitors(self, period: Period | None) -> Reading | None:
        """Return the reading of a period's visitors; None if it was not read."""
        for reading in self._readings_of(Source.VISITORS, period):
            if reading.totals is not None:
                return reading
        return None

    @property
    def views(self) -> Reading | None:
        """The reading of the views in the question's period.

        None if they are not offered or not wanted.
        """
        return next(iter(self._readings_of(Source.VIEWS, self.query.period)), None)

    def problem_of(self, period: Period) -> str:
        """Return why the visitors of a period are missing."""
        problems = [reading.problem for reading in self._readings_of(Source.VISITORS, period)]
        return next(filter(None, problems), ReadingProblem.LATE)

    def _readings_of(self, source: Source, period: Period | None) -> list[Reading]:
        return [one for one in self.readings if (one.source, one.period) == (source, period)]

    def gap_rows(self, source: Source) -> GapRows | None:
        """Return the rows of a source in the question's period; None if not read."""
        for reading in self._readings_of(source, self.query.period):
            rows = reading.gap_rows
            if rows is not None:
                return rows.without(self.own.hider(source))
        return None

    def rows_of(self, source: Source) -> Sequence[GapRow]:
        """Return the rows of a source in the question's period; none if they were not read."""
        stored = self.gap_rows(source)
        return stored.rows if stored else ()

    @property
    def chart(self) -> list[tuple[Period, Counts]]:
        """The points of the chart that were read."""
        points = []
        for period in self.query.chart:
            reading = self.visitors(period)
            if reading is not None and reading.totals is not None:
                points.append((period, reading.totals))
        return points
