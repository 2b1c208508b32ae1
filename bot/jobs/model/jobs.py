"""Tracked jobs: their data and their states."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, TypedDict

from bot.ids import ChannelId, JobNumber, MessageTs, ProjectId, ServiceJobId, UserId
from bot.jobs.model.pull_request import PullRequestSnapshot
from bot.ports import ThreadRef

_COMMON_BRANCHES = frozenset({"main", "master", "trunk", "gh-pages", "head"})


class AttachThread(StrEnum):
    """When the thread's earlier messages are attached to a prompt."""

    IF_PUBLIC = "if_public"
    """In public channels."""
    GIVEN = "given"
    """As the person left them in a form."""
    ANSWER = "answer"
    """As the person left a question, its answer and the replies of colleagues in a form."""


class NotAttached(StrEnum):
    """Why no earlier message was attached, although some could have been."""

    UNREAD = "unread"
    """Slack did not return the thread."""


class OmitReason(StrEnum):
    """Why an earlier message was not attached."""

    OTHERS = "others"
    """It is by a guest, a user of another organisation, or a bot."""
    UNTOLD = "untold"
    """Slack did not return its author in time."""
    ASIDE = "aside"
    WORDLESS = "wordless"
    TALK = "talk"
    """It is thanks or talk under an answer, and says nothing about the question."""
    OLDER = "older"
    """Newer messages fill the available room."""


class ThreadContext(NamedTuple):
    """The numbers of attached and of omitted earlier messages of a job's newest prompt."""

    attached: int = 0
    omitted: int = 0
    not_attached: NotAttached | None = None


class WaitReason(StrEnum):
    """Why a prompt waits."""

    HELD = "held"
    """Its author may still add to it or change it."""
    LIMIT = "limit"
    """The shared hourly limit is used up, or the person's share of it."""
    SERVICE = "service"
    """The docs service cannot be reached, or answers with errors only."""
    KEY = "key"
    """The docs service refuses the bot's key."""
    SWITCHED_OFF = "switched_off"
    """An admin has switched off all sending to the agent."""
    PERSON = "person"
    """Somebody has to decide about an unconfirmed prompt.

    Not stored: it follows from the states.
    """


class Waiting(StrEnum):
    """The kind of work that waits."""

    PROMPT = "prompt"
    POLL = "poll"
    MESSAGE = "message"
    """A delivery with a notification; not an edit or a reaction."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Work that waits."""

    kind: Waiting
    reason: WaitReason | None
    """None if it waits for its time, for earlier work, or for a free worker."""
    since: datetime
    """The time of the request; of a poll, its due time."""
    until: datetime | None = None
    """None if the time is unknown or has passed."""
    job: JobNumber | None = None
    stuck_since: datetime | None = None
    """The time from which a worker could claim it, or has held it; None if no worker can."""


class Review(StrEnum):
    """The outcome of a pull request's review."""

    REVIEWED = "reviewed"
    """Somebody has marked it as reviewed."""
    MERGED = "merged"
    """Merged, as a poll showed."""
    CLOSED = "closed"
    """Closed without being merged, as a poll showed."""


class JobState(StrEnum):
    """State of a tracked job, as stored and as logged.

    ``bot.jobs.model.lifecycle`` defines the legal steps; docs/lifecycle.md shows them in a diagram.
    """

    WAITING = "waiting"
    """Requested; not yet sent to the docs service."""
    WORKING = "working"
    """The service has accepted a prompt and has not reported an end."""
    PULL_REQUEST = "pull_request"
    """Completed, with a pull request of this iteration or of an earlier one."""
    NO_PULL_REQUEST = "no_pull_request"
    """Completed, and there is no pull request. The change may be live where none is made."""
    FAILED = "failed"
    ARCHIVED = "archived"
    GONE = "gone"
    """The service no longer knows the job (404)."""
    REFUSED = "refused"
    """Never started: refused by the service, by Slack or by the access rules."""
    UNCONFIRMED = "unconfirmed"
    """The prompt was sent and the answer was lost, so the job may or may not have started."""
    WITHDRAWN = "withdrawn"
    """Withdrawn by a person before it started, or dismissed while it was unconfirmed."""
    UNWATCHED = "unwatched"
    """Still running after seven days; no longer polled."""

    @classmethod
    def open_states(cls) -> tuple[JobState, ...]:
        """Return the states of jobs that have no end yet."""
        return (cls.WAITING, cls.WORKING, cls.UNCONFIRMED)

    @property
    def is_open(self) -> bool:
        """Whether the bot will report more about the job by itself."""
        return self in (JobState.WAITING, JobState.WORKING)

    @property
    def takes_follow_ups(self) -> bool:
        """Whether the service accepts a follow-up for the job."""
        return self in _FOLLOWABLE_STATES


class JobProblem(StrEnum):
    """Why a job never started, as a code."""

    REJECTED = "rejected"
    """The docs service did not accept the prompt."""
    KEY_REFUSED = "key_refused"
    KEY_FORBIDDEN = "key_forbidden"
    PROJECT_UNKNOWN = "project_unknown"
    NOT_SERVED = "not_served"
    """The bot no longer serves the project."""
    JOB_UNKNOWN = "job_unknown"
    NOT_STARTED = "not_started"
    """A follow-up for a job that never started."""
    SLACK_REFUSED = "slack_refused"
    """Slack did not let the bot post."""
    NOT_ALLOWED = "not_allowed"
    """Its author may no longer use the bot. They read why in private."""
    # The others are stored with who did it: ``dismissed:U0ANA``.
    DISMISSED = "dismissed"
    """The first prompt was unconfirmed and somebody dismissed it."""
    WITHDRAWN = "withdrawn"
    """Somebody pressed *Withdraw*."""
    DELETED = "deleted"
    """The message that asked for it was deleted.

    Slack does not name the deleter; stored with the asker.
    """
    EDITED = "edited"
    """The message that asked for it was edited and is no longer a request."""


class Listed(StrEnum):
    """Which jobs people list."""

    OPEN = "open"
    """Jobs without an end, and jobs with a pull request to review."""
    REVIEW = "review"
    """Jobs with a pull request to review."""
    NEEDS_YOU = "needs"
    """Jobs that wait for a decision of the reader, their requester."""


class NextStep(StrEnum):
    """The next step of a job. Lists have one group for each, in this order."""

    NEEDS_YOU = "needs_you"
    """The job failed or is unconfirmed, and the reader is its requester."""
    NEEDS_REQUESTER = "needs_requester"
    """The job failed or is unconfirmed, and somebody else is its requester."""
    TO_REVIEW = "to_review"
    WORKING = "working"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class JobScope:
    """The jobs of a list. The reader is known to be allowed to see them."""

    reader: UserId
    channel: ChannelId | None = None
    """Only the jobs of this channel."""
    is_mine: bool = False
    """Only the jobs that the reader asked for."""
    readable: tuple[ChannelId, ...] | None = None
    """The jobs of these channels, and jobs with a prompt of the reader's."""
    listed: Listed | None = None


class JobFilter(TypedDict, total=False):
    """The values by which an operator filters the list of jobs; None matches all."""

    state: JobState | None
    channel: ChannelId | None
    requester: UserId | None
    project: ProjectId | None


NEEDS_DECISION = (JobState.UNCONFIRMED, JobState.FAILED, JobState.GONE, JobState.UNWATCHED)
"""The states in which a person decides how a job goes on."""
_FAILED_STATES = frozenset(
    {JobState.FAILED, JobState.ARCHIVED, JobState.GONE, JobState.REFUSED, JobState.WITHDRAWN}
)
_FOLLOWABLE_STATES = frozenset(
    {
        JobState.WORKING,
        JobState.PULL_REQUEST,
        JobState.NO_PULL_REQUEST,
        JobState.FAILED,
        JobState.GONE,
        JobState.UNWATCHED,
    }
)


@dataclass(frozen=True, slots=True)
class GapRef:
    """A row of the content gaps: its key in the answer, and its title for people."""

    key: str
    title: str


@dataclass(frozen=True, slots=True)
class TrackedJob:
    """One stored job. ``state`` and ``ended_at`` belong to the current iteration."""

    number: JobNumber
    project: ProjectId
    channel: ChannelId
    requester: UserId
    text: str
    asked_at: datetime
    state: JobState = JobState.WAITING
    status_ts: MessageTs | None = None
    """The message that is the job's status message; None until it is posted."""
    thread_ts: MessageTs | None = None
    """The thread in which the status message is a reply; None if it begins its thread.

    If that thread is deleted, the bot's next reply begins another one, which comes after the status
    message.
    """
    service_id: ServiceJobId | None = None
    iteration: int = 0
    """The number of prompts that the service has accepted.

    The end of each iteration is reported once.
    """
    result_number: int = 0
    """The number of results that people see: iterations without an end between them are one."""
    iteration_requester: UserId | None = None
    iteration_started_at: datetime | None = None
    has_been_active: bool = False
    """Whether the service has reported *active* in this iteration.

    So *completed* is not stale.
    """
    unconfirmed_until: datetime | None = None
    """The time until which polls check whether an unconfirmed follow-up was accepted."""
    pr_link: str | None = None
    repository: str | None = None
    ref: str | None = None
    model: str | None = None
    service_created_at: datetime | None = None
    service_archived_at: datetime | None = None
    poll_at: datetime | None = None
    not_found_count: int = 0
    """The number of 404 answers in a row."""
    not_found_since: datetime | None = None
    """The time of the first of these answers; None for none."""
    poll_failing_since: datetime | None = None
    """The time since which polls of the job fail; None when the last one was answered."""
    ended_at: datetime | None = None
    long_run_notice_at: datetime | None = None
    is_slow: bool = False
    """Whether the iteration takes longer than the project's jobs usually do."""
    problem: str | None = None
    wait_until: datetime | None = None
    """The earliest time at which a waiting prompt is sent."""
    wait_reason: WaitReason | None = None
    """Why a prompt waits."""
    uses_left: int | None = None
    """Uses left in the hour when the iteration began; None unless few were left."""
    other_recipients: tuple[UserId, ...] = ()
    """People who wait for the iteration's end besides ``recipient``."""
    thread_context: ThreadContext | None = None
    """The earlier messages attached to the newest prompt that could have some."""
    rerun_of: JobNumber | None = None
    """The job whose prompt it runs again."""
    predecessor: JobNumber | None = None
    """The merged job in whose thread it was asked for, whose pull request its prompt names."""
    review: Review | None = None
    """The outcome of the pull request."""
    reviewed_by: UserId | None = None
    reviewed_at: datetime | None = None
    remind_at: datetime | None = None
    """The earliest time of a reminder of the pull request in the thread; None for never again."""
    project_label: str | None = None
    """The project's name for people; None where only one was served at the time."""
    gap: GapRef | None = None
    """The row of the content gaps at which it was asked for."""
    is_mention_only: bool = False
    """Whether its channel has chosen that only replies which mention the bot steer jobs."""
    among_people: bool = False
    """Whether people had begun its thread before the bot was mentioned there."""
    pull_request: PullRequestSnapshot | None = None
    """Its state at the last poll; None where the bot cannot poll it, or has not yet."""

    @property
    def is_forgotten(self) -> bool:
        """Whether the job's texts and people were erased. Such a job takes no follow-ups."""
        return not self.requester

    @property
    def thread(self) -> ThreadRef | None:
        """The job's thread; None until its status message is posted."""
        ts = self.thread_ts or self.status_ts
        return ThreadRef(self.channel, ts) if ts else None

    @property
    def needs_mention(self) -> bool:
        """Whether only replies that mention the bot steer the job."""
        return self.is_mention_only or self.among_people

    @property
    def time_taken(self) -> timedelta | None:
        """Duration of the current iteration; None until it has ended."""
        if self.ended_at is None or self.iteration_started_at is None:
            return None
        return self.ended_at - self.iteration_started_at

    @property
    def recipient(self) -> UserId:
        """The user to notify of the iteration's end: its prompt's sender, else the requester."""
        return self.iteration_requester or self.requester

    @property
    def recipients(self) -> tuple[UserId, ...]:
        """Everybody to notify of the iteration's end, each once, ``recipient`` first."""
        return tuple(dict.fromkeys((self.recipient, *self.other_recipients)))

    @property
    def branch(self) -> str | None:
        """The agent's own branch, of which a preview may be asked for; None if unknown.

        The deployment branch has a preview of its own: the site itself.
        """
        branch = self.ref or ""
        if self.pull_request is not None and self.pull_request.branch:
            branch = self.pull_request.branch
        name = branch.strip().removeprefix("refs/heads/")
        return name if name and name.lower() not in _COMMON_BRANCHES else None

    @property
    def withdrawn(self) -> tuple[JobProblem, UserId] | None:
        """How a withdrawn or dismissed job was given up, and by whom; None if unknown."""
        code, _, user = (self.problem or "").partition(":")
        if not user or code not in set(JobProblem):
            return None
        return JobProblem(code), UserId(user)

    @property
    def can_run_again(self) -> bool:
        """Whether the job ended without a result, so that *Run again* is the way on."""
        return self.state in _FAILED_STATES

    @property
    def sees_pull_request(self) -> bool:
        """Whether the bot polls the pull request and so learns its outcome."""
        return self.pull_request is not None and self.pull_request.as_of is None

    @property
    def is_merged(self) -> bool:
        """Whether its pull request was merged."""
        if self.state is not JobState.PULL_REQUEST or self.pull_request is None:
            return False
        return self.pull_request.is_merged

    @property
    def awaits_review(self) -> bool:
        """Whether the pull request has no reported outcome yet."""
        return self.state is JobState.PULL_REQUEST and self.review is None


@dataclass(frozen=True, slots=True)
class ToReview:
    """The first jobs of a channel whose pull requests wait for review, oldest first."""

    jobs: tuple[TrackedJob, ...]
    at: datetime
    """The time up to which they have waited."""
    more: int = 0
    """Number of further such jobs."""
