"""A request of somebody who may not use the bot: nothing comes of it, and they are told alone."""

from __future__ import annotations

from datetime import datetime

import structlog
from pydantic import SecretStr

from bot.messages import quota as say
from bot.model import (
    Access,
    ChannelId,
    DeliveryKind,
    JobNumber,
    JobState,
    NewDelivery,
    Prompt,
    PromptKind,
    PromptState,
    UserId,
)
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.transitions import drop_follow_ups

log = structlog.get_logger(__name__)


async def deny(context: WorkerContext, tx: Transaction, prompt: Prompt, access: Access) -> None:
    """The prompt is refused before anything of it is seen in the channel."""
    now = context.clock()
    url = await tx.prompts.response_url(prompt.id)
    await tx.prompts.change(
        prompt.id,
        owner=context.owner,
        was=PromptState.NEW,
        state=PromptState.REFUSED,
        response_url=None,
        claimed_by=None,
        claimed_until=None,
    )
    job = await tx.jobs.known(prompt.job)
    if prompt.kind is PromptKind.START:
        await tx.jobs.change(
            prompt.job, state=JobState.REFUSED, problem=f"not allowed: {access}", ended_at=now
        )
        await drop_follow_ups(tx, job, now)
    channel = prompt.channel or job.channel
    await tell_denied(tx, f"prompt:{prompt.id}", channel, prompt.asked_by, access, url, now, job=prompt.job)
    log.info("turned_away", prompt=prompt.id, access=access)
    context.count("prompts", "turned_away")


async def tell_denied(
    tx: Transaction,
    what: str,
    channel: ChannelId,
    user: UserId,
    access: Access,
    url: SecretStr | None,
    now: datetime,
    *,
    job: JobNumber | None = None,
) -> None:
    """Tell somebody alone, once for what they asked for, that nothing came of it and why."""
    note = NewDelivery(
        f"{what}:not_allowed",
        DeliveryKind.PRIVATE,
        channel,
        job=job,
        user=user,
        message=say.not_allowed(access),
        response_url=url,
    )
    await tx.outbox.add(note, now)
