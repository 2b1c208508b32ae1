"""When Slack will not let something be said: who is told instead, and what falls with it."""

from __future__ import annotations

from datetime import datetime

import structlog

from bot.messages import job_answers as say
from bot.messages import problems, visitors_answers
from bot.model import (
    Delivery,
    DeliveryKind,
    JobProblem,
    JobState,
    NewDelivery,
    Refusal,
    TrackedJob,
    lifecycle,
)
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.digests.post_outcome import refused
from bot.work.jobs.transitions import drop_follow_ups

log = structlog.get_logger(__name__)


async def give_up(context: WorkerContext, delivery: Delivery, meaning: Refusal, code: str) -> None:
    """Write off a delivery that will never be made, and tell the requester where they can still be reached.

    ``code`` is Slack's word for why, or ours where Slack gave none.
    """
    _note(context, delivery, code)
    now = context.clock()

    def bury(tx: Transaction) -> None:
        tx.outbox.settle(delivery.id, lifecycle.delivery_dead(now, code), owner=context.owner)
        job = tx.jobs.get(delivery.job) if delivery.job is not None else None
        if job is not None and delivery.kind is DeliveryKind.ROOT:
            _nowhere_to_talk(context, tx, job, meaning, code, now)
        elif job is not None and delivery.kind is DeliveryKind.REPLY:
            _tell_requester(tx, job, delivery, code, now)
        elif delivery.subscription is not None:
            refused(context, tx, delivery, meaning, code)
        elif delivery.user is not None and delivery.kind in (DeliveryKind.POST, DeliveryKind.FILE):
            _tell_asker(context, tx, delivery, meaning, code, now)

    await context.store.write(bury)
    context.count("deliveries", "dead")
    context.wake()


def _note(context: WorkerContext, delivery: Delivery, code: str) -> None:
    """A nicety that Slack refuses is logged once for each reason; all else each time."""
    if delivery.kind is not DeliveryKind.REACTION:
        log.warning("delivery_dead", delivery=delivery.id, kind=delivery.kind, reason=code)
    elif context.log_once.first("reaction", code):
        log.warning("reaction_refused", channel=delivery.channel, reason=code)


def _nowhere_to_talk(
    context: WorkerContext, tx: Transaction, job: TrackedJob, meaning: Refusal, code: str, now: datetime
) -> None:
    """Without a thread nothing is started: no use is spent, and the person is told what to do."""
    tx.outbox.bury(job.number, code, now)
    if job.state is not JobState.WAITING:
        return  # withdrawn meanwhile: there is nothing to start and nothing to tell
    tx.jobs.apply(job.number, lifecycle.refused(job, JobProblem.SLACK_REFUSED, now))
    drop_follow_ups(tx, job, now)
    prompt = tx.prompts.starting(job.number)
    if prompt is None:
        raise LookupError(f"job {job.number} has no prompt")
    url = tx.prompts.response_url(prompt.id)
    tx.prompts.apply(prompt.id, lifecycle.prompt_refused(prompt))
    note = NewDelivery(
        f"job:{job.number}:cannot_post",
        DeliveryKind.PRIVATE,
        job.channel,
        job=job.number,
        user=job.requester,
        message=say.cannot_post(meaning, context.bot_name),
        response_url=url,
    )
    tx.outbox.add(note, now)


def _tell_requester(tx: Transaction, job: TrackedJob, delivery: Delivery, code: str, now: datetime) -> None:
    note = NewDelivery(
        f"{delivery.key}:undelivered",
        DeliveryKind.PRIVATE,
        job.channel,
        job=job.number,
        user=job.told,
        message=say.undelivered(job, problems.slack_refused(code)),
    )
    tx.outbox.add(note, now)


def _tell_asker(
    context: WorkerContext, tx: Transaction, delivery: Delivery, meaning: Refusal, code: str, now: datetime
) -> None:
    """Something that a person asked for could not be put where they wanted it."""
    what = "The file could not be sent." if delivery.kind is DeliveryKind.FILE else "Nothing was posted."
    note = NewDelivery(
        f"{delivery.key}:undelivered",
        DeliveryKind.PRIVATE,
        delivery.channel,
        user=delivery.user,
        message=visitors_answers.undelivered(meaning, code, context.bot_name, what=what),
    )
    tx.outbox.add(note, now)
