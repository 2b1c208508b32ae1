"""Writing how a prompt fared, together with what people are told about it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bot.docs_api import DocsApiError, Forbidden, Job, NotFound, Unauthorized
from bot.messages import jobs as say
from bot.messages import problems
from bot.messages.problems import Problem
from bot.model import JobState, ProjectId, Prompt, PromptKind, PromptState, TrackedJob
from bot.store import Tables
from bot.work.jobs.key_health import service_is_well
from bot.work.jobs.thread_messages import redraw_root, reply
from bot.work.worker_context import Workshop

OUT_OF_QUEUE: dict[str, Any] = {"queue_until": None, "queue_place": None, "queue_why": None}
"""What a job's row says once nothing of it waits."""
_FREE = {"claimed_by": None, "claimed_until": None}


async def accepted(shop: Workshop, tables: Tables, prompt: Prompt, answer: Job) -> None:
    """The service took it: a round begins."""
    now, project = shop.clock(), (await tables.jobs.known(prompt.job)).project
    # Before any prompt, as all do who lock the project's count.
    await service_is_well(shop, tables, project, wrote=True)
    await tables.prompts.change(
        prompt.id,
        owner=shop.owner,
        was=PromptState.SENDING,
        state=PromptState.SENT,
        response_url=None,
        **_FREE,
    )
    job = await tables.jobs.known(prompt.job)
    values: dict[str, Any] = {
        "state": JobState.WORKING,
        "round": job.round + 1,
        "round_requester": prompt.asked_by,
        "round_started_at": now,
        # A new job cannot be stale; after a follow-up the answer may still show the round before.
        "saw_active": prompt.kind is PromptKind.START or answer.is_running,
        "ended_at": None,
        **OUT_OF_QUEUE,
        "uses_left": await _few_left(shop, tables, project),
        "quiet_until": None,
        "told_running_at": None,
        "misses": 0,
        "poll_at": shop.after(shop.pace.wait_seconds(0, shop.chance())),
        **_FREE,
    }
    if prompt.kind is PromptKind.START:
        values["service_id"] = answer.id
    values |= {"repository": answer.source.repository, "ref": answer.source.ref}
    await tables.jobs.change(job.number, **values)
    await redraw_root(tables, job.number, now)


async def _few_left(shop: Workshop, tables: Tables, project: ProjectId) -> int | None:
    """How many uses of the hour are left, when that is a fifth or less: then people should know."""
    left = shop.uses_an_hour - len(await tables.prompts.uses(project, shop.clock()))
    return max(0, left) if left * 5 <= shop.uses_an_hour else None


async def back_to_waiting(shop: Workshop, tables: Tables, prompt: Prompt, due_at: datetime) -> None:
    """Nothing was sent and no use was spent; it goes out later."""
    await tables.prompts.change(
        prompt.id,
        owner=shop.owner,
        was=PromptState.SENDING,
        state=PromptState.WAITING,
        sent_at=None,
        due_at=due_at,
        **_FREE,
    )


async def in_doubt(shop: Workshop, tables: Tables, prompt: Prompt) -> None:
    """Sent, and no answer: only a person decides whether it is sent again."""
    now = shop.clock()
    await tables.prompts.change(
        prompt.id, owner=shop.owner, was=PromptState.SENDING, state=PromptState.IN_DOUBT, **_FREE
    )
    values: dict[str, Any] = dict(OUT_OF_QUEUE)
    is_follow_up = prompt.kind is PromptKind.FOLLOW_UP
    if not is_follow_up:
        values["state"] = JobState.IN_DOUBT
    elif not (await tables.jobs.known(prompt.job)).state.is_open:
        # Should it have arrived after all, the job turns active again and its end is told.
        values["quiet_until"] = shop.after(shop.patience.quiet_seconds)
        values["poll_at"] = shop.after(shop.pace.min_seconds)
        # Whoever looks at it now does so for an earlier doubt.
        values |= _FREE
    await tables.jobs.change(prompt.job, **values)
    job = await redraw_root(tables, prompt.job, now)
    message = say.in_doubt(job, prompt.id, prompt.asked_by, is_follow_up)
    await reply(tables, job, f"doubt:{prompt.id}:{prompt.attempts}", message, now)


async def refused(shop: Workshop, tables: Tables, prompt: Prompt, error: DocsApiError) -> None:
    """The service said no: people are told why, and what to do. Its use is free for who waits."""
    now, project = shop.clock(), (await tables.jobs.known(prompt.job)).project
    await tables.limits.lock(project)
    await tables.prompts.change(
        prompt.id, owner=shop.owner, was=PromptState.SENDING, state=PromptState.REFUSED, sent_at=None, **_FREE
    )
    await tables.prompts.move_up(project, now)
    problem = _problem(prompt, error)
    if prompt.kind is PromptKind.START:
        await not_started(tables, prompt, problem, now)
        return
    values: dict[str, Any] = dict(OUT_OF_QUEUE)
    if isinstance(error, NotFound):
        values |= {"state": JobState.GONE, "poll_at": None, "ended_at": now}
    await tables.jobs.change(prompt.job, **values)
    job = await redraw_root(tables, prompt.job, now)
    message = say.follow_up_refused(prompt.asked_by, problem)
    await reply(tables, job, f"refused:{prompt.id}", message, now)


async def not_started(tables: Tables, prompt: Prompt, problem: Problem, now: datetime) -> None:
    """The job never came to be; what was asked on top of it falls with it."""
    await tables.jobs.change(
        prompt.job,
        state=JobState.REFUSED,
        problem=problem.title,
        ended_at=now,
        **OUT_OF_QUEUE,
    )
    job = await redraw_root(tables, prompt.job, now)
    await reply(tables, job, f"refused:{prompt.id}", say.refused(job, problem), now)
    await drop_follow_ups(tables, job, now)


async def drop_follow_ups(tables: Tables, job: TrackedJob, now: datetime) -> None:
    """Follow-ups that wait for a job that will never start are given up, and said to be."""
    for waiting in await tables.prompts.unsettled_of(job.number):
        if waiting.kind is PromptKind.FOLLOW_UP:
            await tables.prompts.change(waiting.id, state=PromptState.REFUSED, **_FREE)
            message = say.follow_up_refused(waiting.asked_by, problems.job_not_started())
            await reply(tables, job, f"refused:{waiting.id}", message, now)


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
