"""The round that makes new prompts readable and opens their threads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from typing import TypeVar

import structlog

from bot import slack_text
from bot.messages import jobs as say
from bot.model import Access, DeliveryKind, NewDelivery, Prompt, PromptKind, PromptState, TrackedJob
from bot.store import LeaseLost, Transaction
from bot.work.access.check import check_access
from bot.work.access.denied import deny
from bot.work.context import WorkerContext
from bot.work.jobs.thread_messages import reply
from bot.work.ports import SlackError
from bot.work.retry import run_all

log = structlog.get_logger(__name__)
Id = TypeVar("Id", bound=str)
_AT_ONCE = 20
_SLACK_PATIENCE = timedelta(minutes=10)
_RETRY_SECONDS = 3.0


async def prepare_prompts(context: WorkerContext) -> int:
    """Turn stored requests into prompts that wait to be sent, and write their root messages."""
    async with context.store.transaction() as tx:
        prompts = await tx.prompts.claim_new(context.claimer(), _AT_ONCE)
    await run_all(*(_prepare(context, prompt) for prompt in prompts))
    return len(prompts)


async def _prepare(context: WorkerContext, prompt: Prompt) -> None:
    access = await _access(context, prompt)
    text = await _readable(context, prompt) if access and access.may else ""
    try:
        async with context.store.transaction() as tx:
            if access is None:
                await _look_again(context, tx, prompt)
            elif access.may:
                await _write(context, tx, prompt, text)
            else:
                await deny(context, tx, prompt, access)
    except LeaseLost:
        log.info("prompt_taken_over", prompt=prompt.id)
        return
    context.wake()


async def _access(context: WorkerContext, prompt: Prompt) -> Access | None:
    """Whether who asked may; None when Slack cannot tell just now and there is time to ask again."""
    if prompt.channel is not None and not context.access_policy.allows_channel(prompt.channel):
        return Access.CHANNEL
    try:
        return await check_access(context, prompt.asked_by)
    except SlackError as error:
        late = context.clock() - prompt.asked_at > _SLACK_PATIENCE
        log.warning("standing_not_told", user=prompt.asked_by, reason=str(error))
        return Access.UNTOLD if late else None


async def _look_again(context: WorkerContext, tx: Transaction, prompt: Prompt) -> None:
    await tx.prompts.change(
        prompt.id,
        owner=context.owner,
        was=PromptState.NEW,
        due_at=context.after(_RETRY_SECONDS),
        claimed_by=None,
        claimed_until=None,
    )


async def _readable(context: WorkerContext, prompt: Prompt) -> str:
    needed = slack_text.names_needed(prompt.raw)
    users = await _names(context, needed.users, context.messenger.user_name)
    channels = await _names(context, needed.channels, context.messenger.channel_name)
    return slack_text.to_plain(prompt.raw, users, channels)


async def _names(
    context: WorkerContext, ids: Iterable[Id], look_up: Callable[[Id], Awaitable[str]]
) -> dict[Id, str]:
    """The names that Slack tells us. One it does not tell is no reason to stop a job."""
    known: dict[Id, str] = {}
    for each in ids:
        try:
            known[each] = await look_up(each)
        except SlackError as error:
            if context.log_once.first("name", str(error)):
                log.warning("name_not_told", id=each, reason=str(error))
    return known


async def _write(context: WorkerContext, tx: Transaction, prompt: Prompt, text: str) -> None:
    await tx.prompts.change(
        prompt.id,
        owner=context.owner,
        was=PromptState.NEW,
        state=PromptState.WAITING,
        text=text,
        claimed_by=None,
        claimed_until=None,
    )
    now = context.clock()
    if prompt.kind is PromptKind.START:
        await tx.jobs.change(prompt.job, text=text)
    job = await tx.jobs.known(prompt.job)
    if prompt.kind is PromptKind.START:
        await _open_thread(tx, job, now)
    else:
        await _show_follow_up(tx, job, prompt, text, now)


async def _open_thread(tx: Transaction, job: TrackedJob, now: datetime) -> None:
    root = NewDelivery(
        f"job:{job.number}:root", DeliveryKind.ROOT, job.channel, job=job.number, message=say.face(job, now)
    )
    await tx.outbox.add(root, now)
    for part, message in enumerate(say.full_prompt(job)):
        await reply(tx, job, f"prompt:{part}", message, now)


async def _show_follow_up(tx: Transaction, job: TrackedJob, prompt: Prompt, text: str, now: datetime) -> None:
    if prompt.message_ts is None:
        message = say.follow_up_by_command(job, text, prompt.asked_by)
        await reply(tx, job, f"follow_up:{prompt.id}", message, now)
        return
    seen = NewDelivery(
        f"prompt:{prompt.id}:seen",
        DeliveryKind.REACTION,
        job.channel,
        job=job.number,
        message_ts=prompt.message_ts,
        reaction="eyes",
    )
    await tx.outbox.add(seen, now)
