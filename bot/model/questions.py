"""Questions about visitors: a person's, and a digest's with its weekly time; snapshots and reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import IntEnum, StrEnum
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from bot.ids import ChannelId, MessageTs, ProjectId, QuestionId, Reviewer, SnapshotId, SubscriptionId, UserId
from bot.model.jobs import JobState, TrackedJob
from bot.model.misses import Source, Topic, Words
from bot.model.visitors import Budget, Counts, PageCounts, Period, Snapshot, SortBy
from bot.model.worth import Worth

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

    ``topic``: what it is about instead, compared with nothing. ``top``: how many of its rows to name then.
    ``label``: how people read the project; None where only one is served.
    """

    period: Period
    compared: Period | None
    section: str | None = None
    top: int = DEFAULT_TOP
    sort: SortBy = SortBy.TOTAL
    file_to: FileTo = FileTo.NOWHERE
    label: str | None = None
    topic: Topic = Topic.VISITORS


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

    ``now``, ``was``, ``older`` and ``chart`` are the snapshots that the answer is built from: the period, the
    period before, a week that shows whether both lie after the data's beginning (``Period.lead``; None if
    that is known or nothing is compared), and the points of the chart. The answer can be built again from
    them. ``user`` is empty for the digest of a ``subscription``.
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
    older: SnapshotId | None
    chart: tuple[SnapshotId, ...]
    """Empty if the answer has no chart."""
    missed: tuple[SnapshotId, ...] = ()
    """What readers missed, for a digest."""
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
        return (self.now, *(each for each in (self.older, self.was) if each), *self.chart, *self.missed)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The snapshots of a question as they are stored, and what is left of the hourly budget."""

    now: Snapshot
    was: Snapshot | None
    older: Snapshot | None
    chart: tuple[Snapshot, ...]
    budget: Budget
    missed: tuple[Snapshot, ...] = ()

    @property
    def windows(self) -> tuple[Snapshot, ...]:
        """Return the snapshots without those of the chart, in the order in which they are read."""
        return (self.now, *(each for each in (self.older, self.was) if each))


class Weekday(IntEnum):
    """Days of the week, numbered as ``date.weekday`` does."""

    MONDAY = 0
    TUESDAY = 1
    WEDNESDAY = 2
    THURSDAY = 3
    FRIDAY = 4
    SATURDAY = 5
    SUNDAY = 6


def is_zone(name: str) -> bool:
    """Return whether this machine knows a time zone. Machines differ: zones are added and renamed."""
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class WeeklyTime:
    """A local time that occurs exactly once a week.

    If a clock change skips the time, it moves forward by the length of the jump. If the time occurs twice,
    the first one counts. Raises ValueError for a zone that this machine does not know.
    """

    weekday: Weekday
    at: time
    zone: str

    def __post_init__(self) -> None:
        if not is_zone(self.zone):
            raise ValueError("no time zone of this machine")

    def next_after(self, moment: datetime) -> datetime:
        """Return the first occurrence after a moment, in UTC."""
        zone = ZoneInfo(self.zone)
        day = moment.astimezone(zone).date()
        day += timedelta(days=(self.weekday - day.weekday()) % 7)
        # Also try the week before: a skipped time may move to the next day.
        for candidate in (day - timedelta(days=7), day, day + timedelta(days=7), day + timedelta(days=14)):
            if (instant := self._on(candidate, zone)) > moment:
                return instant
        raise AssertionError("two weeks always hold a weekly time")

    def next_few(self, moment: datetime, count: int) -> tuple[datetime, ...]:
        """Return the next ``count`` occurrences, in UTC."""
        found: list[datetime] = []
        for _ in range(count):
            moment = self.next_after(moment)
            found.append(moment)
        return tuple(found)

    def _on(self, day: date, zone: ZoneInfo) -> datetime:
        # In a gap, fold=0 uses the offset before the change, which moves the time forward by the jump.
        # In a repeated hour, it selects the first occurrence. https://peps.python.org/pep-0495/
        return datetime.combine(day, self.at, zone).replace(fold=0).astimezone(UTC)


class SubscriptionState(StrEnum):
    """``new → proving → active``.

    ``paused`` after Slack refused a post for good; ``ended`` by a person.
    """

    NEW = "new"
    """Stored. If no time zone was named, the requester's zone is still to be looked up."""
    PROVING = "proving"
    """The first post is being sent. It proves that the bot can post in the channel."""
    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A weekly digest for a channel, about the whole site or one section.

    ``has_zone`` is false while the requester's time zone is unknown; ``weekly`` is in UTC until then.
    ``section`` is None for the whole site.
    """

    id: SubscriptionId
    project: ProjectId
    channel: ChannelId
    section: str | None
    weekly: WeeklyTime
    owner: UserId
    state: SubscriptionState
    revision: int
    next_run_at: datetime | None
    last_result: str | None = None
    last_run_at: datetime | None = None
    has_zone: bool = True
    response_url: SecretStr | None = None


@dataclass(frozen=True, slots=True)
class Movements:
    """Pages whose readership changed between two periods, and pages with an unusual share of AI agents."""

    risen: tuple[PageCounts, ...] = ()
    fallen: tuple[PageCounts, ...] = ()
    appeared: tuple[PageCounts, ...] = ()
    vanished: tuple[PageCounts, ...] = ()
    """With their counts in the earlier period."""
    hardly_people: tuple[PageCounts, ...] = ()
    hardly_ai: tuple[PageCounts, ...] = ()


class Comparison(StrEnum):
    """Whether a period is compared with another, or why it is not."""

    FAIR = "fair"
    """They are equally long, both were over, and the service's data begins before them."""
    NONE = "none"
    """No other is wanted, or it was not read."""
    LENGTHS = "lengths"
    """One has more days, so their totals stand side by side."""
    OPEN = "open"
    """One was not over when it was read, so their totals stand side by side."""
    EMPTY = "empty"
    """The other has no visits."""
    BEGINS_LATE = "begins_late"
    """No visits are known for the week that leads to the earlier one."""


@dataclass(frozen=True, slots=True)
class Report:
    """A period compared with another, and its pages.

    ``site`` and ``before`` are the totals of both periods. ``pages`` is the number of pages in the section.
    ``chart`` has the unique visitors of each part of the period, which do not add up. ``is_open``: the
    period was not over when its numbers were taken. Unless the comparison is fair, no page has earlier
    counts. ``no_chart``: the reason why there is no chart, if there is one to tell. ``empty``: the first
    parts of the period, without visits, where the service's data may begin later.
    """

    query: VisitorsQuery
    now: Snapshot
    was: Snapshot | None
    site: Counts
    before: Counts | None
    pages: int
    top: tuple[PageCounts, ...]
    movements: Movements
    chart: tuple[tuple[Period, Counts], ...]
    no_chart: str | None
    budget: Budget
    zone: str
    is_open: bool
    comparison: Comparison
    taken_at: datetime
    empty: Period | None = None

    @property
    def is_fair(self) -> bool:
        """Whether changes are told."""
        return self.comparison is Comparison.FAIR


@dataclass(frozen=True, slots=True)
class ToReview:
    """The first jobs of a channel whose pull requests waited for review ``at`` a time, oldest first.

    ``more``: how many such jobs come after them. ``reviewers``: whom the channel chose to review them.
    """

    jobs: tuple[TrackedJob, ...]
    at: datetime
    more: int = 0
    reviewers: tuple[Reviewer, ...] = ()


@dataclass(frozen=True, slots=True)
class MissesReport:
    """What readers missed in a period: the snapshots that were wanted, read or not."""

    query: VisitorsQuery
    windows: tuple[Snapshot, ...]
    is_open: bool
    read_at: datetime

    def words(self, source: Source) -> Words | None:
        """Return what was read from a source; None for nothing."""
        return next((each.words for each in self.windows if each.source is source), None)


@dataclass(frozen=True, slots=True)
class WorkDone:
    """The jobs requested in a week, counted by their current state.

    ``to_review``: those of the digest's project and channel whose pull requests wait for review.
    """

    asked: int
    by_state: dict[JobState, int]
    median_time: timedelta | None
    to_review: ToReview | None = None


class SuggestionReason(StrEnum):
    """Why the digest suggests improving a page."""

    FALLING = "falling"
    ONLY_AI = "only_ai"
    MOST_READ = "most_read"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A page that the digest suggests improving."""

    page: PageCounts
    why: SuggestionReason


@dataclass(frozen=True, slots=True)
class WeeklyReport:
    """The content of a weekly digest.

    ``worth``: what to do this week. ``asked``: the jobs of the channel that were asked for with a button of
    such a row since the week began. ``missed``: what readers missed in the week, as far as it was read.
    ``curve``: the last eight weeks, oldest first, with None for a week that has not been read.
    ``suggestion``: None if no page qualifies. ``subscription``: None if the digest was requested once.
    """

    report: Report
    curve: tuple[tuple[Period, Counts | None], ...]
    work: WorkDone
    suggestion: Suggestion | None
    subscription: Subscription | None
    worth: tuple[Worth, ...] = ()
    asked: tuple[TrackedJob, ...] = ()
    missed: tuple[Snapshot, ...] = ()
