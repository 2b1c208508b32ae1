"""All legal state changes of jobs, prompts and deliveries, as pure functions.

A step is the new state and the columns that change with it. Nothing else writes a state.
``Jobs(tx).apply``, ``Prompts(tx).apply`` and ``Outbox(tx).settle`` write a step and free the row's lease.
The diagram in docs/lifecycle.md shows the steps of a job; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.model.ids import MessageTs, ServiceJobId, UserId
from bot.model.jobs import JobProblem, JobState, JobStepFields, TrackedJob
from bot.model.outbox import REPEATABLE, DeliveryState, DeliveryStepFields, NewDelivery
from bot.model.prompts import Prompt, PromptState, PromptStepFields

J, P = JobState, PromptState


class IllegalStep(Exception):
    """The state machine does not allow this step. Raised for a mistake in the calling code."""


ENDS = frozenset({J.PULL_REQUEST, J.NO_PULL_REQUEST, J.FAILED, J.ARCHIVED, J.GONE})
"""The states that end an iteration."""

JOB_STEPS: Mapping[JobState, frozenset[JobState]] = {
    J.WAITING: frozenset({J.WORKING, J.REFUSED, J.UNCONFIRMED, J.WITHDRAWN}),
    # Its answer may come after all.
    J.UNCONFIRMED: frozenset({J.WORKING, J.WAITING, J.WITHDRAWN}),
    J.WORKING: ENDS | {J.WORKING, J.UNWATCHED},
    J.PULL_REQUEST: frozenset({J.WORKING, J.GONE}),
    J.NO_PULL_REQUEST: frozenset({J.WORKING, J.GONE}),
    J.FAILED: frozenset({J.WORKING, J.GONE}),
    J.UNWATCHED: frozenset({J.WORKING, J.GONE}),
    # The service may accept a follow-up that was being sent while the job was archived.
    J.ARCHIVED: frozenset({J.WORKING, J.GONE}),
    J.GONE: frozenset({J.WORKING}),
    J.REFUSED: frozenset(),
    J.WITHDRAWN: frozenset(),
}
"""The legal next states of each job state."""

PROMPT_STEPS: Mapping[PromptState, frozenset[PromptState]] = {
    # A prompt whose message was edited is prepared again.
    P.NEW: frozenset({P.NEW, P.WAITING, P.WITHDRAWN, P.REFUSED}),
    # A reply that joins another one is sent with it.
    P.WAITING: frozenset({P.NEW, P.SENDING, P.SENT, P.WITHDRAWN, P.REFUSED}),
    P.SENDING: frozenset({P.SENT, P.WAITING, P.UNCONFIRMED, P.REFUSED}),
    P.UNCONFIRMED: frozenset({P.SENT, P.WAITING, P.WITHDRAWN}),
    P.SENT: frozenset(),
    P.REFUSED: frozenset(),
    P.WITHDRAWN: frozenset(),
}
"""The legal next states of each prompt state."""

_MOST_TOLD = 20
"""Maximum people that an end mentions besides who asked last."""


@dataclass(frozen=True, slots=True)
class JobStep:
    """A step of a job. Create it with the functions below only.

    ``leaves_queue``: no prompt of the job waits any more, so nothing is said of the queue any more.
    """

    state: JobState
    fields: JobStepFields
    leaves_queue: bool = False


@dataclass(frozen=True, slots=True)
class PromptStep:
    """A step of a prompt; written only while its state and its text as typed are still these.

    Its message may be edited while a worker prepares it, and the same worker may have claimed it anew.
    """

    was: PromptState
    raw: str
    state: PromptState
    fields: PromptStepFields


@dataclass(frozen=True, slots=True)
class DeliveryStep:
    """A step of a delivery that is being sent."""

    state: DeliveryState
    fields: DeliveryStepFields


def _job_step(
    job: TrackedJob, state: JobState, fields: JobStepFields, *, leaves_queue: bool = False
) -> JobStep:
    if state not in JOB_STEPS[job.state]:
        raise IllegalStep(f"job {job.number}: {job.state} to {state}")
    return JobStep(state, fields, leaves_queue)


def _prompt_step(prompt: Prompt, state: PromptState, fields: PromptStepFields) -> PromptStep:
    if state not in PROMPT_STEPS[prompt.state]:
        raise IllegalStep(f"prompt {prompt.id}: {prompt.state} to {state}")
    return PromptStep(prompt.state, prompt.raw, state, fields)


def iteration_started(
    job: TrackedJob,
    requester: UserId,
    at: datetime,
    *,
    poll_at: datetime,
    saw_active: bool,
    service_id: ServiceJobId | None = None,
    uses_left: int | None = None,
) -> JobStep:
    """Return the step for a prompt that the docs service accepted: the first one or a follow-up.

    Also for an unconfirmed follow-up that turns out to have been accepted.
    ``saw_active``: the service reports that the agent works on this prompt. ``service_id`` is given for
    the first prompt. ``uses_left``: uses left in the hour, or None unless few are left.
    """
    fields: JobStepFields = {
        "iteration": job.iteration + 1,
        "version": job.version if job.state is J.WORKING else job.version + 1,
        "iteration_requester": requester,
        "iteration_started_at": at,
        "also_asked": also_asked(job, requester),
        "saw_active": saw_active,
        "uses_left": uses_left,
        "told_running_at": None,
        "shown_minutes": 0,
        "review": None,
        "reviewed_by": None,
        "reviewed_at": None,
        "remind_at": None,
        "ended_at": None,
        "unconfirmed_until": None,
        "misses": 0,
        "missing_since": None,
        "unread_since": None,
        "poll_at": poll_at,
    }
    if service_id is not None:
        fields["service_id"] = service_id
    return _job_step(job, J.WORKING, fields, leaves_queue=True)


def also_asked(job: TrackedJob, requester: UserId) -> list[UserId]:
    """Return who else waits for the end that ``requester`` waits for: whose own end has not been told.

    Each prompt that the service accepts begins an iteration; of an iteration that another one replaced
    before its end only the later one's end is told.
    """
    waiting = job.recipients if job.state is J.WORKING else ()
    return [user for user in waiting if user != requester][:_MOST_TOLD]


def with_asker(job: TrackedJob, user: UserId) -> list[UserId]:
    """Return who waits for the end besides the recipient, when this user asked in the running iteration."""
    waiting = dict.fromkeys((*job.also_asked, user))
    return [each for each in waiting if each != job.recipient][:_MOST_TOLD]


def iteration_ended(
    job: TrackedJob,
    end: JobState,
    at: datetime,
    *,
    pr_link: str | None,
    remind_at: datetime | None = None,
) -> JobStep:
    """Return the step for an iteration that the docs service reports as ended.

    ``remind_at``: when the thread is reminded of a pull request that nobody has reviewed by then.

    Raises IllegalStep if ``end`` is not in ``ENDS``.
    """
    if end not in ENDS:
        raise IllegalStep(f"job {job.number}: {end} is no end")
    fields = _over(at)
    told = job.pr_version if pr_link == job.pr_link else None
    fields["pr_link"] = pr_link
    fields["pr_version"] = job.version if told is None and end is J.PULL_REQUEST else told
    fields["remind_at"] = remind_at if end is J.PULL_REQUEST else None
    return _job_step(job, end, fields)


def lost(job: TrackedJob, at: datetime) -> JobStep:
    """Return the step for a job that the docs service no longer knows."""
    return _job_step(job, J.GONE, _over(at))


def unwatched(job: TrackedJob, at: datetime) -> JobStep:
    """Return the step for a job that has run, or could not be read, for days and is no longer polled."""
    return _job_step(job, J.UNWATCHED, _over(at))


def _over(at: datetime) -> JobStepFields:
    return {
        "ended_at": at,
        "poll_at": None,
        "unconfirmed_until": None,
        "misses": 0,
        "missing_since": None,
        "unread_since": None,
    }


def refused(job: TrackedJob, problem: str, at: datetime) -> JobStep:
    """Return the step for a job that never starts: the service, Slack or the access check refused it.

    ``problem`` is a code of ``JobProblem``.
    """
    return _job_step(job, J.REFUSED, {"problem": problem, "ended_at": at}, leaves_queue=True)


def withdrawn(job: TrackedJob, at: datetime, how: JobProblem, by: UserId) -> JobStep:
    """Return the step for a job withdrawn before it started, or dismissed while it was unconfirmed."""
    return _job_step(job, J.WITHDRAWN, {"ended_at": at, "problem": f"{how}:{by}"}, leaves_queue=True)


def unconfirmed(job: TrackedJob) -> JobStep:
    """Return the step for a job whose first prompt was sent and the answer was lost."""
    return _job_step(job, J.UNCONFIRMED, {}, leaves_queue=True)


def resent(job: TrackedJob) -> JobStep:
    """Return the step for a job whose unconfirmed first prompt is sent again by a person."""
    return _job_step(job, J.WAITING, {"ended_at": None}, leaves_queue=True)


def prompt_prepared(
    prompt: Prompt, text: str, attachments: str = "", held_until: datetime | None = None
) -> PromptStep:
    """Return the step to *waiting*: names are resolved and access is confirmed.

    ``held_until``: when a follow-up that was said in a thread is sent, at the earliest.
    """
    held: PromptStepFields = {"due_at": held_until} if held_until else {}
    return _prompt_step(prompt, P.WAITING, {**held, "text": text, "attachments": attachments})


def prompt_joined(prompt: Prompt) -> PromptStep:
    """Return the step for what its author has added to a follow-up, with which it is sent."""
    return _prompt_step(prompt, P.SENT, {})


def prompt_edited(prompt: Prompt, raw: str, at: datetime) -> PromptStep:
    """Return the step for a prompt whose message was edited before it was sent. It is prepared again."""
    return _prompt_step(prompt, P.NEW, {"raw": raw, "due_at": at, "sent_at": None})


def prompt_sent(prompt: Prompt) -> PromptStep:
    """Return the step for a prompt that the docs service accepted. Its text as it was sent is not kept."""
    return _prompt_step(prompt, P.SENT, {"response_url": None, "text": ""})


def prompt_postponed(prompt: Prompt, due_at: datetime, *, is_refused: bool = False) -> PromptStep:
    """Return the step for a prompt that was not taken and used nothing of the quota; it is sent later.

    ``is_refused``: the service refused it as it refuses a bad key, so when that was is kept (``sent_at``).
    """
    fields: PromptStepFields = {"due_at": due_at} if is_refused else {"due_at": due_at, "sent_at": None}
    return _prompt_step(prompt, P.WAITING, fields)


def prompt_unconfirmed(prompt: Prompt) -> PromptStep:
    """Return the step for a prompt that was sent and whose answer was lost."""
    return _prompt_step(prompt, P.UNCONFIRMED, {})


def prompt_refused(prompt: Prompt) -> PromptStep:
    """Return the step for a prompt that the docs service refused, or that will never be sent."""
    return _prompt_step(prompt, P.REFUSED, {"sent_at": None, "response_url": None, "in_queue": False})


def prompt_resent(prompt: Prompt, at: datetime) -> PromptStep:
    """Return the step for an unconfirmed prompt that a person sends again."""
    return _prompt_step(prompt, P.WAITING, {"sent_at": None, "due_at": at, "in_queue": False})


def prompt_withdrawn(prompt: Prompt, at: datetime) -> PromptStep:
    """Return the step for a prompt withdrawn before it was sent, or dismissed while it was unconfirmed."""
    return _prompt_step(prompt, P.WITHDRAWN, {"sent_at": None, "due_at": at, "in_queue": False})


def delivered(at: datetime, posted_ts: MessageTs | None) -> DeliveryStep:
    """Return the step for a delivery that Slack accepted. Its message is not kept.

    ``posted_ts`` is the message's timestamp, or None if the delivery is not a post.
    """
    fields: DeliveryStepFields = {"posted_ts": posted_ts, "settled_at": at, "response_url": None}
    return DeliveryStep(DeliveryState.SENT, {**fields, "message": None})


def delivery_dead(delivery: NewDelivery, at: datetime, error: str) -> DeliveryStep:
    """Return the step for a delivery that Slack refuses for good. ``error`` is Slack's code.

    Its message is kept only if an operator may have it tried again.
    """
    fields: DeliveryStepFields = {"error": error, "settled_at": at, "response_url": None}
    if delivery.kind not in REPEATABLE or delivery.subscription is not None:
        fields["message"] = None
    return DeliveryStep(DeliveryState.DEAD, fields)


def delivery_retried(at: datetime) -> DeliveryStep:
    """Return the step for a dead letter that an operator has tried again: it is looked for, then posted."""
    fields: DeliveryStepFields = {"error": None, "settled_at": None, "attempts": 0, "due_at": at}
    return DeliveryStep(DeliveryState.UNCLEAR, fields)


def delivery_postponed(due_at: datetime, *, plain: bool) -> DeliveryStep:
    """Return the step for a delivery that certainly failed and is retried at ``due_at``.

    ``plain``: retry without the blocks.
    """
    return DeliveryStep(DeliveryState.PENDING, {"due_at": due_at, "plain": plain})


def delivery_unclear(look_at: datetime) -> DeliveryStep:
    """Return the step for a delivery that may have succeeded: it is looked for at ``look_at``."""
    return DeliveryStep(DeliveryState.UNCLEAR, {"due_at": look_at})
