"""Write the outcome of a prompt together with the messages about it."""

from __future__ import annotations

from datetime import datetime

from bot.docs_api import DocsApiError, Forbidden, Job, NotConfigured, NotFound, Unauthorized
from bot.messages import jobs as messages
from bot.messages import problems
from bot.messages.problems import Problem
from bot.model import lifecycle
from bot.model.ids import JobNumber, ServiceJobId, UserId
from bot.model.jobs import JobDetails, JobState, TrackedJob
from bot.model.projects import Project
from bot.model.prompts import Prompt, PromptKind, PromptState
from bot.store import Transaction
from bot.store.jobs import Jobs
from bot.store.limits import Quota
from bot.store.prompts import Prompts
from bot.work.context import WorkerContext
from bot.work.jobs.service_health import service_is_well
from bot.work.jobs.thread import edit, overtake, redraw_face, say


def accepted(context: WorkerContext, tx: Transaction, prompt: Prompt, answer: Job) -> None:
    """Write that the docs service accepted a prompt, and begin an iteration.

    Another process may have taken the prompt for abandoned meanwhile, and asked a person about it.
    """
    now, project = context.clock(), Jobs(tx).known(prompt.job).project
    # Locks the project's quota, which every transaction locks before any prompt.
    service_is_well(context, tx, project, wrote=True)
    Prompts(tx).lock_of(prompt.job)
    stored, is_start = Prompts(tx).get(prompt.id) or prompt, prompt.kind is PromptKind.START
    is_asked = stored.state is PromptState.UNCONFIRMED and stored.attempts == prompt.attempts
    step = lifecycle.prompt_sent(stored if is_asked else prompt)
    Prompts(tx).apply(prompt.id, step, owner=None if is_asked else context.owner)
    Prompts(tx).clear_joined(prompt)
    job = Jobs(tx).known(prompt.job)
    if is_asked:
        edit(tx, job, _question(prompt), messages.answered_after_all(job, prompt.asked_by, not is_start), now)
    limit = context.uses_an_hour
    left = max(0, limit - len(Prompts(tx).uses(project, now)))
    begun = lifecycle.iteration_started(
        job,
        prompt.asked_by,
        now,
        poll_at=context.after(context.pace.wait_seconds(0, context.chance())),
        # A new job cannot be stale; after a follow-up the answer may still be the previous iteration's.
        saw_active=is_start or answer.is_running,
        service_id=ServiceJobId(answer.id) if is_start else None,
        # Shown when a fifth of the hour's uses is left, or less.
        uses_left=left if left * 5 <= limit else None,
    )
    Jobs(tx).apply(job.number, begun, **details_of(job, answer))
    overtake(tx, job, now)


def details_of(job: TrackedJob, answer: Job) -> JobDetails:
    """Return what an answer tells about a job besides its status; what it leaves out is as it was."""
    return {
        "repository": answer.source.repository or job.repository,
        "ref": answer.source.ref or job.ref,
        "model": answer.model or job.model,
        "created_at": answer.created_at or job.created_at,
        "archived_at": answer.archived_at or job.archived_at,
    }


def back_to_waiting(
    context: WorkerContext, tx: Transaction, prompt: Prompt, due_at: datetime, *, is_refused: bool = False
) -> None:
    """Write that a prompt was not taken and spent no use; it waits until ``due_at``.

    ``is_refused``: see ``lifecycle.prompt_postponed``.
    """
    step = lifecycle.prompt_postponed(prompt, due_at, is_refused=is_refused)
    Prompts(tx).apply(prompt.id, step, owner=context.owner)
    Prompts(tx).part(prompt)


def unconfirmed(context: WorkerContext, tx: Transaction, prompt: Prompt, *, answered: bool = False) -> None:
    """Write that a prompt was sent and no usable answer came. Only a person can decide to send it again.

    ``answered``: the service has answered with an error.
    """
    now, is_follow_up = context.clock(), prompt.kind is PromptKind.FOLLOW_UP
    Prompts(tx).apply(prompt.id, lifecycle.prompt_unconfirmed(prompt), owner=context.owner)
    if is_follow_up:
        _poll_for_a_while(context, tx, prompt.job)
        job = Jobs(tx).known(prompt.job)
        if job.state.is_open:  # the end of the running iteration may be that of this follow-up
            Jobs(tx).update(prompt.job, also_asked=lifecycle.with_asker(job, prompt.asked_by))
    else:
        Jobs(tx).apply(prompt.job, lifecycle.unconfirmed(Jobs(tx).known(prompt.job)))
    job = redraw_face(tx, prompt.job, now)
    question = messages.unconfirmed(job, prompt.id, prompt.asked_by, is_follow_up, answered=answered)
    say(tx, job, _question(prompt), question, now)
    for waiting in Prompts(tx).unsettled_of(job.number):
        if waiting.state is PromptState.WAITING:
            tell_behind_unconfirmed(tx, job, waiting, now)


def _question(prompt: Prompt) -> str:
    """Return the occasion of the question about an unconfirmed prompt: each attempt has its own."""
    return f"unconfirmed:{prompt.id}:{prompt.attempts}"


def show_decision(
    tx: Transaction, job: TrackedJob, prompt: Prompt, decision: str, by: UserId, now: datetime
) -> None:
    """Edit the question about an unconfirmed prompt: it shows who decided what, and loses its buttons."""
    is_follow_up = prompt.kind is PromptKind.FOLLOW_UP
    message = messages.decided(job, prompt.asked_by, is_follow_up, decision, by)
    edit(tx, job, _question(prompt), message, now)


def tell_behind_unconfirmed(tx: Transaction, job: TrackedJob, waiting: Prompt, now: datetime) -> None:
    """Tell the sender of a follow-up once that it waits for the decision about the job's first prompt."""
    if job.state is JobState.UNCONFIRMED:
        message = messages.behind_unconfirmed(job, waiting.asked_by)
        say(tx, job, f"behind:{waiting.asked_by}", message, now)


def _poll_for_a_while(context: WorkerContext, tx: Transaction, number: JobNumber) -> None:
    """Poll an ended job for a while: an unconfirmed follow-up may have arrived, or the job may be lost."""
    Jobs(tx).leave_queue(number)
    if not Jobs(tx).known(number).state.is_open:
        quiet, soon = context.timeouts.quiet_seconds, context.pace.min_seconds
        # Takes the lease from a poll that runs for an earlier unconfirmed follow-up.
        Jobs(tx).put_back(number, None, unconfirmed_until=context.after(quiet), poll_at=context.after(soon))


def refused(
    context: WorkerContext,
    tx: Transaction,
    prompt: Prompt,
    error: DocsApiError,
    problem: Problem | None = None,
) -> None:
    """Write that the service refused a prompt, tell why and what to do, and move the queue up.

    ``problem``: what the error means here, if more is known than the error says.
    """
    now, job = context.clock(), Jobs(tx).known(prompt.job)
    Quota(tx).lock(job.project)
    Prompts(tx).apply(prompt.id, lifecycle.prompt_refused(prompt), owner=context.owner)
    Prompts(tx).move_up(job.project, now)
    problem = problem or _problem(prompt, error, context.projects.entry(job.project))
    if prompt.kind is PromptKind.START:
        Jobs(tx).apply(job.number, lifecycle.refused(job, problem.code, now))
        job = redraw_face(tx, job.number, now)
        say(tx, job, f"refused:{prompt.id}", messages.refused(job, problem), now)
        drop_follow_ups(tx, job, now)
        return
    Jobs(tx).leave_queue(job.number)
    if isinstance(error, NotFound) and job.state is not JobState.GONE:
        # One such answer is not enough to call the job lost.
        _poll_for_a_while(context, tx, job.number)
    job = redraw_face(tx, job.number, now)
    say(tx, job, f"refused:{prompt.id}", messages.follow_up_refused(prompt.asked_by, problem), now)


def drop_follow_ups(tx: Transaction, job: TrackedJob, now: datetime, *, is_told: bool = True) -> None:
    """Refuse the follow-ups that wait for a job that will never start, and tell their senders in the thread.

    ``is_told`` is false for a job without a thread.
    """
    for waiting in Prompts(tx).unsettled_of(job.number):
        if waiting.kind is PromptKind.FOLLOW_UP:
            Prompts(tx).apply(waiting.id, lifecycle.prompt_refused(waiting))
            message = messages.follow_up_refused(waiting.asked_by, problems.job_not_started())
            if is_told:
                say(tx, job, f"refused:{waiting.id}", message, now)


def _problem(prompt: Prompt, error: DocsApiError, entry: Project | None) -> Problem:
    match error:
        case Unauthorized():
            return problems.key_refused(entry)
        case Forbidden():
            return problems.key_forbidden()
        case NotFound() if prompt.kind is PromptKind.START:
            return problems.project_unknown(entry)
        case NotConfigured():
            return problems.not_served()
        case NotFound():
            return problems.job_unknown()
        case _:
            return problems.service_rejected(error.text or "")
