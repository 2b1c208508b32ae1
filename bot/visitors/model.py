"""Counts, snapshots, questions and subscriptions. Unique visitors are approximate and never added up."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from enum import IntEnum, StrEnum
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from bot.ids import (
    ChannelId,
    MessageTs,
    ProjectId,
    QuestionId,
    Recommendation,
    SnapshotId,
    SubscriptionId,
    UserId,
)
from bot.jobs.model.jobs import ToReview, TrackedJob
from bot.jobs.model.quota import Budget
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


# ---- reports


@dataclass(frozen=True, slots=True)
class Report:
    """The content of an answer about visitors."""

    query: Query
    now: Snapshot
    site: Counts
    """Totals of the whole site."""
    pages: Sequence[Page]
    """Pages of the section in their order."""
    chart: Sequence[tuple[Period, Counts]]
    budget: Budget
    zone: str
    is_open: bool = False
    """Whether the period was not over when it was read."""
    was: Snapshot | None = None
    """The period compared with; None unless both are comparable."""
    not_compared: str = ""
    """The reason, as the end of a sentence, if a comparison was asked for."""
    gone: Sequence[Page] = ()
    """Pages that had visitors only before."""

    @property
    def before(self) -> Counts | None:
        return self.was.totals if self.was else None

    @property
    def top(self) -> Sequence[Page]:
        return self.pages[: self.query.top]

    @property
    def moved(self) -> list[Page]:
        """Pages whose visitors changed beyond chance, the largest change first."""
        moved = [
            page
            for page in (*self.pages, *self.gone)
            if page.was is not None and is_beyond_chance(page.now.total, page.was.total)
        ]
        return sorted(moved, key=lambda page: (-abs(page.gained), page.path))

    @property
    def risen(self) -> list[Page]:
        return [page for page in self.moved if page.gained > 0 and page.was != NO_VISITORS]

    @property
    def fallen(self) -> list[Page]:
        return [page for page in self.moved if page.gained < 0 and page.now != NO_VISITORS]

    @property
    def appeared(self) -> list[Page]:
        return [page for page in self.moved if page.was == NO_VISITORS]

    @property
    def vanished(self) -> list[Page]:
        return [page for page in self.moved if page.now == NO_VISITORS]

    @property
    def hardly_people(self) -> list[Page]:
        """Pages with at most half of the site's share of people, beyond chance; most AI agents first."""
        few = (page for page in self.pages if self._is_rare(page.now.human, page, self.site.human))
        return sorted(few, key=lambda page: (-page.now.ai, page.path))

    @property
    def pages_rarely_read_by_ai(self) -> list[Page]:
        """Pages with at most half of the site's share of AI agents, beyond chance; most people first."""
        few = (page for page in self.pages if self._is_rare(page.now.ai, page, self.site.ai))
        return sorted(few, key=lambda page: (-page.now.human, page.path))

    def _is_rare(self, count: int, page: Page, of_site: int) -> bool:
        usual = page.now.total * of_site / self.site.total if self.site.total else 0.0
        return usual > 0 and 2 * count <= usual and is_beyond_chance(count, usual)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reviewed job that was asked for at a recommendation."""

    job: TrackedJob
    change: str = ""
    """How the readers' unmet needs changed since it was asked for; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of a weekly digest."""

    report: Report
    to_review: ToReview
    recommendations: Sequence[Recommendation] = ()
    asked: Mapping[str, tuple[TrackedJob, str | None]] | None = None
    """The jobs that were asked for at the recommendations, by key, with the links to them."""
    more: int = 0
    """Number of further recommendations."""
    outcomes: Sequence[Outcome] = ()
    gap_snapshots: Sequence[Snapshot] = ()
    """The snapshots of content gaps, read or not."""
    next_at: datetime | None = None
    """The local time of the next digest; None if this one was requested once."""


def build_report(
    numbers: Numbers, pages: Mapping[SnapshotId, Mapping[str, Counts]], zone: ZoneInfo, budget: Budget
) -> Report:
    """Build the report on a period. Raises LookupError if it has not been read.

    Args:
        numbers: the snapshots of the question.
        pages: the counts of pages by snapshot and path.
        zone: the zone of the service's days.
        budget: the hourly budget of calls.
    """
    query = numbers.query
    now, was = numbers.visitors(query.period), numbers.visitors(query.compared)
    if now is None or now.totals is None or now.taken_at is None:
        raise LookupError("a period that was not read")
    not_compared = explain_no_comparison(numbers, now, was, zone) if query.compared else ""
    was = None if not_compared else was
    counts, before = pages.get(now.id, {}), pages.get(was.id, {}) if was else {}
    missing = NO_VISITORS if was and was.complete else None
    rows = [Page(path, count, before.get(path, missing)) for path, count in _in_section(query, counts)]
    rows.sort(key=lambda page: (-getattr(page.now, query.sort), page.path))
    earlier = _in_section(query, before) if now.complete else ()
    return Report(
        query=query,
        now=now,
        site=now.totals,
        pages=rows,
        chart=numbers.chart,
        budget=budget,
        zone=zone.key,
        is_open=not query.period.is_over(now.taken_at, zone),
        was=was,
        not_compared=not_compared,
        gone=[Page(path, NO_VISITORS, count) for path, count in earlier if path not in counts],
    )


def _in_section(query: Query, pages: Mapping[str, Counts]) -> Iterable[tuple[str, Counts]]:
    return ((path, counts) for path, counts in pages.items() if in_section(path, query.section))


def explain_no_comparison(numbers: Numbers, now: Snapshot, was: Snapshot | None, zone: ZoneInfo) -> str:
    """Return why a period is not compared, as the end of a sentence; "" if it is."""
    period, compared = numbers.query.period, numbers.query.compared
    if compared is None or was is None or was.totals is None or was.taken_at is None or now.taken_at is None:
        return "it couldn't be read"
    if not was.totals.total:
        return "no visits for it"
    week = min(period, compared).lead_week()
    lead = numbers.visitors(week)
    if lead is None or lead.totals is None or not lead.totals.total:
        return f"no visits known for {week}, so the data may begin later"
    if not (period.is_over(now.taken_at, zone) and compared.is_over(was.taken_at, zone)):
        return f"they weren't both over; it had {was.totals.total:,} visitors"
    if period.days != compared.days:
        return f"it has {compared.days} days and not {period.days}, and had {was.totals.total:,} visitors"
    return ""


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
