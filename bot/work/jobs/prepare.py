"""The worker that checks access for new prompts, resolves the names in them and opens their threads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import structlog

from bot import slack_text
from bot.messages import job_answers
from bot.messages import jobs as say
from bot.messages.plain_text import visible
from bot.model import (
    Access,
    ChannelId,
    DeliveryKind,
    JobState,
    NewDelivery,
    Prompt,
    PromptKind,
    PromptState,
    TrackedJob,
    UserId,
    lifecycle,
)
from bot.store import LeaseLost, Transaction
from bot.work.access.check import decide
from bot.work.access.decision import AskSlack, Decision
from bot.work.access.denied import refuse_named, refuse_prompt, tell_named
from bot.work.context import WorkerContext
from bot.work.jobs.thread_messages import reply
from bot.work.jobs.transitions import drop_follow_ups, tell_behind_unconfirmed
from bot.work.ports import SlackError
from bot.work.retry import run_as_claimed

log = structlog.get_logger(__name__)
Id = TypeVar("Id", bound=str)
_AT_ONCE = 20
_MOST_RUNNING = 200
"""Maximum prompts that wait for Slack at the same moment."""
_MOST_NAMES = 20
"""Maximum names that are looked up for a prompt. The others stay ids."""
_UNDECIDED_FOR = timedelta(minutes=10)
"""How long access stays undecided while Slack cannot tell. Then it is denied."""
_RETRY_SECONDS = 3.0


async def prepare_prompts(context: WorkerContext) -> int:
    """Turn stored requests into prompts that wait to be sent, and add their faces to the outbox.

    A prompt whose look-ups in Slack are slow delays no other prompt. Return how many were claimed.
    """

    async def claim(running: int) -> Sequence[Prompt]:
        limit = min(_AT_ONCE, _MOST_RUNNING - running)
        if limit <= 0:
            return ()
        return await context.store.write(lambda tx: tx.prompts.claim_new(context.claimer(), limit))

    return await run_as_claimed(claim, partial(_prepare, context))


async def _prepare(context: WorkerContext, prompt: Prompt) -> None:
    decision = await _decide(context, prompt)
    text = await _plain_text(context, prompt) if decision.may else ""

    def settle(tx: Transaction) -> None:
        if decision.may is None:
            _decide_later(context, tx, prompt)
        elif decision.denied is not None:
            _refuse(context, tx, prompt, decision.denied)
        elif not decision.may:
            refuse_named(context, tx, prompt, job_answers.no_such_job(prompt.named or ""))
        elif prompt.named is not None:
            _write_named(context, tx, prompt, text)
        else:
            _write(context, tx, prompt, text)

    try:
        await context.store.write(settle)
    except LeaseLost:
        log.info("prompt_taken_over", prompt=prompt.id)
        return
    context.wake()


async def _decide(context: WorkerContext, prompt: Prompt) -> Decision:
    """Decide about the sender of a prompt. The decision stays open for ten minutes if Slack cannot tell.

    Naming a job does not prove access: a sender who named one may be outside its channel.
    """
    is_late = context.clock() - prompt.asked_at > _UNDECIDED_FOR
    ask = AskSlack.FINAL if is_late else AskSlack.TRY
    is_named = prompt.named is not None
    job = await context.store.read(lambda tx: tx.jobs.known(prompt.job)) if is_named else None
    return await decide(context, prompt.asked_by, channel=prompt.channel, job=job, ask=ask)


def _refuse(context: WorkerContext, tx: Transaction, prompt: Prompt, access: Access) -> None:
    """Refuse a prompt. No thread shows a refused job, so its requester's follow-ups fall without a word."""
    refuse_prompt(context, tx, prompt, access)
    if prompt.kind is PromptKind.START:
        drop_follow_ups(tx, tx.jobs.known(prompt.job), context.clock(), is_told=False)


def _decide_later(context: WorkerContext, tx: Transaction, prompt: Prompt) -> None:
    due_at = context.after(_RETRY_SECONDS)
    tx.prompts.put_back(prompt.id, context.owner, was=PromptState.NEW, due_at=due_at)


async def _plain_text(context: WorkerContext, prompt: Prompt) -> str:
    """Return the text for the agent, without hidden characters: it gets what its thread shows."""
    users, channels = await _names(context, prompt.raw)
    return visible(slack_text.to_plain(prompt.raw, users, channels))


async def _names(context: WorkerContext, raw: str) -> tuple[dict[UserId, str], dict[ChannelId, str]]:
    """Return the names that a text mentions by id: the first 20, as far as Slack returns them in 5 s."""
    needed, messenger = slack_text.unresolved_names(raw), context.messenger
    first = set(sorted((*needed.users, *needed.channels), key=raw.find)[:_MOST_NAMES])
    users, channels = dict[UserId, str](), dict[ChannelId, str]()
    with suppress(TimeoutError):
        async with asyncio.timeout(context.timeouts.names_seconds), asyncio.TaskGroup() as group:
            for user in needed.users & first:
                group.create_task(_look_up(context, user, messenger.user_name, users))
            for channel in needed.channels & first:
                group.create_task(_look_up(context, channel, messenger.channel_name, channels))
    return users, channels


async def _look_up(
    context: WorkerContext, each: Id, look_up: Callable[[Id], Awaitable[str]], known: dict[Id, str]
) -> None:
    """Add a name to ``known``. An id without a name does not stop the job."""
    try:
        known[each] = await look_up(each)
    except SlackError as error:
        if context.log_once.first("name", str(error)):
            log.warning("name_not_told", id=each, reason=str(error))


def _write_named(context: WorkerContext, tx: Transaction, prompt: Prompt, text: str) -> None:
    """Write a follow-up whose sender turned out to have access, unless the job has been given up."""
    # The job is locked before the prompt, in the same order as in ``transitions.drop_follow_ups``.
    job = tx.jobs.get_locked(prompt.job)
    if job is not None and job.state in (JobState.REFUSED, JobState.WITHDRAWN):
        refuse_named(context, tx, prompt, job_answers.cannot_follow_up(job))
        return
    _write(context, tx, prompt, text)
    taken = job_answers.follow_up_taken(tx.jobs.known(prompt.job), guessed=False)
    tell_named(context, tx, prompt, taken)


def _write(context: WorkerContext, tx: Transaction, prompt: Prompt, text: str) -> None:
    tx.prompts.apply(prompt.id, lifecycle.prompt_prepared(prompt, text), owner=context.owner)
    now = context.clock()
    if prompt.kind is PromptKind.START:
        tx.jobs.update(prompt.job, text=text)
    job = tx.jobs.known(prompt.job)
    if prompt.kind is PromptKind.START:
        _open_thread(tx, job, now)
    else:
        _show_follow_up(tx, job, prompt, text, now)
        tell_behind_unconfirmed(tx, job, prompt, now)


def _open_thread(tx: Transaction, job: TrackedJob, now: datetime) -> None:
    key, face = f"job:{job.number}:root", say.face(job, now)
    tx.outbox.add(NewDelivery.in_thread(key, DeliveryKind.ROOT, job, face), now)
    for part, message in enumerate(say.full_prompt(job)):
        reply(tx, job, f"prompt:{part}", message, now)


def _show_follow_up(tx: Transaction, job: TrackedJob, prompt: Prompt, text: str, now: datetime) -> None:
    if prompt.message_ts is None:
        message = say.follow_up_by_command(job, text, prompt.asked_by)
        reply(tx, job, f"follow_up:{prompt.id}", message, now)
        return
    seen = NewDelivery(
        f"prompt:{prompt.id}:seen",
        DeliveryKind.REACTION,
        job.channel,
        job=job.number,
        message_ts=prompt.message_ts,
        reaction="eyes",
    )
    tx.outbox.add(seen, now)
