"""Consequences for a job when Slack has accepted or refused a message of its thread."""

from __future__ import annotations

from dataclasses import replace

from bot.context import WorkerContext
from bot.jobs.messages import job_answers
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobProblem, JobState, TrackedJob
from bot.jobs.model.prompts import PromptKind
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import link_from_earlier, update_status_message
from bot.messages import slack_text
from bot.outbox.hooks import OutboxHooks
from bot.outbox.model import Delivery, DeliveryKind, NewDelivery, NotPosted
from bot.outbox.store import Outbox
from bot.store import Transaction


def _find_job(tx: Transaction, delivery: Delivery, kind: DeliveryKind) -> TrackedJob | None:
    """Return the job of a delivery of this kind; None for others."""
    number = delivery.content.job
    if number is None or delivery.content.kind is not kind:
        return None
    return Jobs(tx).get(number)


def on_posted(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    """Store the place of a status message, or of a loose reply as the job's new thread."""
    job = _find_job(tx, delivery, DeliveryKind.STATUS)
    if job is not None:
        thread = None if delivery.is_loose else job.thread_ts
        job = Jobs(tx).save(job, replace(job, status_ts=delivery.posted_ts, thread_ts=thread))
        link_from_earlier(context, tx, job)
        return
    job = _find_job(tx, delivery, DeliveryKind.REPLY) if delivery.is_loose else None
    if job is not None:
        Jobs(tx).save(job, replace(job, thread_ts=delivery.posted_ts))


def on_refused(
    context: WorkerContext, tx: Transaction, delivery: Delivery, refusal: NotPosted
) -> None:
    """Refuse a job without a status message; tell its people of a reply that is not posted."""
    job = _find_job(tx, delivery, DeliveryKind.STATUS)
    if job is not None:
        _refuse(context, tx, job, refusal)
        return
    job = _find_job(tx, delivery, DeliveryKind.REPLY)
    if job is not None:
        for user in job.recipients:
            message = job_answers.reply_undelivered(job, refusal, context.bot_name, reader=user)
            key = f"{delivery.content.key}:undelivered:{user}"
            note = NewDelivery.private(key, job.channel, user, message, job=job.number)
            Outbox(tx).add(note, refusal.at)


def _refuse(context: WorkerContext, tx: Transaction, job: TrackedJob, refusal: NotPosted) -> None:
    """Refuse a job whose status message cannot be posted, and give each sender the prompt back."""
    if job.state is not JobState.WAITING:
        # The job was withdrawn before, so there is nothing to refuse.
        return
    now = refusal.at
    Jobs(tx).save(job, lifecycle.refuse_job(job, JobProblem.SLACK_REFUSED, now))
    for prompt in Prompts(tx).unsettled_of(job.number):
        Prompts(tx).save(prompt, lifecycle.refuse_prompt(prompt))
        text = job.text
        if prompt.kind is not PromptKind.START:
            text = slack_text.to_plain(prompt.raw, {}, {})
        note = NewDelivery.private(
            f"prompt:{prompt.id}:cannot_post",
            job.channel,
            prompt.asked_by,
            job_answers.cannot_post(refusal, context.bot_name, text),
            job=job.number,
            response_url=prompt.response_url,
        )
        Outbox(tx).add(note, now)


def on_blocks_refused(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    """Draw a status message again whose blocks Slack has refused."""
    job = _find_job(tx, delivery, DeliveryKind.STATUS)
    if job is not None:
        # A waiting edit was drawn with rich text, which the plain status message does not have.
        update_status_message(tx, job, context.clock())


DELIVERY_HOOKS = OutboxHooks(
    on_posted=on_posted, on_refused=on_refused, on_blocks_refused=on_blocks_refused
)
