"""Classify an answer of the docs service about a tracked job. Pure functions."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from bot.docs_api import Job, JobStatus
from bot.model import JobState, TrackedJob


class PollResult(StrEnum):
    """The meaning of an answer. Each end of an iteration has the value of its `JobState`."""

    RUNNING = "running"
    STALE = "stale"
    """The answer shows an end, but perhaps that of the previous iteration: poll again."""
    NOT_CARRIED_OUT = "not_carried_out"
    """An unconfirmed follow-up did not begin an iteration; there is nothing to tell."""
    PULL_REQUEST = JobState.PULL_REQUEST.value
    NO_CHANGE = JobState.NO_CHANGE.value
    FAILED = JobState.FAILED.value
    ARCHIVED = JobState.ARCHIVED.value


def classify(job: TrackedJob, answer: Job, now: datetime, stale_seconds: float) -> PollResult:
    """Return what an answer means for the job's current iteration.

    ``stale_seconds``: the grace period in which *completed* counts as stale, unless the iteration has been
    seen active.
    """
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
            # ``is_running`` covers these already. Listed so that a new status cannot become an end by chance.
            return PollResult.RUNNING
