"""The consequences for a job when Slack has taken or refused a message of its thread."""

from __future__ import annotations

from dataclasses import replace

from bot.context import PostHooks, WorkerContext
from bot.jobs.messages import job_answers
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobProblem, JobState, TrackedJob
from bot.jobs.settle_prompt import drop_follow_ups
from bot.jobs.store.conversations import Conversations
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import Quota
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import link_from_earlier, update_status_message
from bot.outbox.model import Delivery, DeliveryKind, NewDelivery, NotPosted
from bot.outbox.store import Outbox
from bot.store import Transaction


def _job_of(tx: Transaction, delivery: Delivery, kind: DeliveryKind) -> TrackedJob | None:
    """Return the job of a delivery of this kind; None for others."""
    number = delivery.what.job
    return Jobs(tx).get(number) if number is not None and delivery.what.kind is kind else None


def _lock(tx: Transaction, delivery: Delivery) -> None:
    """Lock the rows of a job whose status message is settled, in the order of a withdrawal."""
    if job := _job_of(tx, delivery, DeliveryKind.ROOT):
        Quota(tx).lock(job.project)
        Prompts(tx).lock_of(job.number)
        Jobs(tx).lock(job.number)


def _on_posted(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    if (job := _job_of(tx, delivery, DeliveryKind.ROOT)) is None:
        return
    ts = delivery.posted_ts
    job = Jobs(tx).save(job, replace(job, root_ts=ts))
    if delivery.unconfirmed and delivery.thread_ts is None and ts is not None:
        # Without the status message the bot recognises no replies, and Slack has given up on them.
        Conversations(tx).read_thread(job.channel, ts, context.clock())
    link_from_earlier(context, tx, job)


def _on_refused(context: WorkerContext, tx: Transaction, delivery: Delivery, refusal: NotPosted) -> None:
    if job := _job_of(tx, delivery, DeliveryKind.ROOT):
        _refuse(context, tx, job, refusal)
    elif job := _job_of(tx, delivery, DeliveryKind.REPLY):
        message = job_answers.reply_undelivered(job, refusal, context.bot_name)
        for user in job.recipients:
            key = f"{delivery.what.key}:undelivered:{user}"
            Outbox(tx).add(NewDelivery.private(key, job.channel, user, message, job=job.number), refusal.at)


def _refuse(context: WorkerContext, tx: Transaction, job: TrackedJob, refusal: NotPosted) -> None:
    """Refuse a job whose status message cannot be posted. No use is spent, and the requester gets advice."""
    if job.state is not JobState.WAITING:
        return  # withdrawn meanwhile, so there is nothing to refuse
    now = refusal.at
    Jobs(tx).save(job, lifecycle.job_refused(job, JobProblem.SLACK_REFUSED, now))
    drop_follow_ups(tx, job, now)
    prompt = Prompts(tx).starting(job.number)
    if prompt is None:
        raise LookupError(f"job {job.number} has no prompt")
    url = prompt.response_url
    Prompts(tx).save(prompt, lifecycle.prompt_refused(prompt))
    message = job_answers.cannot_post(refusal, context.bot_name, job.text)
    key = f"job:{job.number}:cannot_post"
    note = NewDelivery.private(key, job.channel, job.requester, message, job=job.number, response_url=url)
    Outbox(tx).add(note, now)


def _on_blocks_refused(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    if job := _job_of(tx, delivery, DeliveryKind.ROOT):
        # A waiting edit was drawn with rich text, which the plain status message does not have.
        update_status_message(tx, job.number, context.clock())


JOB_POSTS = PostHooks(_on_posted, _on_refused, lock=_lock, on_blocks_refused=_on_blocks_refused)
