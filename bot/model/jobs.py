"""A tracked job: what we know of one piece of the agent's work, and the states people see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, TypedDict

from bot.model.ids import ChannelId, JobNumber, MessageTs, ProjectId, ServiceJobId, UserId


class ThreadRef(NamedTuple):
    """A Slack thread: the channel and the root message's ts."""

    channel: ChannelId
    ts: MessageTs


class QueueWhy(StrEnum):
    """What a prompt waits for."""

    LIMIT = "limit"
    SERVICE = "service"
    """The docs service cannot be reached."""
    KEY = "key"
    """The docs service refuses the bot's key."""


class JobState(StrEnum):
    """Where a tracked job stands, in words that people, rows and logs share.

    ``bot.model.lifecycle`` has the steps from one to the next, and docs/jobs.md a diagram of them.
    """

    WAITING = "waiting"
    """Asked; the docs service has not been told yet."""
    WORKING = "working"
    """The service has accepted the prompt (or a follow-up) and has not said how it ended."""
    PULL_REQUEST = "pull_request"
    """Completed, with a pull request."""
    NO_CHANGE = "no_change"
    """Completed; no file changed."""
    FAILED = "failed"
    ARCHIVED = "archived"
    GONE = "gone"
    """The service does not know the job any more (404)."""
    REFUSED = "refused"
    """Never started: the service or Slack said no."""
    UNCONFIRMED = "in_doubt"
    """The prompt was sent and the answer lost: it may or may not have started."""
    WITHDRAWN = "withdrawn"
    """Taken back by a person before it started, or forgotten while in doubt."""
    UNWATCHED = "unwatched"
    """Still running after seven days; we stopped looking."""

    @property
    def is_open(self) -> bool:
        """Whether something more will be told without anybody asking."""
        return self in (JobState.WAITING, JobState.WORKING)

    @property
    def takes_follow_ups(self) -> bool:
        """Whether the service can be given a further instruction for it."""
        return self in _FOLLOWABLE


class JobProblem(StrEnum):
    """Why a job never started, as its row says it. Rows of older versions say it in a sentence."""

    REJECTED = "rejected"
    """The docs service did not accept the prompt."""
    KEY_REFUSED = "key_refused"
    KEY_FORBIDDEN = "key_forbidden"
    PROJECT_UNKNOWN = "project_unknown"
    JOB_UNKNOWN = "job_unknown"
    NOT_STARTED = "not_started"
    """A follow-up for a job that never started."""
    SLACK_REFUSED = "slack_refused"
    """Slack did not let the bot post."""
    NOT_ALLOWED = "not_allowed"
    """Whoever asked may not; with a colon and what they are (``Access``) behind it."""


class JobFields(TypedDict, total=False):
    """Columns of a job that change without a step of its lifecycle."""

    root_ts: MessageTs | None
    text: str
    saw_active: bool
    doubt_until: datetime | None
    told_running_at: datetime | None
    queue_until: datetime | None
    queue_position: int | None
    queue_why: QueueWhy | None
    poll_at: datetime | None
    misses: int


class JobStepFields(JobFields, total=False):
    """Columns of a job that change with a step of its lifecycle (``bot.model.lifecycle``)."""

    service_id: ServiceJobId
    iteration: int
    iteration_requester: UserId | None
    iteration_started_at: datetime | None
    pr_link: str | None
    repository: str | None
    ref: str | None
    ended_at: datetime | None
    problem: str | None
    uses_left: int | None


_FOLLOWABLE = frozenset(
    {
        JobState.WORKING,
        JobState.PULL_REQUEST,
        JobState.NO_CHANGE,
        JobState.FAILED,
        JobState.UNWATCHED,
    }
)


@dataclass(frozen=True, slots=True)
class TrackedJob:
    """Our row about one job.

    ``round`` counts the prompts the service has accepted (1 for the first); each round has one end
    that is told once. ``ended_at`` and ``state`` are those of the current round.
    ``saw_active``: the service has said *active* in this round, so that a *completed* is this round's.
    ``quiet_until``: a follow-up is in doubt; until then we look whether it was carried out after all.
    ``queue_until``: when the prompt goes out, while it waits for the shared limit or for the service;
    ``queue_position`` and ``queue_why`` say in which place, and for what (``QueueWhy``).
    ``uses_left``: how many uses of the hour were left when the round began, if few.
    """

    number: JobNumber
    project: ProjectId
    channel: ChannelId
    requester: UserId
    text: str
    asked_at: datetime
    state: JobState = JobState.WAITING
    root_ts: MessageTs | None = None
    service_id: ServiceJobId | None = None
    iteration: int = 0
    iteration_requester: UserId | None = None
    iteration_started_at: datetime | None = None
    saw_active: bool = False
    doubt_until: datetime | None = None
    pr_link: str | None = None
    repository: str | None = None
    ref: str | None = None
    ended_at: datetime | None = None
    told_running_at: datetime | None = None
    problem: str | None = None
    queue_until: datetime | None = None
    queue_position: int | None = None
    queue_why: QueueWhy | None = None
    uses_left: int | None = None

    @property
    def thread(self) -> ThreadRef | None:
        """The job's thread, once its root message stands."""
        return ThreadRef(self.channel, self.root_ts) if self.root_ts else None

    @property
    def time_taken(self) -> timedelta | None:
        """How long the current round took, when it has ended."""
        if self.ended_at is None or self.iteration_started_at is None:
            return None
        return self.ended_at - self.iteration_started_at

    @property
    def told(self) -> UserId:
        """Who is told the end of this round: who asked for it."""
        return self.iteration_requester or self.requester
