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
        job = tx.jobs.get(delivery.what.job) if delivery.what.job is not None else None
        if job is not None and delivery.what.kind is DeliveryKind.ROOT:
            _nowhere_to_talk(context, tx, job, meaning, code, now)
        elif job is not None and delivery.what.kind is DeliveryKind.REPLY:
            _tell_requester(tx, job, delivery, code, now)
        elif delivery.what.subscription is not None:
            refused(context, tx, delivery, meaning, code)
        elif delivery.what.user is not None and delivery.what.kind in (DeliveryKind.POST, DeliveryKind.FILE):
            _tell_asker(context, tx, delivery, meaning, code, now)

    await context.store.write(bury)
    context.count("deliveries", "dead")
    context.wake()


def _note(context: WorkerContext, delivery: Delivery, code: str) -> None:
    """A nicety that Slack refuses is logged once for each reason; all else each time."""
    if delivery.what.kind is not DeliveryKind.REACTION:
        log.warning("delivery_dead", delivery=delivery.id, kind=delivery.what.kind, reason=code)
    elif context.log_once.first("reaction", code):
        log.warning("reaction_refused", channel=delivery.what.channel, reason=code)


def _nowhere_to_talk(
    context: WorkerContext, tx: Transaction, job: TrackedJob, meaning: Refusal, code: str, now: datetime
) -> None:
    """Without a thread nothing is started: no use is spent, and the person is told what to do."""
    tx.outbox.dead_letter_thread(job.number, code, now)
    if job.state is not JobState.WAITING:
        return  # withdrawn meanwhile: there is nothing to start and nothing to tell
    tx.jobs.apply(job.number, lifecycle.refused(job, JobProblem.SLACK_REFUSED, now))
    drop_follow_ups(tx, job, now)
    prompt = tx.prompts.starting(job.number)
    if prompt is None:
        raise LookupError(f"job {job.number} has no prompt")
    url = tx.prompts.response_url(prompt.id)
    tx.prompts.apply(prompt.id, lifecycle.prompt_refused(prompt))
    key, message = f"job:{job.number}:cannot_post", say.cannot_post(meaning, context.bot_name)
    note = NewDelivery.private(key, job.channel, job.requester, message, job=job.number, response_url=url)
    tx.outbox.add(note, now)


def _tell_requester(tx: Transaction, job: TrackedJob, delivery: Delivery, code: str, now: datetime) -> None:
    key, message = f"{delivery.what.key}:undelivered", say.undelivered(job, problems.slack_refused(code))
    tx.outbox.add(NewDelivery.private(key, job.channel, job.recipient, message, job=job.number), now)


def _tell_asker(
    context: WorkerContext, tx: Transaction, delivery: Delivery, meaning: Refusal, code: str, now: datetime
) -> None:
    """Something that a person asked for could not be put where they wanted it."""
    what = "The file could not be sent." if delivery.what.kind is DeliveryKind.FILE else "Nothing was posted."
    message = visitors_answers.undelivered(meaning, code, context.bot_name, what=what)
    key, channel, user = f"{delivery.what.key}:undelivered", delivery.what.channel, delivery.what.user
    tx.outbox.add(NewDelivery.private(key, channel, user, message), now)
