"""Turn a delivery that Slack refuses for good into a dead letter, and tell the requester elsewhere."""

from __future__ import annotations

from datetime import datetime

import structlog

from bot.messages import job_answers as say
from bot.messages import problems, visitors_answers
from bot.model import lifecycle
from bot.model.ids import is_direct_message
from bot.model.jobs import JobProblem, JobState, TrackedJob
from bot.model.outbox import Delivery, DeliveryKind, NewDelivery
from bot.model.refusal import Refusal
from bot.store import DatabaseTrouble, LeaseLost, Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.settle_prompt import drop_follow_ups
from bot.work.visitors.subscriptions import refused

log = structlog.get_logger(__name__)


async def give_up(context: WorkerContext, delivery: Delivery, meaning: Refusal, code: str) -> None:
    """Make a delivery a dead letter, and tell the requester where they can still be reached.

    ``code`` is Slack's error code, or the bot's own if Slack gave none.
    """
    _log_dead_letter(delivery, code)
    if meaning is Refusal.NOT_VISIBLE and is_direct_message(delivery.what.channel):
        meaning = Refusal.BETWEEN_PEOPLE
    now = context.clock()

    def bury(tx: Transaction) -> None:
        job = tx.jobs.get(delivery.what.job) if delivery.what.job is not None else None
        is_face = delivery.what.kind is DeliveryKind.ROOT
        if job is not None and is_face:
            # Before any other row, as when somebody withdraws the job, which may happen at this moment.
            tx.quota.lock(job.project)
            tx.prompts.lock_of(job.number)
            job = tx.jobs.get_locked(job.number)
        tx.outbox.settle(delivery, lifecycle.delivery_dead(delivery.what, now, code), owner=context.owner)
        if job is not None and is_face:
            _refuse_job(context, tx, job, meaning, code, now)
        elif job is not None and delivery.what.kind is DeliveryKind.REPLY:
            _tell_recipients(tx, job, delivery, code, now)
        elif delivery.what.subscription is not None:
            refused(context, tx, delivery, meaning, code)
        elif delivery.what.user is not None and delivery.what.kind in (DeliveryKind.POST, DeliveryKind.FILE):
            _tell_asker(context, tx, delivery, meaning, code, now)

    await context.store.write(bury)
    context.count("deliveries", "dead")
    context.wake()


async def bury_broken(context: WorkerContext, delivery: Delivery) -> None:
    """Make a delivery a dead letter that the bot cannot handle, also if telling somebody fails as well."""
    code = "unexpected_error"
    try:
        await give_up(context, delivery, Refusal.PERMANENT, code)
    except (LeaseLost, DatabaseTrouble):
        raise
    except Exception:
        log.error("dead_letter_not_told", delivery=delivery.id, exc_info=True)
        step = lifecycle.delivery_dead(delivery.what, context.clock(), code)
        await context.store.write(lambda tx: tx.outbox.settle(delivery, step, owner=context.owner))


def _log_dead_letter(delivery: Delivery, code: str) -> None:
    """Log the dead letter. A refused reaction matters little: one line for all of a reason."""
    if delivery.what.kind is not DeliveryKind.REACTION:
        log.warning("delivery_dead", delivery=delivery.id, kind=delivery.what.kind, reason=code)
    else:
        log.warning("reaction_refused", reason=code)


def _refuse_job(
    context: WorkerContext, tx: Transaction, job: TrackedJob, meaning: Refusal, code: str, now: datetime
) -> None:
    """Refuse a job whose face cannot be posted. No use is spent, and the requester is told what to do."""
    tx.outbox.dead_letter_thread(job.number, code, now)
    if job.state is not JobState.WAITING:
        return  # withdrawn meanwhile, so there is nothing to refuse or to tell
    tx.jobs.apply(job.number, lifecycle.refused(job, JobProblem.SLACK_REFUSED, now))
    drop_follow_ups(tx, job, now)
    prompt = tx.prompts.starting(job.number)
    if prompt is None:
        raise LookupError(f"job {job.number} has no prompt")
    url = tx.prompts.response_url(prompt.id)
    tx.prompts.apply(prompt.id, lifecycle.prompt_refused(prompt))
    key, message = f"job:{job.number}:cannot_post", say.cannot_post(meaning, context.bot_name, job.text)
    note = NewDelivery.private(key, job.channel, job.requester, message, job=job.number, response_url=url)
    tx.outbox.add(note, now)


def _tell_recipients(tx: Transaction, job: TrackedJob, delivery: Delivery, code: str, now: datetime) -> None:
    message = say.undelivered(job, problems.slack_refused(code))
    for user in job.recipients:
        key = f"{delivery.what.key}:undelivered:{user}"
        tx.outbox.add(NewDelivery.private(key, job.channel, user, message, job=job.number), now)


def _tell_asker(
    context: WorkerContext, tx: Transaction, delivery: Delivery, meaning: Refusal, code: str, now: datetime
) -> None:
    """Tell the person who asked for a post or a file that Slack refused it."""
    is_file = delivery.what.kind is DeliveryKind.FILE
    message = visitors_answers.undelivered(meaning, code, context.bot_name, is_file=is_file)
    key, channel, user = f"{delivery.what.key}:undelivered", delivery.what.channel, delivery.what.user
    tx.outbox.add(NewDelivery.private(key, channel, user, message), now)
