"""Every legal step of a job, a prompt and a delivery, as pure functions.

A step is what happened to a row: the state it leads to and the columns that change with it. Nothing else
writes a state. ``tx.jobs.apply``, ``tx.prompts.apply`` and ``tx.outbox.settle`` write a step and free the
row's lease. The diagram in docs/jobs.md shows the steps of a job; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.model.ids import MessageTs, ServiceJobId, UserId
from bot.model.jobs import JobState, JobStepFields, TrackedJob
from bot.model.outbox import DeliveryState, DeliveryStepFields
from bot.model.prompts import Prompt, PromptState, PromptStepFields

J, P = JobState, PromptState


class IllegalStep(Exception):
    """A row in this state cannot get into that one; whoever asked for it is mistaken."""


JOB_STEPS: Mapping[JobState, frozenset[JobState]] = {
    J.WAITING: frozenset({J.WORKING, J.REFUSED, J.UNCONFIRMED, J.WITHDRAWN}),
    J.UNCONFIRMED: frozenset({J.WAITING, J.WITHDRAWN}),
    J.WORKING: frozenset({J.WORKING, J.PULL_REQUEST, J.NO_CHANGE, J.FAILED, J.ARCHIVED, J.GONE, J.UNWATCHED}),
    J.PULL_REQUEST: frozenset({J.WORKING, J.GONE}),
    J.NO_CHANGE: frozenset({J.WORKING, J.GONE}),
    J.FAILED: frozenset({J.WORKING, J.GONE}),
    J.UNWATCHED: frozenset({J.WORKING, J.GONE}),
    # A follow-up may have been on its way when the job was archived or seemed lost.
    J.ARCHIVED: frozenset({J.WORKING, J.GONE}),
    J.GONE: frozenset({J.WORKING}),
    J.REFUSED: frozenset(),
    J.WITHDRAWN: frozenset(),
}
"""From each state of a job to those that may come next."""

PROMPT_STEPS: Mapping[PromptState, frozenset[PromptState]] = {
    P.NEW: frozenset({P.WAITING, P.REFUSED}),
    P.WAITING: frozenset({P.SENDING, P.WITHDRAWN, P.REFUSED}),
    P.SENDING: frozenset({P.SENT, P.WAITING, P.UNCONFIRMED, P.REFUSED}),
    P.UNCONFIRMED: frozenset({P.WAITING, P.WITHDRAWN}),
    P.SENT: frozenset(),
    P.REFUSED: frozenset(),
    P.WITHDRAWN: frozenset(),
}
"""From each state of a prompt to those that may come next."""

ENDS = frozenset({J.PULL_REQUEST, J.NO_CHANGE, J.FAILED, J.ARCHIVED, J.GONE})
"""The states in which an iteration ends."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the service works for a job, as far as it says."""

    repository: str | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class JobStep:
    """A step of a job. Made by the functions below only.

    ``leaves_queue``: nothing of the job waits any more, so its place in the queue is forgotten.
    """

    state: JobState
    fields: JobStepFields
    leaves_queue: bool = False


@dataclass(frozen=True, slots=True)
class PromptStep:
    """A step of a prompt; written only while the prompt is still in state ``was``."""

    was: PromptState
    state: PromptState
    fields: PromptStepFields


@dataclass(frozen=True, slots=True)
class DeliveryStep:
    """A step of a delivery that is being sent. ``lease_until``: looked for again when it has passed."""

    state: DeliveryState
    fields: DeliveryStepFields
    lease_until: datetime | None = None


def _job_step(
    job: TrackedJob, state: JobState, fields: JobStepFields, *, leaves_queue: bool = False
) -> JobStep:
    if state not in JOB_STEPS[job.state]:
        raise IllegalStep(f"job {job.number}: {job.state} to {state}")
    return JobStep(state, fields, leaves_queue)


def _prompt_step(prompt: Prompt, state: PromptState, fields: PromptStepFields) -> PromptStep:
    if state not in PROMPT_STEPS[prompt.state]:
        raise IllegalStep(f"prompt {prompt.id}: {prompt.state} to {state}")
    return PromptStep(prompt.state, state, fields)


def iteration_started(
    job: TrackedJob,
    requester: UserId,
    at: datetime,
    *,
    poll_at: datetime,
    saw_active: bool,
    source: Source,
    service_id: ServiceJobId | None = None,
    uses_left: int | None = None,
) -> JobStep:
    """The docs service accepted a prompt: the job's first one, or a follow-up.

    ``saw_active``: the service says that the agent is at work on this prompt. ``service_id`` is given for
    the first prompt. ``uses_left``: how many uses of the hour are left, when those are few.
    """
    fields: JobStepFields = {
        "iteration": job.iteration + 1,
        "iteration_requester": requester,
        "iteration_started_at": at,
        "saw_active": saw_active,
        "ended_at": None,
        "uses_left": uses_left,
        "doubt_until": None,
        "told_running_at": None,
        "misses": 0,
        "poll_at": poll_at,
        "repository": source.repository,
        "ref": source.ref,
    }
    if service_id is not None:
        fields["service_id"] = service_id
    return _job_step(job, J.WORKING, fields, leaves_queue=True)


def iteration_resumed(job: TrackedJob, requester: UserId | None, at: datetime, poll_at: datetime) -> JobStep:
    """An unconfirmed follow-up turns out to have been accepted: its iteration is under way."""
    fields: JobStepFields = {
        "iteration": job.iteration + 1,
        "iteration_requester": requester or job.iteration_requester,
        "iteration_started_at": at,
        "saw_active": True,
        "ended_at": None,
        "doubt_until": None,
        "misses": 0,
        "poll_at": poll_at,
    }
    return _job_step(job, J.WORKING, fields)


def iteration_ended(
    job: TrackedJob, end: JobState, at: datetime, *, pr_link: str | None, source: Source
) -> JobStep:
    """The docs service says that the iteration has ended."""
    if end not in ENDS:
        raise IllegalStep(f"job {job.number}: {end} is no end")
    fields = _over(at)
    fields["pr_link"], fields["repository"], fields["ref"] = pr_link, source.repository, source.ref
    return _job_step(job, end, fields)


def lost(job: TrackedJob, at: datetime) -> JobStep:
    """The docs service does not know the job any more."""
    return _job_step(job, J.GONE, _over(at))


def unwatched(job: TrackedJob, at: datetime) -> JobStep:
    """The job is still running after days; it is no longer polled."""
    return _job_step(job, J.UNWATCHED, _over(at))


def _over(at: datetime) -> JobStepFields:
    return {"ended_at": at, "poll_at": None, "doubt_until": None, "misses": 0}


def refused(job: TrackedJob, problem: str, at: datetime) -> JobStep:
    """The job never starts: the docs service or Slack said no, or its requester may not ask.

    ``problem`` is the code of why (``bot.model.Problem``).
    """
    return _job_step(job, J.REFUSED, {"problem": problem, "ended_at": at}, leaves_queue=True)


def withdrawn(job: TrackedJob, at: datetime) -> JobStep:
    """A person took the job back before it started, or dismissed it while it was unconfirmed."""
    return _job_step(job, J.WITHDRAWN, {"ended_at": at}, leaves_queue=True)


def unconfirmed(job: TrackedJob) -> JobStep:
    """The job's first prompt was sent and the answer was lost."""
    return _job_step(job, J.UNCONFIRMED, {}, leaves_queue=True)


def resent(job: TrackedJob) -> JobStep:
    """A person decided to send the unconfirmed first prompt again."""
    return _job_step(job, J.WAITING, {"ended_at": None}, leaves_queue=True)


def prompt_prepared(prompt: Prompt, text: str) -> PromptStep:
    """Its names are known, and who asked may ask: it waits to be sent."""
    return _prompt_step(prompt, P.WAITING, {"text": text})


def prompt_sending(prompt: Prompt, at: datetime) -> PromptStep:
    """It is about to be sent; written before the call, so that a crash never lets it be sent twice."""
    fields: PromptStepFields = {"sent_at": at, "attempts": prompt.attempts + 1, "queue_position": None}
    return _prompt_step(prompt, P.SENDING, fields)


def prompt_sent(prompt: Prompt) -> PromptStep:
    """The docs service accepted it."""
    return _prompt_step(prompt, P.SENT, {"response_url": None})


def prompt_postponed(prompt: Prompt, due_at: datetime) -> PromptStep:
    """It was not sent and no use was spent; it goes out later."""
    return _prompt_step(prompt, P.WAITING, {"sent_at": None, "due_at": due_at})


def prompt_unconfirmed(prompt: Prompt) -> PromptStep:
    """It was sent and the answer was lost."""
    return _prompt_step(prompt, P.UNCONFIRMED, {})


def prompt_refused(prompt: Prompt) -> PromptStep:
    """It will never be sent, or the docs service said no to it."""
    return _prompt_step(prompt, P.REFUSED, {"sent_at": None, "response_url": None, "queue_position": None})


def prompt_resent(prompt: Prompt, at: datetime) -> PromptStep:
    """A person decided to send an unconfirmed prompt again."""
    return _prompt_step(prompt, P.WAITING, {"sent_at": None, "due_at": at, "queue_position": None})


def prompt_withdrawn(prompt: Prompt, at: datetime) -> PromptStep:
    """A person took it back before it was sent, or dismissed it while it was unconfirmed."""
    return _prompt_step(prompt, P.WITHDRAWN, {"sent_at": None, "due_at": at, "queue_position": None})


def delivered(at: datetime, posted_ts: MessageTs | None) -> DeliveryStep:
    """Slack took it; ``posted_ts`` is where it stands when it is a post."""
    fields: DeliveryStepFields = {"posted_ts": posted_ts, "settled_at": at, "response_url": None}
    return DeliveryStep(DeliveryState.SENT, fields)


def delivery_dead(at: datetime, error: str) -> DeliveryStep:
    """It can never be said there."""
    return DeliveryStep(DeliveryState.DEAD, {"error": error, "settled_at": at, "response_url": None})


def delivery_postponed(due_at: datetime, *, plain: bool) -> DeliveryStep:
    """It was surely not done; it is tried again then, without its blocks if ``plain``."""
    return DeliveryStep(DeliveryState.PENDING, {"due_at": due_at, "plain": plain})


def delivery_unclear(look_at: datetime) -> DeliveryStep:
    """It may have been done: it stays *sending*, and is looked for at that time."""
    return DeliveryStep(DeliveryState.SENDING, {}, lease_until=look_at)
