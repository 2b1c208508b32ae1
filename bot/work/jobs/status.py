"""What an answer of the service means for a tracked job: a pure rule."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from bot.docs_api import Job, JobStatus
from bot.model import JobState, TrackedJob


class PollResult(StrEnum):
    """What to do with an answer; the ends carry the state they lead to."""

    RUNNING = "running"
    STALE = "stale"
    """Says an end, but perhaps that of the round before: look again."""
    NOT_CARRIED_OUT = "not_carried_out"
    """A follow-up in doubt never began; nothing more is to be told."""
    PULL_REQUEST = JobState.PULL_REQUEST.value
    NO_CHANGE = JobState.NO_CHANGE.value
    FAILED = JobState.FAILED.value
    ARCHIVED = JobState.ARCHIVED.value


def classify(job: TrackedJob, answer: Job, now: datetime, stale_seconds: float) -> PollResult:
    """Return what an answer means, given what the job's iteration has seen so far."""
    if answer.is_running:
        return PollResult.RUNNING
    if job.doubt_until is not None:
        return PollResult.STALE if now < job.doubt_until else PollResult.NOT_CARRIED_OUT
    if not job.saw_active and _age_seconds(job, now) < stale_seconds:
        return PollResult.STALE
    return _end(answer)


def _age_seconds(job: TrackedJob, now: datetime) -> float:
    return (now - (job.iteration_started_at or job.asked_at)).total_seconds()


def _end(answer: Job) -> PollResult:
    match answer.known_status:
        case JobStatus.COMPLETED:
            return PollResult.PULL_REQUEST if answer.pr_link else PollResult.NO_CHANGE
        case JobStatus.FAILED:
            return PollResult.FAILED
        case JobStatus.ARCHIVED:
            return PollResult.ARCHIVED
        case JobStatus.ACTIVE | None:
            # Counted as running above; said here so that a new status cannot become an end by chance.
            return PollResult.RUNNING
