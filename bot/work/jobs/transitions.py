"""Writing how a prompt fared, together with what people are told about it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bot.docs_api import DocsApiError, Forbidden, Job, NotFound, Unauthorized
from bot.messages import jobs as say
from bot.messages import problems
from bot.messages.problems import Problem
from bot.model import JobState, ProjectId, Prompt, PromptKind, PromptState, TrackedJob
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.key_health import service_is_well
from bot.work.jobs.thread_messages import redraw_face, reply

OUT_OF_QUEUE: dict[str, Any] = {"queue_until": None, "queue_position": None, "queue_why": None}
"""What a job's row says once nothing of it waits."""
_FREE = {"claimed_by": None, "claimed_until": None}


def accepted(context: WorkerContext, tx: Transaction, prompt: Prompt, answer: Job) -> None:
    """The service took it: a round begins."""
    now, project = context.clock(), (tx.jobs.known(prompt.job)).project
    # Before any prompt, as all do who lock the project's count.
    service_is_well(context, tx, project, wrote=True)
    tx.prompts.change(
        prompt.id,
        owner=context.owner,
        was=PromptState.SENDING,
        state=PromptState.SENT,
        response_url=None,
        **_FREE,
    )
    job = tx.jobs.known(prompt.job)
    values: dict[str, Any] = {
        "state": JobState.WORKING,
        "iteration": job.iteration + 1,
        "iteration_requester": prompt.asked_by,
        "iteration_started_at": now,
        # A new job cannot be stale; after a follow-up the answer may still show the round before.
        "saw_active": prompt.kind is PromptKind.START or answer.is_running,
        "ended_at": None,
        **OUT_OF_QUEUE,
        "uses_left": _few_left(context, tx, project),
        "doubt_until": None,
        "told_running_at": None,
        "misses": 0,
        "poll_at": context.after(context.pace.wait_seconds(0, context.chance())),
        **_FREE,
    }
    if prompt.kind is PromptKind.START:
        values["service_id"] = answer.id
    values |= {"repository": answer.source.repository, "ref": answer.source.ref}
    tx.jobs.change(job.number, **values)
    redraw_face(tx, job.number, now)


def _few_left(context: WorkerContext, tx: Transaction, project: ProjectId) -> int | None:
    """How many uses of the hour are left, when that is a fifth or less: then people should know."""
    left = context.uses_an_hour - len(tx.prompts.uses(project, context.clock()))
    return max(0, left) if left * 5 <= context.uses_an_hour else None


def back_to_waiting(context: WorkerContext, tx: Transaction, prompt: Prompt, due_at: datetime) -> None:
    """Nothing was sent and no use was spent; it goes out later."""
    tx.prompts.change(
        prompt.id,
        owner=context.owner,
        was=PromptState.SENDING,
        state=PromptState.WAITING,
        sent_at=None,
        due_at=due_at,
        **_FREE,
    )


def unconfirmed(context: WorkerContext, tx: Transaction, prompt: Prompt) -> None:
    """Sent, and no answer: only a person decides whether it is sent again."""
    now = context.clock()
    tx.prompts.change(
        prompt.id, owner=context.owner, was=PromptState.SENDING, state=PromptState.UNCONFIRMED, **_FREE
    )
    values: dict[str, Any] = dict(OUT_OF_QUEUE)
    is_follow_up = prompt.kind is PromptKind.FOLLOW_UP
    if not is_follow_up:
        values["state"] = JobState.UNCONFIRMED
    elif not (tx.jobs.known(prompt.job)).state.is_open:
        # Should it have arrived after all, the job turns active again and its end is told.
        values["doubt_until"] = context.after(context.timeouts.quiet_seconds)
        values["poll_at"] = context.after(context.pace.min_seconds)
        # Whoever looks at it now does so for an earlier doubt.
        values |= _FREE
    tx.jobs.change(prompt.job, **values)
    job = redraw_face(tx, prompt.job, now)
    message = say.unconfirmed(job, prompt.id, prompt.asked_by, is_follow_up)
    reply(tx, job, f"doubt:{prompt.id}:{prompt.attempts}", message, now)


def refused(context: WorkerContext, tx: Transaction, prompt: Prompt, error: DocsApiError) -> None:
    """The service said no: people are told why, and what to do. Its use is free for who waits."""
    now, project = context.clock(), (tx.jobs.known(prompt.job)).project
    tx.quota.lock(project)
    tx.prompts.change(
        prompt.id,
        owner=context.owner,
        was=PromptState.SENDING,
        state=PromptState.REFUSED,
        sent_at=None,
        **_FREE,
    )
    tx.prompts.move_up(project, now)
    problem = _problem(prompt, error)
    if prompt.kind is PromptKind.START:
        not_started(tx, prompt, problem, now)
        return
    values: dict[str, Any] = dict(OUT_OF_QUEUE)
    if isinstance(error, NotFound):
        values |= {"state": JobState.GONE, "poll_at": None, "ended_at": now}
    tx.jobs.change(prompt.job, **values)
    job = redraw_face(tx, prompt.job, now)
    message = say.follow_up_refused(prompt.asked_by, problem)
    reply(tx, job, f"refused:{prompt.id}", message, now)


def not_started(tx: Transaction, prompt: Prompt, problem: Problem, now: datetime) -> None:
    """The job never came to be; what was asked on top of it falls with it."""
    tx.jobs.change(
        prompt.job,
        state=JobState.REFUSED,
        problem=problem.title,
        ended_at=now,
        **OUT_OF_QUEUE,
    )
    job = redraw_face(tx, prompt.job, now)
    reply(tx, job, f"refused:{prompt.id}", say.refused(job, problem), now)
    drop_follow_ups(tx, job, now)


def drop_follow_ups(tx: Transaction, job: TrackedJob, now: datetime) -> None:
    """Follow-ups that wait for a job that will never start are given up, and said to be.

    Not those whose sender may not be allowed to see the job: the thread must not show them
    (``prepare.py`` decides about these).
    """
    for waiting in tx.prompts.unsettled_of(job.number):
        undecided = waiting.state is PromptState.NEW and waiting.named is not None
        if waiting.kind is PromptKind.FOLLOW_UP and not undecided:
            tx.prompts.change(waiting.id, state=PromptState.REFUSED, **_FREE)
            message = say.follow_up_refused(waiting.asked_by, problems.job_not_started())
            reply(tx, job, f"refused:{waiting.id}", message, now)


def _problem(prompt: Prompt, error: DocsApiError) -> Problem:
    match error:
        case Unauthorized():
            return problems.key_refused()
        case Forbidden():
            return problems.key_forbidden()
        case NotFound() if prompt.kind is PromptKind.START:
            return problems.project_unknown()
        case NotFound():
            return problems.job_unknown()
        case _:
            return problems.service_rejected(error.text or "")
