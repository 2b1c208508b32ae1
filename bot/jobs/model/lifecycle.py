"""All legal state changes of jobs and prompts, as pure functions.

A step returns the row as it is afterwards. Nothing else changes a state. ``save`` writes the
columns that differ, refuses a step that is not legal, and frees the row's lease. The diagram in
docs/lifecycle.md shows the steps of a job; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from bot.ids import ServiceJobId, UserId
from bot.jobs.model.jobs import JobProblem, JobState, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptKind, PromptState, summary_of
from bot.ports import Content

J = JobState
P = PromptState


class IllegalStep(Exception):
    """The state machine does not allow this step. Raised for a mistake in the calling code."""


ENDS = frozenset({J.PULL_REQUEST, J.NO_PULL_REQUEST, J.FAILED, J.ARCHIVED, J.GONE})
"""The states that end an iteration."""

JOB_STEPS: Mapping[JobState, frozenset[JobState]] = {
    J.WAITING: frozenset({J.WORKING, J.REFUSED, J.UNCONFIRMED, J.WITHDRAWN}),
    # Its answer may still come.
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
    P.WAITING: frozenset({P.NEW, P.SENDING, P.WITHDRAWN, P.REFUSED}),
    P.SENDING: frozenset({P.SENT, P.WAITING, P.UNCONFIRMED, P.REFUSED}),
    # One whose message is edited has other words when a person sends it again.
    P.UNCONFIRMED: frozenset({P.UNCONFIRMED, P.SENT, P.NEW, P.WAITING, P.WITHDRAWN}),
    P.SENT: frozenset(),
    P.REFUSED: frozenset(),
    P.WITHDRAWN: frozenset(),
}
"""The legal next states of each prompt state."""

_MAX_TOLD = 20
"""Maximum number of people that an end mentions, the last asker not counted."""


def is_job_step(job: TrackedJob, new: TrackedJob) -> bool:
    """Return whether a change is a step: of the state or the iteration. Raises IllegalStep."""
    if (new.state, new.iteration) == (job.state, job.iteration):
        return False
    if new.state not in JOB_STEPS[job.state]:
        raise IllegalStep(f"job {job.number}: {job.state} to {new.state}")
    return True


def check_prompt_step(prompt: Prompt, new: Prompt) -> None:
    """Raise IllegalStep unless a prompt may change like that."""
    if new.state not in PROMPT_STEPS[prompt.state]:
        raise IllegalStep(f"prompt {prompt.id}: {prompt.state} to {new.state}")


def start_iteration(
    job: TrackedJob,
    requester: UserId,
    at: datetime,
    *,
    poll_at: datetime,
    has_been_active: bool,
    service_id: ServiceJobId | None = None,
    uses_left: int | None = None,
) -> TrackedJob:
    """Begin the iteration of a prompt that the docs service accepted: the first one or a follow-up.

    Also for an unconfirmed follow-up that turns out to have been accepted. ``has_been_active``: the
    service reports that the agent works on this prompt. ``service_id`` is given for the first
    prompt. ``uses_left``: uses left in the hour, or None unless few are left.
    """
    # If another iteration replaces one before its end, the askers of both get the later end.
    waiting = job.recipients if job.state is J.WORKING else ()
    others = tuple(user for user in waiting if user != requester)
    return replace(
        job,
        state=J.WORKING,
        service_id=service_id or job.service_id,
        iteration=job.iteration + 1,
        result_number=job.result_number if job.state is J.WORKING else job.result_number + 1,
        iteration_requester=requester,
        iteration_started_at=at,
        other_recipients=others[:_MAX_TOLD],
        has_been_active=has_been_active,
        uses_left=uses_left,
        long_run_notice_at=None,
        is_slow=False,
        review=None,
        reviewed_by=None,
        reviewed_at=None,
        remind_at=None,
        ended_at=None,
        wait_until=None,
        wait_reason=None,
        unconfirmed_until=None,
        poll_at=poll_at,
        not_found_count=0,
        not_found_since=None,
        poll_failing_since=None,
    )


def with_recipient(job: TrackedJob, user: UserId) -> TrackedJob:
    """Add a user of the running iteration to the users who wait for its end."""
    waiting = dict.fromkeys((*job.other_recipients, user))
    others = tuple(one for one in waiting if one != job.recipient)
    return replace(job, other_recipients=others[:_MAX_TOLD])


def without_wait(job: TrackedJob) -> TrackedJob:
    """Clear the reason and the time for which a prompt of the job waits."""
    return replace(job, wait_until=None, wait_reason=None)


def record_poll(job: TrackedJob, poll_at: datetime | None) -> TrackedJob:
    """Record an answered poll. ``poll_at``: the next one."""
    return replace(
        job, poll_at=poll_at, not_found_count=0, not_found_since=None, poll_failing_since=None
    )


def without_polls(job: TrackedJob) -> TrackedJob:
    """Poll a job no more."""
    return replace(record_poll(job, None), unconfirmed_until=None)


def end_iteration(
    job: TrackedJob,
    end: JobState,
    at: datetime,
    *,
    pr_link: str | None,
    remind_at: datetime | None = None,
) -> TrackedJob:
    """End the iteration as the docs service reports.

    ``remind_at``: when the thread is reminded of an unreviewed pull request.

    Raises IllegalStep if ``end`` is not in ``ENDS``.
    """
    if end not in ENDS:
        raise IllegalStep(f"job {job.number}: {end} is no end")
    return replace(
        without_polls(job),
        state=end,
        ended_at=at,
        pr_link=pr_link,
        remind_at=remind_at if end is J.PULL_REQUEST else None,
    )


def end_lost_job(job: TrackedJob, at: datetime) -> TrackedJob:
    """End a job that the docs service no longer knows."""
    return replace(without_polls(job), state=J.GONE, ended_at=at)


def mark_job_unwatched(job: TrackedJob, at: datetime) -> TrackedJob:
    """Stop polling a job that has run, or could not be read, for days."""
    return replace(without_polls(job), state=J.UNWATCHED, ended_at=at)


def refuse_job(job: TrackedJob, problem: str, at: datetime) -> TrackedJob:
    """Give up a job that never starts: the service, Slack or the access check refused it.

    ``problem`` is a code of ``JobProblem``.
    """
    return replace(without_wait(job), state=J.REFUSED, problem=problem, ended_at=at)


def withdraw_job(job: TrackedJob, at: datetime, problem: JobProblem, by: UserId) -> TrackedJob:
    """Withdraw a job before it started, or dismiss it while it is unconfirmed."""
    return replace(without_wait(job), state=J.WITHDRAWN, problem=f"{problem}:{by}", ended_at=at)


def mark_job_unconfirmed(job: TrackedJob) -> TrackedJob:
    """Mark a job whose first prompt was sent without an answer."""
    return replace(without_wait(job), state=J.UNCONFIRMED)


def resend_job(job: TrackedJob) -> TrackedJob:
    """Let a job wait whose unconfirmed first prompt is sent again by a person."""
    return replace(without_wait(job), state=J.WAITING, ended_at=None)


def queue_prompt(prompt: Prompt, text: str, attachments: str = "") -> Prompt:
    """Let a prompt wait to be sent: names are resolved and access is confirmed."""
    return replace(prompt, state=P.WAITING, text=text, attachments=attachments)


def edit_prompt(
    prompt: Prompt, content: Content, at: datetime, held_until: datetime | None
) -> Prompt:
    """Prepare a prompt again whose messages were changed before it was sent.

    An unconfirmed one stays so, and is prepared if a person sends it again.
    """
    edited = replace(
        prompt, raw=content.text, files=content.files, omitted_parts=content.omitted_parts
    )
    if prompt.state is P.UNCONFIRMED:
        return replace(edited, attachments=None, held_until=None)
    return replace(edited, state=P.NEW, due_at=at, sent_at=None, held_until=held_until)


def settle_sent_prompt(prompt: Prompt) -> Prompt:
    """Settle a prompt that the docs service accepted. Keep a follow-up's summary as its text."""
    summary = ""
    if prompt.kind is PromptKind.FOLLOW_UP:
        summary = summary_of(prompt.text or "")
    return replace(prompt, state=P.SENT, response_url=None, text=summary, held_until=None)


def postpone_prompt(prompt: Prompt, due_at: datetime, *, is_refused: bool = False) -> Prompt:
    """Send a prompt later that was not accepted, so that it used none of the quota.

    ``is_refused``: the service refused it like a bad key; ``sent_at`` keeps the time of the
    refusal.
    """
    sent_at = prompt.sent_at if is_refused else None
    return replace(prompt, state=P.WAITING, due_at=due_at, sent_at=sent_at)


def mark_prompt_unconfirmed(prompt: Prompt) -> Prompt:
    """Mark a prompt that was sent and whose answer was lost."""
    return replace(prompt, state=P.UNCONFIRMED)


def refuse_prompt(prompt: Prompt) -> Prompt:
    """Give up a prompt that the docs service refused, or that will never be sent."""
    return replace(prompt, state=P.REFUSED, sent_at=None, response_url=None, held_until=None)


def resend_prompt(prompt: Prompt, at: datetime) -> Prompt:
    """Let an unconfirmed prompt wait to be sent again; an edited one is prepared again."""
    state = P.NEW if prompt.attachments is None else P.WAITING
    return replace(prompt, state=state, sent_at=None, due_at=at)


def withdraw_prompt(prompt: Prompt, at: datetime) -> Prompt:
    """Withdraw a prompt before it was sent, or dismiss it while it is unconfirmed."""
    return replace(prompt, state=P.WITHDRAWN, sent_at=None, due_at=at, held_until=None)
