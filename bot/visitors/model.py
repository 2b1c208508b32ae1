"""Counts, snapshots, questions and subscriptions. Unique visitors are approximate and never added up."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, time
from enum import IntEnum, StrEnum

from pydantic import SecretStr

from bot.ids import ChannelId, MessageTs, ProjectId, QuestionId, SnapshotId, SubscriptionId, UserId
from bot.visitors.content_gaps import GapRows, Source, Topic
from bot.visitors.periods import Period, WeeklyTime

DEFAULT_TOP, MOST_TOP = 5, 20
NOBODY = UserId("")
"""The user of a question that a subscription asks."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Unique visitors. A visitor who is both a person and an AI agent counts once in ``total``."""

    human: int
    ai: int
    total: int


NO_VISITORS = Counts(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Page:
    """A page's counts in a period, and in the period compared with."""

    path: str
    now: Counts
    was: Counts | None = None
    """None if unknown."""

    @property
    def gained(self) -> int:
        return self.now.total - (self.was.total if self.was else 0)


def path_hash(path: str) -> str:
    """Return the key of a page: a path can be too long for an index or a button."""
    return hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def is_beyond_chance(now: float, was: float) -> bool:
    """Return whether two counts differ by more than three standard deviations."""
    return abs(now - was) > 3 * math.sqrt(now + was)


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


class ReadingProblem(StrEnum):
    """The reason why numbers could not be read, or a digest was not posted."""

    UNWELL = "unwell"
    KEY = "key"
    FORBIDDEN = "forbidden"
    PROJECT = "project"
    NOT_SERVED = "not_served"
    NOT_HERE = "not_here"
    REJECTED = "rejected"
    ENDLESS = "endless"
    LATE = "late"
    DOWN = "down"


# ---- snapshots


class SnapshotState(StrEnum):
    """A snapshot that failed stays requested, with its problem, until ``due_at``."""

    REQUESTED = "requested"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The stored response of the analytics API for one period, read page by page."""

    id: SnapshotId
    project: ProjectId
    period: Period
    state: SnapshotState
    due_at: datetime
    with_pages: bool = False
    totals: Counts | None = None
    rows: int = 0
    next_offset: int = 0
    calls: int = 0
    attempts: int = 0
    complete: bool = False
    """Whether all pages were read, so that a page without a row had no visitors."""
    taken_at: datetime | None = None
    problem: str | None = None
    source: Source = Source.VISITORS
    gap_rows: GapRows | None = None
    """None for visitors."""

    @property
    def is_done(self) -> bool:
        return self.state is SnapshotState.DONE

    @property
    def is_read(self) -> bool:
        """Whether it has numbers or rows, perhaps not all of them."""
        return self.totals is not None or self.gap_rows is not None


# ---- questions


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
    """A person's question, or a digest. While it waits, its snapshots are read in their order."""

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
    calls_before: int = 0
    """Calls made for its snapshots before it was asked."""

    @property
    def is_weekly(self) -> bool:
        """Whether a subscription asks it, so that no person waits for the answer."""
        return self.subscription is not None

    @property
    def has_gaps(self) -> bool:
        """Whether its answer shows content gaps, with readers' words."""
        return self.kind is QuestionKind.DIGEST or self.query.topic.is_gaps

    def awaits(self, snapshot: Snapshot) -> bool:
        """Return whether a snapshot may still be read. The pages of a weekly digest are also retried."""
        is_retried = self.is_weekly and snapshot.with_pages
        return not snapshot.is_done and (snapshot.problem is None or is_retried)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The snapshots of a question as they are stored."""

    query: Query
    snapshots: tuple[Snapshot, ...]
    hidden: Collection[str] = ()
    """The keys of the questions that the reader's channel may not see."""

    def visitors(self, period: Period | None) -> Snapshot | None:
        """Return the snapshot of a period's visitors; None if it was not read."""
        of_period = (
            snapshot
            for snapshot in self.snapshots
            if snapshot.period == period and snapshot.totals is not None
        )
        return next(of_period, None)

    def gap_rows(self, source: Source) -> GapRows | None:
        """Return the rows of a source in the question's period; None if not read."""
        key = source, self.query.period
        rows = (snapshot.gap_rows for snapshot in self.snapshots if (snapshot.source, snapshot.period) == key)
        stored = next(rows, None)
        return stored.without(self.hidden) if stored and self.hidden else stored

    @property
    def chart(self) -> list[tuple[Period, Counts]]:
        """The points of the chart that were read."""
        points = ((period, self.visitors(period)) for period in self.query.chart)
        return [(period, point.totals) for period, point in points if point and point.totals]


# ---- subscriptions


class Weekday(IntEnum):
    MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = range(7)


@dataclass(frozen=True, slots=True)
class WeeklyRequest:
    """A requested subscription."""

    weekday: int = Weekday.MONDAY
    at: time = time(9)
    zone: str | None = None
    """None for the zone of the requester."""
    section: str | None = None


class SubscriptionState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    """By a person, or because Slack refused a post for good."""
    ENDED = "ended"


class SubscriptionChange(StrEnum):
    """A change of a subscription, by its word."""

    UNSUBSCRIBE = "unsubscribe"
    PAUSE = "pause"
    RESUME = "resume"

    @property
    def from_states(self) -> tuple[SubscriptionState, ...]:
        """The states of the subscriptions that it is for."""
        active, paused = SubscriptionState.ACTIVE, SubscriptionState.PAUSED
        return {SubscriptionChange.PAUSE: (active,), SubscriptionChange.RESUME: (paused,)}.get(
            self, (active, paused)
        )

    @property
    def to_state(self) -> SubscriptionState:
        states = {
            SubscriptionChange.PAUSE: SubscriptionState.PAUSED,
            SubscriptionChange.RESUME: SubscriptionState.ACTIVE,
        }
        return states.get(self, SubscriptionState.ENDED)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A channel's weekly digest of the whole site or of a section."""

    id: SubscriptionId
    project: ProjectId
    channel: ChannelId
    section: str | None
    weekly: WeeklyTime
    owner: UserId
    state: SubscriptionState
    next_run_at: datetime | None
    last_result: str | None = None
    last_run_at: datetime | None = None
