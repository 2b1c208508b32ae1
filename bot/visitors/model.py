"""Counts, readings, questions and subscriptions. Unique visitors are approximate and never added up."""

from __future__ import annotations

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
    ReadingId,
    Recommendation,
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


# ---- readings


@dataclass(frozen=True, slots=True)
class Reading:
    """The numbers or rows of a period: one value, which is stored when reading ends.

    It is a part if the calls were used up or the service failed; then it is read on from ``next_offset``.
    """

    project: ProjectId
    source: Source
    period: Period
    began_at: datetime
    is_final: bool
    """Whether the period was settled then, so that its numbers stay."""
    id: ReadingId | None = None
    totals: Counts | None = None
    pages: Mapping[str, Counts] | None = None
    """None if only the totals were asked for."""
    complete: bool = False
    """Whether all pages were read, so that a page without counts had no visitors."""
    next_offset: int = 0
    gap_rows: GapRows | None = None
    """None for visitors."""
    taken_at: datetime | None = None
    attempts: int = 0
    """Failures in a row."""
    problem: str | None = None
    """The reason why it is not whole, if it will not be soon."""
    tried_at: datetime | None = None
    """The time of the last failure."""
    retry_at: datetime | None = None

    @property
    def rows(self) -> int:
        return len(self.pages or ())

    @property
    def is_read(self) -> bool:
        """Whether it has numbers or rows, perhaps not all of them."""
        return self.totals is not None or self.gap_rows is not None

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing more to read."""
        if self.pages is None:
            return self.is_read
        return self.complete or self.problem == ReadingProblem.ENDLESS

    def is_awaited(self, *, to_the_end: bool) -> bool:
        """Return whether it may still be read. Numbers are also awaited ``to_the_end``, after a problem."""
        is_retried = to_the_end and self.source is Source.VISITORS
        return not self.is_whole and (self.problem is None or is_retried)


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
    now: Reading
    site: Counts
    """Totals of the whole site."""
    pages: Sequence[Page]
    """Pages of the section in their order."""
    chart: Sequence[tuple[Period, Counts]]
    budget: Budget
    zone: str
    is_open: bool = False
    """Whether the period was not over when it was read."""
    was: Reading | None = None
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
    gap_readings: Sequence[Reading] = ()
    """Those of content gaps, read or not."""
    next_at: datetime | None = None
    """The local time of the next digest; None if this one was requested once."""


def build_report(numbers: Numbers, zone: ZoneInfo, budget: Budget) -> Report:
    """Build the report on a period, with days in a zone. Raises LookupError if it has not been read."""
    query = numbers.query
    now, was = numbers.visitors(query.period), numbers.visitors(query.compared)
    if now is None or now.totals is None or now.taken_at is None:
        raise LookupError("a period that was not read")
    not_compared = explain_no_comparison(numbers, now, was, zone) if query.compared else ""
    was = None if not_compared else was
    counts, before = now.pages or {}, (was.pages or {}) if was else {}
    missing = NO_VISITORS if was and was.complete else None
    rows = [
        Page(path, count, before.get(path, missing)) for path, count in _in_section(query, counts)
    ]
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


def explain_no_comparison(
    numbers: Numbers, now: Reading, was: Reading | None, zone: ZoneInfo
) -> str:
    """Return why a period is not compared, as the end of a sentence; "" if it is."""
    period, compared = numbers.query.period, numbers.query.compared
    if (
        compared is None
        or was is None
        or was.totals is None
        or was.taken_at is None
        or now.taken_at is None
    ):
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
