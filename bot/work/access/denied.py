"""A request of somebody who may not use the bot: nothing comes of it, and they are told alone."""

from __future__ import annotations

from datetime import datetime

import structlog
from pydantic import SecretStr

from bot.messages import quota as say
from bot.model import (
    ChannelId,
    DeliveryKind,
    JobNumber,
    JobState,
    NewDelivery,
    Prompt,
    PromptKind,
    PromptState,
    Standing,
    UserId,
)
from bot.store import Tables
from bot.work.jobs.transitions import drop_follow_ups
from bot.work.worker_context import Workshop

log = structlog.get_logger(__name__)


async def turn_away(shop: Workshop, tables: Tables, prompt: Prompt, standing: Standing) -> None:
    """The prompt is refused before anything of it is seen in the channel."""
    now = shop.clock()
    url = await tables.prompts.response_url(prompt.id)
    await tables.prompts.change(
        prompt.id,
        owner=shop.owner,
        was=PromptState.NEW,
        state=PromptState.REFUSED,
        response_url=None,
        claimed_by=None,
        claimed_until=None,
    )
    job = await tables.jobs.known(prompt.job)
    if prompt.kind is PromptKind.START:
        await tables.jobs.change(
            prompt.job, state=JobState.REFUSED, problem=f"not allowed: {standing}", ended_at=now
        )
        await drop_follow_ups(tables, job, now)
    channel = prompt.channel or job.channel
    await say_not_allowed(
        tables, f"prompt:{prompt.id}", channel, prompt.asked_by, standing, url, now, job=prompt.job
    )
    log.info("turned_away", prompt=prompt.id, standing=standing)
    shop.count("prompts", "turned_away")


async def say_not_allowed(
    tables: Tables,
    what: str,
    channel: ChannelId,
    user: UserId,
    standing: Standing,
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
        message=say.not_allowed(standing),
        response_url=url,
    )
    await tables.deliveries.add(note, now)
