"""The docs service's records: jobs with their messages, and the uses of its limits."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel

from sandbox.docs_service.wire import RefusedError
from sandbox.shelf import Shelf

_HOUR_SECONDS = 3600


class Status(StrEnum):
    """The status of a job."""

    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    ARCHIVED = "archived"


class Outcome(StrEnum):
    """How the work on one message ended."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    ARCHIVED = "archived"


@dataclass(frozen=True)
class WorkDone:
    """The result of the agent's work on one message; `output` and `link` come from programs only."""

    outcome: Outcome
    summary: str
    title: str | None = None
    page: str | None = None
    base_sha: str | None = None
    commit_sha: str | None = None
    output: str = ""
    link: str | None = None


class JobMessage(BaseModel):
    """A prompt to the agent: the first of a job, or a follow-up. `done` is None until its work ends."""

    number: int
    prompt: str
    sent_at: datetime
    due_at: datetime
    done: WorkDone | None = None


class PullEnd(BaseModel):
    """The end of a pull request: its last commit, and who merged it; None if it was closed."""

    at: datetime
    head_sha: str
    merged_by: str | None = None


class Job(BaseModel):
    """A job with all its messages, oldest first."""

    id: str
    project: str | None = None
    """Its project; None for a job of before, when a service had one alone."""
    created_at: datetime
    archived_at: datetime | None = None
    branch: str
    base_sha: str | None = None
    pull_number: int | None = None
    pull_end: PullEnd | None = None
    title: str | None = None
    page: str | None = None
    messages: list[JobMessage] = []

    @property
    def link(self) -> str | None:
        """Return the newest address that the publishing command printed, or None."""
        links = [
            message.done.link for message in self.messages if message.done and message.done.link
        ]
        return links[-1] if links else None

    @property
    def unfinished(self) -> list[JobMessage]:
        """Return the messages that will still be worked on."""
        return (
            []
            if self.archived_at
            else [message for message in self.messages if message.done is None]
        )

    @property
    def status(self) -> Status:
        """Return the status: archived for good, active with an unfinished message, else as the last ended."""
        if self.archived_at:
            return Status.ARCHIVED
        return Status.ACTIVE if self.unfinished else self.last_end

    @property
    def last_end(self) -> Status:
        """Return the status after the last message that ended; active if none has."""
        done = [message.done for message in self.messages if message.done]
        if not done:
            return Status.ACTIVE
        return Status.FAILED if done[-1].outcome is Outcome.FAILED else Status.COMPLETED


def new_job_id() -> str:
    """Return a new id of a job."""
    return f"job_{secrets.token_hex(8)}"


class Jobs:
    """All jobs, oldest first; each change is on the shelf before the method returns."""

    def __init__(self, shelf: Shelf, new_id: Callable[[], str] = new_job_id) -> None:
        self._shelf = shelf
        self._new_id = new_id
        self._next_due: list[datetime] | None = None
        """The time at which the next message is due, if one is; None after a change."""
        self._jobs = {job.id: job for job in map(Job.model_validate, shelf.all("job"))}

    def _save(self, job: Job) -> None:
        self._jobs[job.id] = job
        self._next_due = None
        self._shelf.put("job", job.id, job.model_dump(mode="json"))

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs.values())

    def find(self, job_id: str) -> Job | None:
        """Return the job with this id, or None."""
        return self._jobs.get(job_id)

    def create(
        self,
        prompt: str,
        now: datetime,
        work_seconds: float,
        branch: Callable[[str], str],
        project: str | None = None,
    ) -> Job:
        """Create a job with its first message, due after `work_seconds`; `branch(id)` names its branch."""
        job_id = self._new_id()
        job = Job(id=job_id, project=project, created_at=now, branch=branch(job_id))
        self.follow_up(job, prompt, now, work_seconds)
        return job

    def follow_up(self, job: Job, prompt: str, now: datetime, work_seconds: float) -> None:
        """Add a message to the job; the agent works on messages in order."""
        begins_at = max([now, *(message.due_at for message in job.unfinished)])
        due_at = begins_at + timedelta(seconds=work_seconds)
        number = len(job.messages) + 1
        job.messages.append(JobMessage(number=number, prompt=prompt, sent_at=now, due_at=due_at))
        self._save(job)

    def archive(self, job: Job, now: datetime) -> None:
        """Archive the job; its unfinished messages are never worked on."""
        job.archived_at = job.archived_at or now
        self._save(job)

    def end_pull(self, job: Job, end: PullEnd) -> None:
        """End the job's pull request, unless it has ended."""
        job.pull_end = job.pull_end or end
        self._save(job)

    def unfinished(self) -> list[tuple[Job, JobMessage]]:
        """Return the messages that will still be worked on, the one that is due first before all others."""
        unfinished = [(job, message) for job in self for message in job.unfinished]
        return sorted(unfinished, key=lambda one: (one[1].due_at, one[0].id, one[1].number))

    def next_due_at(self) -> datetime | None:
        """Return when the next message is due, or None. It looks at all jobs only after a change."""
        if self._next_due is None:
            self._next_due = [message.due_at for _, message in self.unfinished()[:1]]
        return next(iter(self._next_due), None)

    def end_message(self, job: Job, message: JobMessage, done: WorkDone, now: datetime) -> None:
        """Store the outcome of the message; the first commit opens the pull request."""
        message.done = done
        if done.commit_sha is not None:
            job.title, job.page = job.title or done.title, done.page
            job.base_sha = job.base_sha or done.base_sha
            job.pull_number = (
                job.pull_number or max((one.pull_number or 0 for one in self), default=0) + 1
            )
        if done.outcome is Outcome.ARCHIVED:
            job.archived_at = job.archived_at or now
        self._save(job)


class Limits:
    """Counts the uses of limits; each use counts for a period."""

    def __init__(self, shelf: Shelf, clock: Callable[[], datetime]) -> None:
        self._shelf = shelf
        self._clock = clock
        self._uses: dict[str, list[float]] = {
            row["name"]: row["used_at"] for row in shelf.all("uses")
        }

    def take(self, name: str, limit: int, period_seconds: int = _HOUR_SECONDS) -> None:
        """Count a use. Raise `RefusedError` 429, with the seconds until one is free, if there is none."""
        now = self._clock().timestamp()
        used = [at for at in self._uses.get(name, []) if at > now - period_seconds]
        if len(used) >= limit:
            wait_seconds = max(1, math.ceil(used[len(used) - limit] + period_seconds - now))
            text = f"limit of {limit} in {period_seconds // 60} minutes is reached"
            raise RefusedError(429, text, {"Retry-After": str(wait_seconds)})
        self._uses[name] = [*used, now]
        self._shelf.put("uses", name, {"name": name, "used_at": self._uses[name]})
