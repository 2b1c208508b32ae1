"""The worker that sends prompts to the docs service: each at most once, within the hourly quota."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.access.obstacles import find_exclusion
from bot.context import WorkerContext, make_claim
from bot.docs_api import (
    DocsApiError,
    Forbidden,
    InvalidArgument,
    Job,
    NotConfigured,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    Unavailable,
)
from bot.engine import back_off_seconds, unless_taken_over
from bot.ids import ProjectId
from bot.jobs.messages import problems
from bot.jobs.messages.agent_text import REPLY_NOTE
from bot.jobs.model.jobs import TrackedJob, WaitReason
from bot.jobs.model.prompts import Prompt, PromptKind
from bot.jobs.model.quota import (
    QUOTA_PERIOD,
    UNKNOWN_WAIT,
    QueuedPrompt,
    Use,
    frees_at,
    list_counted_uses,
    next_free_at,
    sort_fairly,
    sort_least_tried_first,
    split_by_turn,
    uses_count_since,
)
from bot.jobs.prompt_outcomes import (
    back_to_waiting,
    settle_accepted,
    settle_refused,
    settle_unconfirmed,
)
from bot.jobs.service_health import (
    add_known_wait,
    failing_since,
    is_about_service,
    is_refused,
    note_service_failure,
    postpone_prompts,
    settle_refused_key,
)
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import Quota
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.sending import Sending
from bot.jobs.thread import show_wait
from bot.logs import log_reference, reason_of
from bot.messages.quotations import join_for_agent
from bot.store import LeaseLost, Transaction

log = structlog.get_logger(__name__)
_BATCH_SIZE = 10
_MOVED = timedelta(minutes=2)
"""A time that changes by less is not shown anew."""
_CALL_SHARE = 1 / 3
"""The share of a lease that the slowest call to the docs service may take."""
_MAX_ATTEMPTS = 10
"""Attempts, over almost an hour, of a follow-up that gets a 404 though its job exists."""
_KEY_RETRY = timedelta(hours=24)
"""Maximum wait of a prompt while the key is refused. Then it is refused, with a message."""


async def claim_prompts(
    context: WorkerContext, _limit: int, full: Collection[str] = ()
) -> Sequence[Prompt]:
    """Claim the prompts that the quota of each project allows, and mark them *sending*."""
    now = context.clock()
    projects = await context.store.read(lambda tx: Prompts(tx).waiting_projects(now))
    claimed: list[Prompt] = []
    for project in projects:
        if project in full:
            continue
        prompts, has_moved = await context.store.write(partial(_claim_free, context, project))
        claimed += prompts
        if has_moved:
            context.wake()
    return claimed


def _claim_free(
    context: WorkerContext, project: ProjectId, tx: Transaction
) -> tuple[Sequence[Prompt], bool]:
    """Claim a prompt for each free use. Return the prompts, and whether the other ones moved up."""
    now = context.clock()
    waiting = Prompts(tx).quota_queue(project, now)
    remembered = Prompts(tx).uses(project, now, uses_count_since(waiting, now))
    uses = list_counted_uses(remembered, now)
    queue = sort_fairly(waiting, remembered)
    held_until = Quota(tx).exhausted_until(project, now)
    at_once = _BATCH_SIZE
    if is_refused(tx, project):
        # One prompt tries the refused key, not all of them.
        at_once = 1
        queue = sort_least_tried_first(queue)
    going, rest = split_by_turn(queue, uses, context.settings.uses_an_hour, held_until)
    # A prompt that has waited for long is verified again: its messages are read, and its author is
    # checked.
    verified_since = context.after(-context.timeouts.verified_seconds)
    fresh = [item for item in going if (item.verified_at or item.asked_at) >= verified_since]
    stale = [item.id for item in going if item not in fresh]
    if stale:
        Prompts(tx).verify_again(stale, now)
    prompts = Prompts(tx).begin_sending(context.claimer(), [item.id for item in fresh[:at_once]])
    if not rest:
        return prompts, fresh != going
    counted = [*uses, *(Use(item.asked_by, now) for item in going)]
    next_at = next_free_at(counted, context.settings.uses_an_hour, now, held_until)
    return prompts, _set_times(context, tx, rest, next_at)


def _set_times(
    context: WorkerContext, tx: Transaction, rest: Sequence[QueuedPrompt], next_at: datetime
) -> bool:
    """Set the due time of prompts that wait, and show it. Return whether any was set.

    A time that moves by less than two minutes is not shown anew: each use that frees moves all of
    them.
    """
    now = context.clock()
    has_moved = False
    until = max(next_at, context.after(1.0))
    for waiting in rest:
        last = waiting.displayed_until or now
        is_shown = not waiting.is_awaiting_quota or abs(until - last) >= _MOVED
        if not is_shown and waiting.due_at > now:
            continue
        has_moved = True
        Prompts(tx).put_in_queue(waiting.id, min(until, now + QUOTA_PERIOD))
        if is_shown:
            show_wait(tx, waiting.job, until, WaitReason.LIMIT)
    return has_moved


claim_abandoned = make_claim(lambda tx, claimer, limit: Prompts(tx).claim_abandoned(claimer, limit))
"""Claims the prompts that a process was sending when it died."""


async def settle_abandoned(context: WorkerContext, prompt: Prompt) -> None:
    """Ask in the thread about a prompt that the service may or may not have."""
    with unless_taken_over("prompt", prompt.id):
        await context.settle(partial(settle_unconfirmed, context, prompt=prompt))
        context.wake()


async def submit(context: WorkerContext, prompt: Prompt) -> None:
    """Send a prompt that is marked *sending*, and write the outcome."""
    with log_reference(prompt.key), unless_taken_over("prompt", prompt.id):
        await _send(context, prompt)
        context.wake()


async def _send(context: WorkerContext, prompt: Prompt) -> None:
    job, is_off = await context.store.read(partial(_find_job, prompt))
    if is_off:
        # It was claimed just before sending was switched off.
        await context.settle(partial(_keep_back, context, prompt))
        return
    if await find_exclusion(context, prompt.origin, is_private=True) is not None:
        log.info("author_may_no_longer", prompt=prompt.id)
        await context.settle(partial(_verify_prompt, context, prompt))
        return
    needed_seconds = context.timeouts.lease_seconds * _CALL_SHARE
    if prompt.claimed_until is not None and context.after(needed_seconds) > prompt.claimed_until:
        # The process was suspended, and another one may have taken the prompt for abandoned.
        log.warning("prompt_not_sent_in_time", prompt=prompt.id)
        await context.settle(lambda tx: back_to_waiting(context, tx, prompt, context.clock()))
        return
    try:
        answer = await _call(context, job, prompt)
    except DocsApiError as error:
        log.warning(
            "prompt_not_accepted", prompt=prompt.id, job=prompt.job, reason=reason_of(error)
        )
        knows = isinstance(error, NotFound) and await _is_job_known(context, job)
        write = partial(_write_error, context, prompt, job.project, error, knows_job=knows)
        await context.settle(write)
        return
    try:
        await context.settle(lambda tx: settle_accepted(context, tx, prompt, answer))
    except LeaseLost:
        log.warning("answer_came_too_late", prompt=prompt.id, job=prompt.job, service_job=answer.id)
        raise
    log.info(
        "prompt_sent", prompt=prompt.id, job=prompt.job, kind=prompt.kind, service_job=answer.id
    )


def _find_job(prompt: Prompt, tx: Transaction) -> tuple[TrackedJob, bool]:
    """Return the job of a prompt, and whether sending is switched off."""
    return Jobs(tx).get_or_raise(prompt.job), Sending(tx).stop() is not None


def _keep_back(context: WorkerContext, prompt: Prompt, tx: Transaction) -> None:
    """Let a prompt wait that was not sent, because sending is switched off."""
    now = context.clock()
    back_to_waiting(context, tx, prompt, now)
    job = Jobs(tx).get_or_raise(prompt.job)
    Jobs(tx).save(job, add_known_wait(tx, job, now))


def _verify_prompt(context: WorkerContext, prompt: Prompt, tx: Transaction) -> None:
    """Let a prompt that was not sent be verified, which refuses it to its author."""
    now = context.clock()
    back_to_waiting(context, tx, prompt, now)
    Prompts(tx).verify_again([prompt.id], now)


async def _call(context: WorkerContext, job: TrackedJob, prompt: Prompt) -> Job:
    """Create a job of a prompt at the docs service, or send it as a follow-up.

    With its text go its attachments, the mark, and in a reply the sentence about its place.
    """
    is_start = prompt.kind is PromptKind.START
    parts = [prompt.text or "", prompt.attachments or ""]
    if not is_start and prompt.message_ts is not None:
        parts.append(REPLY_NOTE)
    is_about_readers = is_start and job.gap is not None
    text = join_for_agent(parts, has_quotes=is_about_readers)
    if is_start:
        return await context.docs.create_job(job.project, text)
    if job.service_id is None:
        raise LookupError(f"a follow-up for job {prompt.job}, which has not started")
    return await context.docs.send_follow_up(job.project, job.service_id, text)


async def _is_job_known(context: WorkerContext, job: TrackedJob) -> bool:
    """Return whether a job may exist at the service although a call got a 404."""
    if job.service_id is None:
        return False
    try:
        await context.docs.get_job(job.project, job.service_id)
    except DocsApiError as error:
        return not isinstance(error, NotFound)
    return True


def _write_error(
    context: WorkerContext,
    prompt: Prompt,
    project: ProjectId,
    error: DocsApiError,
    tx: Transaction,
    *,
    knows_job: bool,
) -> None:
    """Write an error: wait, mark unconfirmed, or refuse.

    Some cases are base classes: their order matters.

    ``knows_job``: the service may know the job that a follow-up got a 404 for.
    """
    if isinstance(error, Unavailable) and (
        prompt.kind is PromptKind.START or is_about_service(error)
    ):
        # The prompts that wait would fare no better.
        note_service_failure(context, tx, project, error)
    match error:
        case RateLimited():
            _postpone_for_quota(context, tx, prompt, project, error)
        case Unavailable(sent=False):
            _retry_unreached(context, tx, prompt, project)
        case Unauthorized() | Forbidden():
            _write_key_problem(context, tx, prompt, project, error)
        case NotFound() if knows_job:
            _retry_missing(context, tx, prompt, error)
        case NotConfigured() | NotFound() | Rejected() | InvalidArgument():
            settle_refused(context, tx, prompt, error)
        case _:
            settle_unconfirmed(context, tx, prompt, answered=error.status_code is not None)


def _retry_unreached(
    context: WorkerContext, tx: Transaction, prompt: Prompt, project: ProjectId
) -> None:
    """Send a prompt later: the service was not reached, so no use was spent and that is safe."""
    due_at = context.after(back_off_seconds(prompt.attempts, context.chance()))
    back_to_waiting(context, tx, prompt, due_at)
    if failing_since(tx, project, context.clock()) is not None:
        show_wait(tx, prompt.job, due_at, WaitReason.SERVICE)


def _write_key_problem(
    context: WorkerContext,
    tx: Transaction,
    prompt: Prompt,
    project: ProjectId,
    error: Unauthorized | Forbidden,
) -> None:
    """Let a prompt wait whose key was refused; refuse it after a day, or if others are taken."""
    if prompt.sent_at and Prompts(tx).took_any_since(project, prompt.sent_at):
        # The service has taken another prompt since it first refused this one.
        problem = problems.refuse_prompt_alone(error.status_code)
        settle_refused(context, tx, prompt, error, problem)
        return
    if context.clock() - prompt.asked_at >= _KEY_RETRY:
        settle_refused(context, tx, prompt, error)
        return
    until = settle_refused_key(context, tx, project, error, wrote=True)
    back_to_waiting(context, tx, prompt, until, is_refused=True)
    postpone_prompts(context, tx, project, until, prompt.job)


def _retry_missing(
    context: WorkerContext, tx: Transaction, prompt: Prompt, error: NotFound
) -> None:
    """Send a follow-up later that got a 404 though its job exists; refuse it after an hour."""
    if prompt.attempts >= _MAX_ATTEMPTS:
        settle_refused(context, tx, prompt, error, problems.FOLLOW_UP_NOT_TAKEN)
        return
    wait_seconds = back_off_seconds(prompt.attempts, context.chance(), first=30.0, cap=600.0)
    due_at = context.after(wait_seconds)
    back_to_waiting(context, tx, prompt, due_at)
    show_wait(tx, prompt.job, due_at, None)


def _postpone_for_quota(
    context: WorkerContext, tx: Transaction, prompt: Prompt, project: ProjectId, error: RateLimited
) -> None:
    """Postpone a prompt after a 429, and the project's queue with it.

    The service's count overrides ours.
    """
    now = context.clock()
    back_to_waiting(context, tx, prompt, now)
    if error.retry_after_seconds is not None:
        until = context.after(error.retry_after_seconds)
    else:
        frees = frees_at(Prompts(tx).uses(project, now), 0)
        until = min(frees or now + UNKNOWN_WAIT, now + 15 * UNKNOWN_WAIT)
    Quota(tx).mark_exhausted(project, max(until, context.after(1.0)))
