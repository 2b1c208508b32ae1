"""The round that sends prompts to the docs service: at most once each, within the shared limit."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import structlog

from bot.docs_api import (
    DocsApiError,
    Forbidden,
    InvalidArgument,
    Job,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    Unavailable,
)
from bot.model import ProjectId, Prompt, PromptKind, PromptState, back_off_seconds
from bot.registry import LeaseLost, Tables
from bot.work import settle
from bot.work.tell import redraw_root
from bot.work.workshop import Workshop

log = structlog.get_logger(__name__)
_AT_ONCE = 10
_WINDOW = timedelta(hours=1)
_UNKNOWN_WAIT_SECONDS = 60.0


async def submit_round(shop: Workshop) -> int:
    """Send what waits and may go; say of what was left behind that nobody knows whether it arrived."""
    handled = await _settle_abandoned(shop)
    async with shop.registry.look() as tables:
        projects = await tables.prompts.waiting_projects(shop.clock())
    for project in projects:
        handled += await _submit_project(shop, project)
    return handled


async def _settle_abandoned(shop: Workshop) -> int:
    async with shop.registry.transaction() as tables:
        left = await tables.prompts.claim_abandoned(shop.claimer(), _AT_ONCE)
        for prompt in left:
            await settle.in_doubt(shop, tables, prompt)
    if left:
        shop.count("prompts", "in_doubt")
        shop.wake()
    return len(left)


async def _submit_project(shop: Workshop, project: ProjectId) -> int:
    now = shop.clock()
    async with shop.registry.transaction() as tables:
        used, oldest_at = await tables.prompts.uses_since(project, now - _WINDOW)
        free = shop.uses_an_hour - used
        if free <= 0 and oldest_at is not None:
            await postpone(shop, tables, project, oldest_at + _WINDOW + timedelta(seconds=1))
            return 0
        prompts = await tables.prompts.claim_waiting(shop.claimer(), project, min(free, _AT_ONCE))
    await asyncio.gather(*(_submit(shop, prompt) for prompt in prompts))
    return len(prompts)


async def postpone(shop: Workshop, tables: Tables, project: ProjectId, until: datetime) -> None:
    """Let everything that waits for this project's shared limit wait until then, and show it."""
    now = shop.clock()
    for prompt in await tables.prompts.due(project, now):
        await tables.prompts.change(prompt.id, due_at=until, claimed_by=None, claimed_until=None)
        await tables.jobs.change(prompt.job, queue_until=until)
        await redraw_root(tables, prompt.job, now)
    shop.count("prompts", "postponed")
    shop.wake()


async def _submit(shop: Workshop, prompt: Prompt) -> None:
    try:
        project, service_id = await _mark_sending(shop, prompt)
        await _call(shop, prompt, project, service_id)
    except LeaseLost:
        # Withdrawn by a person, or taken over by another process: theirs is the last word.
        log.info("prompt_taken_over", prompt=prompt.id)
        return
    shop.wake()


async def _mark_sending(shop: Workshop, prompt: Prompt) -> tuple[ProjectId, str | None]:
    async with shop.registry.transaction() as tables:
        await tables.prompts.change(
            prompt.id,
            owner=shop.owner,
            was=PromptState.WAITING,
            state=PromptState.SENDING,
            sent_at=shop.clock(),
            attempts=prompt.attempts + 1,
        )
        job = await tables.jobs.known(prompt.job)
    return job.project, job.service_id


async def _call(shop: Workshop, prompt: Prompt, project: ProjectId, service_id: str | None) -> None:
    text = prompt.text or ""
    try:
        if prompt.kind is PromptKind.START:
            answer = await shop.docs.create_job(project, text)
        elif service_id is None:
            raise LookupError(f"a follow-up for job {prompt.job}, which has not started")
        else:
            answer = await shop.docs.send_follow_up(project, service_id, text)
    except DocsApiError as error:
        log.warning("prompt_not_taken", prompt=prompt.id, job=prompt.job, reason=type(error).__name__)
        async with shop.registry.transaction() as tables:
            await _settle_error(shop, tables, prompt, project, error)
        return
    await _settle_accepted(shop, prompt, answer)


async def _settle_accepted(shop: Workshop, prompt: Prompt, answer: Job) -> None:
    async with shop.registry.transaction() as tables:
        await settle.accepted(shop, tables, prompt, answer)
    shop.count("prompts", "sent")
    log.info("prompt_sent", prompt=prompt.id, job=prompt.job, kind=prompt.kind)


async def _settle_error(
    shop: Workshop, tables: Tables, prompt: Prompt, project: ProjectId, error: DocsApiError
) -> None:
    """By kind of error: wait, ask people, or explain. The order matters: the tree has broader parents."""
    match error:
        case RateLimited():
            await _limit_reached(shop, tables, prompt, project, error.retry_after_seconds)
        case Unavailable(sent=False):
            await _try_later(shop, tables, prompt)
        case Unauthorized() | Forbidden() | NotFound() | Rejected() | InvalidArgument():
            await settle.refused(shop, tables, prompt, error)
        case _:
            await settle.in_doubt(shop, tables, prompt)
    shop.count("prompts", type(error).__name__.lower())


async def _limit_reached(
    shop: Workshop, tables: Tables, prompt: Prompt, project: ProjectId, retry_after_seconds: float | None
) -> None:
    """The service's word counts more than our own count."""
    await settle.back_to_waiting(shop, tables, prompt, shop.clock())
    if retry_after_seconds is not None:
        until = shop.after(max(retry_after_seconds, 1.0))
    else:
        _, oldest_at = await tables.prompts.uses_since(project, shop.clock() - _WINDOW)
        freed_at = oldest_at + _WINDOW if oldest_at else shop.after(_UNKNOWN_WAIT_SECONDS)
        until = min(freed_at, shop.after(15 * _UNKNOWN_WAIT_SECONDS))
    await postpone(shop, tables, project, until)


async def _try_later(shop: Workshop, tables: Tables, prompt: Prompt) -> None:
    """The service was not reached at all: nothing was spent, and trying again is safe."""
    attempts = prompt.attempts + 1
    due_at = shop.after(back_off_seconds(attempts, shop.chance()))
    await settle.back_to_waiting(shop, tables, prompt, due_at)
    if attempts >= 3:
        await tables.jobs.change(prompt.job, queue_until=due_at)
        await redraw_root(tables, prompt.job, shop.clock())
