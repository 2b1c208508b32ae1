"""The round that sends prompts to the docs service: at most once each, within the shared limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

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
from bot.model import (
    ProjectId,
    Prompt,
    PromptKind,
    PromptState,
    Queued,
    QueueWhy,
    Use,
    back_off_seconds,
    fair_order,
    frees_at,
    remembered_since,
    still_counted,
)
from bot.store import LeaseLost, Tables
from bot.work.jobs import transitions
from bot.work.jobs.key_health import hold_back, is_refused, key_refused
from bot.work.jobs.thread_messages import redraw_root
from bot.work.retry import all_of, kept
from bot.work.worker_context import Workshop

log = structlog.get_logger(__name__)
_AT_ONCE = 10
_MOVED_SECONDS = 120.0
"""A wait that changed by less is not shown anew."""
_SHOWN_PLACES = 5
"""Who is so far in front sees every step."""
_KEY_PATIENCE = timedelta(hours=24)
"""So long a prompt waits for a key that is refused; then it is given up and explained."""
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
        # Jobs are locked in one order by all who change several.
        for prompt in sorted(left, key=lambda each: each.job):
            await transitions.in_doubt(shop, tables, prompt)
    if left:
        shop.count("prompts", "in_doubt")
        shop.wake()
    return len(left)


async def _submit_project(shop: Workshop, project: ProjectId) -> int:
    """Within the limit, in a fair order; who has to wait is told in which place and until when."""
    now = shop.clock()
    async with shop.registry.transaction() as tables:
        await tables.limits.lock(project)
        waiting = await tables.prompts.limit_queue(project, now)
        remembered = await tables.prompts.uses(project, now, remembered_since(waiting, now))
        uses, queue = still_counted(remembered, now), fair_order(waiting, remembered)
        held_until = await tables.limits.held_until(project, now)
        free = 0 if held_until else max(0, shop.uses_an_hour - len(uses))
        # A key that was refused is tried with one prompt, not with all.
        at_once = 1 if await is_refused(tables, project) else _AT_ONCE
        prompts = await tables.prompts.claim_these(
            shop.claimer(), [each.id for each in queue[: min(free, at_once)]]
        )
        await _give_places(shop, tables, queue[free:], uses, held_until)
    await all_of(*(_submit(shop, prompt) for prompt in prompts))
    return len(prompts)


async def _give_places(
    shop: Workshop,
    tables: Tables,
    queue: Sequence[Queued],
    uses: Sequence[Use],
    held_until: datetime | None,
) -> None:
    """Each waits for the use that frees for it; what changed little is not written anew."""
    now = shop.clock()
    # Where only the service's word keeps them back, our count lets so many go when its time is over.
    room = max(0, shop.uses_an_hour - len(uses)) if held_until else 0
    moved: list[tuple[Queued, int, datetime]] = []
    for place, waiting in enumerate(queue, 1):
        frees = frees_at(uses, shop.uses_an_hour, place - room) if place > room else held_until
        frees = frees or shop.after(_UNKNOWN_WAIT_SECONDS)
        until = max(frees, held_until or frees, shop.after(1.0))
        if waiting.place != place or _is_far(until, waiting.due_at) or waiting.due_at <= now:
            moved.append((waiting, place, until))
    for waiting, place, until in sorted(moved, key=lambda each: each[0].job):
        await tables.prompts.change(waiting.id, was=PromptState.WAITING, due_at=until, place=place)
        await tables.jobs.change(waiting.job, queue_until=until, queue_place=place, queue_why=QueueWhy.LIMIT)
        if waiting.place is None or _is_far(until, waiting.due_at) or place <= _SHOWN_PLACES:
            await redraw_root(tables, waiting.job, now)
        if waiting.place is None:
            shop.count("prompts", "queued")
    if queue:
        shop.wake()


def _is_far(until: datetime, was: datetime) -> bool:
    return abs((until - was).total_seconds()) >= _MOVED_SECONDS


async def _submit(shop: Workshop, prompt: Prompt) -> None:
    try:
        project, service_id = await _mark_sending(shop, prompt)
        # As the row is now: whoever finds it left behind counts the same tries.
        await _call(shop, replace(prompt, attempts=prompt.attempts + 1), project, service_id)
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
            place=None,
            # The call has the whole lease, however long it took to come here.
            claimed_until=shop.claimer().until,
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
        await kept(partial(_settle_error, shop, prompt, project, error))
        return
    await kept(lambda: _settle_accepted(shop, prompt, answer))


async def _settle_accepted(shop: Workshop, prompt: Prompt, answer: Job) -> None:
    async with shop.registry.transaction() as tables:
        await transitions.accepted(shop, tables, prompt, answer)
    shop.count("prompts", "sent")
    log.info("prompt_sent", prompt=prompt.id, job=prompt.job, kind=prompt.kind)


async def _settle_error(shop: Workshop, prompt: Prompt, project: ProjectId, error: DocsApiError) -> None:
    async with shop.registry.transaction() as tables:
        await _write_error(shop, tables, prompt, project, error)
    shop.count("prompts", type(error).__name__.lower())


async def _write_error(
    shop: Workshop, tables: Tables, prompt: Prompt, project: ProjectId, error: DocsApiError
) -> None:
    """By kind of error: wait, ask people, or explain. The order matters: the tree has broader parents."""
    match error:
        case RateLimited():
            await _limit_reached(shop, tables, prompt, project, error.retry_after_seconds)
        case Unavailable(sent=False):
            await _try_later(shop, tables, prompt)
        case Unauthorized() | Forbidden() if shop.clock() - prompt.asked_at < _KEY_PATIENCE:
            until = await key_refused(shop, tables, project, error, wrote=True)
            await transitions.back_to_waiting(shop, tables, prompt, shop.clock())
            await hold_back(shop, tables, project, until)
        case Unauthorized() | Forbidden() | NotFound() | Rejected() | InvalidArgument():
            await transitions.refused(shop, tables, prompt, error)
        case _:
            await transitions.in_doubt(shop, tables, prompt)


async def _limit_reached(
    shop: Workshop, tables: Tables, prompt: Prompt, project: ProjectId, retry_after_seconds: float | None
) -> None:
    """The service's word counts more than our own count."""
    now = shop.clock()
    await tables.limits.lock(project)
    await transitions.back_to_waiting(shop, tables, prompt, now)
    if retry_after_seconds is not None:
        until = shop.after(max(retry_after_seconds, 1.0))
    else:
        frees = frees_at(await tables.prompts.uses(project, now), 0, 1)
        until = min(frees or shop.after(_UNKNOWN_WAIT_SECONDS), shop.after(15 * _UNKNOWN_WAIT_SECONDS))
    await tables.limits.hold(project, max(until, shop.after(1.0)))


async def _try_later(shop: Workshop, tables: Tables, prompt: Prompt) -> None:
    """The service was not reached at all: nothing was spent, and trying again is safe."""
    due_at = shop.after(back_off_seconds(prompt.attempts, shop.chance()))
    await transitions.back_to_waiting(shop, tables, prompt, due_at)
    if prompt.attempts >= 3:
        await tables.jobs.change(prompt.job, queue_until=due_at, queue_place=None, queue_why=QueueWhy.SERVICE)
        await redraw_root(tables, prompt.job, shop.clock())
