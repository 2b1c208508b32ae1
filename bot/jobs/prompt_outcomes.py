"""The outcomes of prompts: their states, and the messages about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bot.context import WorkerContext
from bot.docs_api import DocsApiError, Forbidden, Job, NotConfigured, NotFound, Unauthorized
from bot.ids import ServiceJobId, UserId
from bot.jobs.messages import job_answers, problems
from bot.jobs.messages import jobs as messages
from bot.jobs.messages.problems import Problem
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptKind, PromptState
from bot.jobs.service_health import note_service_success, poll_wait_seconds
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import edit, remove_buttons, say
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.projects import Project
from bot.store import Transaction


def settle_accepted(context: WorkerContext, tx: Transaction, prompt: Prompt, answer: Job) -> None:
    """Write that the docs service accepted a prompt, and begin an iteration.

    Another process may have taken the prompt for abandoned meanwhile, and asked a person about it.
    """
    now = context.clock()
    job = Jobs(tx).get_or_raise(prompt.job)
    note_service_success(context, tx, job.project, wrote=True)
    is_start = prompt.kind is PromptKind.START
    stored = Prompts(tx).get(prompt.id) or prompt
    if stored.state is PromptState.UNCONFIRMED and stored.attempts == prompt.attempts:
        _settle_question(tx, job, prompt, stored, now)
    else:
        Prompts(tx).save(prompt, lifecycle.settle_sent_prompt(prompt), owner=context.owner)
    limit = context.settings.uses_an_hour
    free = max(0, limit - len(Prompts(tx).uses(job.project, now)))
    begun = lifecycle.start_iteration(
        add_details(job, answer),
        prompt.asked_by,
        now,
        poll_at=context.after(poll_wait_seconds(context.settings, 0, context.chance())),
        # A new job cannot be stale; after a follow-up the answer may still be the previous
        # iteration's.
        has_been_active=is_start or answer.is_running,
        service_id=ServiceJobId(answer.id) if is_start else None,
        # Shown when a fifth of the hour's uses is left, or less.
        uses_left=free if free * 5 <= limit else None,
    )
    Jobs(tx).save(job, begun)
    remove_buttons(context, tx, job, now)


def _settle_question(
    tx: Transaction, job: TrackedJob, prompt: Prompt, stored: Prompt, now: datetime
) -> None:
    """Write that a prompt about which a person was asked was accepted after all.

    ``prompt``: as it was sent. ``stored``: as it is now.
    """
    Prompts(tx).save(stored, lifecycle.settle_sent_prompt(stored))
    is_follow_up = prompt.kind is PromptKind.FOLLOW_UP
    answered = messages.close_answered_question(job, prompt.asked_by, is_follow_up)
    edit(tx, job, _question_occasion(prompt), answered, now)
    if stored.raw not in ("", prompt.raw):
        _tell_edited_too_late(tx, job, stored, now)


def _tell_edited_too_late(tx: Transaction, job: TrackedJob, prompt: Prompt, now: datetime) -> None:
    """Tell an author, who edited while the outcome was unknown, that the agent has the old text."""
    place = prompt.channel or job.channel
    thread = job.thread.ts if job.thread and job.thread.channel == place else None
    key = f"{prompt.key}:changed:sent"
    words = job_answers.edited_too_late(job)
    Outbox(tx).add(NewDelivery.whisper(key, place, prompt.asked_by, words, thread=thread), now)


def add_details(job: TrackedJob, answer: Job) -> TrackedJob:
    """Add an answer's details of a job; values missing in the answer stay."""
    return replace(
        job,
        repository=answer.source.repository or job.repository,
        ref=answer.source.ref or job.ref,
        model=answer.model or job.model,
        service_created_at=answer.created_at or job.service_created_at,
        service_archived_at=answer.archived_at or job.service_archived_at,
    )


def back_to_waiting(
    context: WorkerContext,
    tx: Transaction,
    prompt: Prompt,
    due_at: datetime,
    *,
    is_refused: bool = False,
) -> None:
    """Write that a prompt was not taken and spent no use; it waits until ``due_at``.

    ``is_refused``: see ``lifecycle.postpone_prompt``.
    """
    postponed = lifecycle.postpone_prompt(prompt, due_at, is_refused=is_refused)
    Prompts(tx).save(prompt, postponed, owner=context.owner)


def settle_unconfirmed(
    context: WorkerContext, tx: Transaction, prompt: Prompt, *, answered: bool = False
) -> None:
    """Write that a prompt was sent and no usable answer came.

    Only a person can decide to send it again.

    ``answered``: the service has answered with an error.
    """
    now = context.clock()
    is_follow_up = prompt.kind is PromptKind.FOLLOW_UP
    Prompts(tx).save(prompt, lifecycle.mark_prompt_unconfirmed(prompt), owner=context.owner)
    job = Jobs(tx).get_or_raise(prompt.job)
    if not is_follow_up:
        Jobs(tx).save(job, lifecycle.mark_job_unconfirmed(job))
    elif job.state.is_open:
        # The running iteration may belong to this follow-up.
        Jobs(tx).save(job, lifecycle.with_recipient(lifecycle.without_wait(job), prompt.asked_by))
    else:
        _poll_for_a_while(context, tx, job)
    job = Jobs(tx).get_or_raise(prompt.job)
    earlier = Jobs(tx).latest_link(job.project, job.channel)
    question = messages.unconfirmed_message(
        job, prompt.id, prompt.asked_by, is_follow_up, answered=answered, earlier=earlier
    )
    say(tx, job, _question_occasion(prompt), question, now)
    for waiting in Prompts(tx).unsettled_of(job.number):
        if waiting.state is PromptState.WAITING:
            tell_behind_unconfirmed(tx, job, waiting, now)


def _question_occasion(prompt: Prompt) -> str:
    """Return the occasion of the question about an unconfirmed prompt. It differs by attempt."""
    return f"unconfirmed:{prompt.id}:{prompt.attempts}"


def show_decision(
    tx: Transaction, job: TrackedJob, prompt: Prompt, decision: str, by: UserId, now: datetime
) -> None:
    """Replace the question about an unconfirmed prompt and its buttons by the decision."""
    is_follow_up = prompt.kind is PromptKind.FOLLOW_UP
    message = messages.close_question(job, prompt.asked_by, is_follow_up, decision, by)
    edit(tx, job, _question_occasion(prompt), message, now)


def remove_send_again_button(
    tx: Transaction, job: TrackedJob, prompt: Prompt, now: datetime
) -> None:
    """Leave only *Dismiss* in the question about an unconfirmed prompt without words."""
    is_follow_up = prompt.kind is PromptKind.FOLLOW_UP
    message = messages.unconfirmed_without_words(job, prompt.id, prompt.asked_by, is_follow_up)
    edit(tx, job, _question_occasion(prompt), message, now)


def tell_behind_unconfirmed(
    tx: Transaction, job: TrackedJob, waiting: Prompt, now: datetime
) -> None:
    """Post, once for each sender, that a follow-up waits for the decision about the first one."""
    if job.state is JobState.UNCONFIRMED:
        message = messages.behind_unconfirmed(job, waiting.asked_by)
        say(tx, job, f"behind:{waiting.asked_by}", message, now)


def _poll_for_a_while(context: WorkerContext, tx: Transaction, job: TrackedJob) -> None:
    """Poll an ended job for a while.

    An unconfirmed follow-up may have arrived, or the job may be lost.
    """
    until = context.after(context.timeouts.quiet_seconds)
    soon = context.after(context.settings.poll_min_seconds)
    # Takes the lease from a poll that runs for an earlier unconfirmed follow-up.
    Jobs(tx).save(job, replace(lifecycle.without_wait(job), unconfirmed_until=until, poll_at=soon))


def settle_refused(
    context: WorkerContext,
    tx: Transaction,
    prompt: Prompt,
    error: DocsApiError,
    problem: Problem | None = None,
) -> None:
    """Write that the service refused a prompt, post the problem, and move the queue up.

    ``problem``: a more exact problem than the error's; None to use the error's.
    """
    now = context.clock()
    Prompts(tx).save(prompt, lifecycle.refuse_prompt(prompt), owner=context.owner)
    Prompts(tx).move_up(prompt.project, now)
    job = Jobs(tx).get_or_raise(prompt.job)
    problem = problem or _find_problem(prompt, error, context.projects.entry(job.project))
    if prompt.kind is PromptKind.START:
        job = Jobs(tx).save(job, lifecycle.refuse_job(job, problem.code, now))
        say(tx, job, f"refused:{prompt.id}", messages.refused_message(job, problem), now)
        drop_follow_ups(tx, job, now)
        return
    if isinstance(error, NotFound) and job.state is not JobState.GONE and not job.state.is_open:
        # One such answer is not enough to call the job lost.
        _poll_for_a_while(context, tx, job)
    else:
        Jobs(tx).save(job, lifecycle.without_wait(job))
    job = Jobs(tx).get_or_raise(job.number)
    say(tx, job, f"refused:{prompt.id}", messages.follow_up_refused(prompt.asked_by, problem), now)


def drop_follow_ups(
    tx: Transaction, job: TrackedJob, now: datetime, *, has_thread: bool = True
) -> None:
    """Refuse a job's follow-ups after the job was withdrawn or refused. Inform their senders.

    ``has_thread`` is false for a job that no thread shows.
    """
    for waiting in Prompts(tx).unsettled_of(job.number):
        if waiting.kind is not PromptKind.FOLLOW_UP:
            continue
        Prompts(tx).save(waiting, lifecycle.refuse_prompt(waiting))
        message = messages.follow_up_refused(waiting.asked_by, problems.JOB_NOT_STARTED)
        if has_thread:
            say(tx, job, f"refused:{waiting.id}", message, now)
            continue
        key = f"prompt:{waiting.id}:refused"
        place = waiting.channel or job.channel
        Outbox(tx).add(NewDelivery.private(key, place, waiting.asked_by, message), now)


def _find_problem(prompt: Prompt, error: DocsApiError, entry: Project | None) -> Problem:
    match error:
        case Unauthorized():
            return problems.key_refused(entry)
        case Forbidden():
            return problems.KEY_FORBIDDEN
        case NotFound() if prompt.kind is PromptKind.START:
            return problems.project_unknown(entry)
        case NotConfigured():
            return problems.NOT_SERVED
        case NotFound():
            return problems.JOB_UNKNOWN
        case _:
            return problems.service_rejected(error.text or "")
