"""A request of somebody who may not: nothing comes of it, and they are told alone."""

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
    JobProblem,
    Message,
    NewDelivery,
    Prompt,
    PromptKind,
    UserId,
    lifecycle,
)
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.transitions import drop_follow_ups

log = structlog.get_logger(__name__)


def deny(context: WorkerContext, tx: Transaction, prompt: Prompt, access: Access) -> None:
    """The prompt is refused before anything of it is seen in the channel."""
    now = context.clock()
    url = _refuse(context, tx, prompt)
    job = tx.jobs.known(prompt.job)
    if prompt.kind is PromptKind.START:
        tx.jobs.apply(prompt.job, lifecycle.refused(job, f"{JobProblem.NOT_ALLOWED}:{access}", now))
        drop_follow_ups(tx, job, now)
    channel = prompt.channel or job.channel
    tell_denied(tx, f"prompt:{prompt.id}", channel, prompt.asked_by, access, url, now, job=prompt.job)
    log.info("turned_away", prompt=prompt.id, access=access)
    context.count("prompts", "turned_away")


def refuse_named(context: WorkerContext, tx: Transaction, prompt: Prompt, message: Message) -> None:
    """Refuse a follow-up of somebody outside the job's channel, who is told so alone."""
    tell_named(context, tx, prompt, message)
    _refuse(context, tx, prompt)
    log.info("follow_up_refused", prompt=prompt.id)
    context.count("prompts", "turned_away")


def tell_named(context: WorkerContext, tx: Transaction, prompt: Prompt, message: Message) -> None:
    """Tell somebody alone, once, what came of a follow-up that was answered with nothing at first."""
    note = NewDelivery(
        f"prompt:{prompt.id}:named",
        DeliveryKind.PRIVATE,
        prompt.channel or (tx.jobs.known(prompt.job)).channel,
        user=prompt.asked_by,
        message=message,
        response_url=tx.prompts.response_url(prompt.id),
    )
    tx.outbox.add(note, context.clock())


def _refuse(context: WorkerContext, tx: Transaction, prompt: Prompt) -> SecretStr | None:
    """Answers where a private word about it goes."""
    url = tx.prompts.response_url(prompt.id)
    tx.prompts.apply(prompt.id, lifecycle.prompt_refused(prompt), owner=context.owner)
    return url


def tell_denied(
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
    tx.outbox.add(note, now)
