"""The only writer of a job's thread: its status message, its replies, and their edits.

Each message has a key of its own, so that it is sent once. All messages wait until the status
message is posted.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import datetime

from bot.context import Context
from bot.ids import JobNumber, Message
from bot.jobs.hooks import JobHooks
from bot.jobs.messages import jobs as messages
from bot.jobs.messages.status_message import format_status_message
from bot.jobs.model.jobs import JobState, TrackedJob, WaitReason
from bot.jobs.model.quota import frees_at
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Clock
from bot.store import Transaction


def open_thread(tx: Transaction, job: TrackedJob, now: datetime) -> None:
    """Post a job's status message, unless it is there because the prompt was edited."""
    if Outbox(tx).status_message(job.number) is None:
        tx.changed.pop(job.number, None)
        message = format_status_message(job)
        status = NewDelivery(
            _make_key(job, "status"),
            DeliveryKind.STATUS,
            job.channel,
            job=job.number,
            message=message,
        )
        Outbox(tx).add(status, now)


def say(tx: Transaction, job: TrackedJob, occasion: str, message: Message, now: datetime) -> None:
    """Post a message in the job's thread, once for each ``occasion``."""
    key = _make_key(job, occasion)
    reply = NewDelivery(key, DeliveryKind.REPLY, job.channel, job=job.number, message=message)
    Outbox(tx).add(reply, now)


def say_end(tx: Transaction, job: TrackedJob, message: Message, now: datetime) -> None:
    """Post the end of the job's iteration."""
    # An iteration may end and then be lost: both have a message.
    lost = ":lost" if job.state is JobState.GONE else ""
    say(tx, job, f"iteration:{job.iteration}{lost}:end", message, now)


def update_status_messages(clock: Clock, tx: Transaction) -> None:
    """Edit the status message of each job that this transaction changed, if it looks different."""
    for before in list(tx.changed.values()):
        if not isinstance(before, TrackedJob):
            continue
        job = Jobs(tx).get(before.number)
        if job is None or job.is_forgotten:
            continue
        # Without the times of the project, which are the same in both.
        if format_status_message(job) != format_status_message(before):
            update_status_message(tx, job, clock())


def update_status_message(tx: Transaction, job: TrackedJob, now: datetime) -> None:
    """Edit a job's status message, if there is one that Slack has not refused."""
    tx.changed.pop(job.number, None)
    posted = Outbox(tx).status_message(job.number)
    if posted is None:
        return
    next_frees_at = None
    usual = None
    if job.state is JobState.WORKING:
        usual = Jobs(tx).usual_time(job.project)
        if job.uses_left is not None:
            uses = Prompts(tx).uses(job.project, now)
            next_frees_at = frees_at(uses, len(uses))
    drawn = format_status_message(job, next_frees_at, usual)
    # Slack does not replace rich text by blocks without it, so an edit has the form of its post.
    # https://docs.slack.dev/reference/methods/chat.update
    blocks = drawn.plain_blocks if posted.is_plain else drawn.blocks
    _edit(tx, job, None, Message(drawn.text, blocks, blocks), now)


def show_wait(
    tx: Transaction, number: JobNumber, until: datetime, reason: WaitReason | None
) -> None:
    """Write the time and the reason of a job's wait."""
    job = Jobs(tx).get_or_raise(number)
    Jobs(tx).save(job, replace(job, wait_until=until, wait_reason=reason))


def remove_buttons(context: Context, tx: Transaction, before: TrackedJob, now: datetime) -> None:
    """Remove the buttons from a job's last end, which the next iteration makes outdated.

    ``before``: the job as of that end.
    """
    if before.state not in messages.STATES_WITH_BUTTONS:
        return
    end = Outbox(tx).newest_end(before.number, before.iteration)
    if end is not None:
        _edit(tx, before, end, _format_outdated_end(context, tx, before), now)
    for hooks in context.hooks_of(JobHooks):
        hooks.on_end_outdated(context, tx, before)


def _format_outdated_end(context: Context, tx: Transaction, before: TrackedJob) -> Message:
    summary = Prompts(tx).of_version(before).summary
    for hooks in context.hooks_of(JobHooks):
        drawn = hooks.format_outdated_end(before, summary)
        if drawn is not None:
            return drawn
    return messages.outdated_end(before, summary)


def result_message(context: Context, tx: Transaction, job: TrackedJob) -> Message:
    """Return the end of the job's iteration."""
    request = Prompts(tx).of_version(job)
    for hooks in context.hooks_of(JobHooks):
        drawn = hooks.format_end(context, tx, job, request)
        if drawn is not None:
            return drawn
    return messages.format_result(job, request.summary)


def update_result(context: Context, tx: Transaction, job: TrackedJob) -> None:
    """Edit the end about the job's pull request, to show the newest state."""
    end = Outbox(tx).newest_end(job.number, job.iteration)
    if end is not None and job.state is JobState.PULL_REQUEST:
        _edit(tx, job, end, result_message(context, tx, job), context.clock())


def edit(tx: Transaction, job: TrackedJob, occasion: str, message: Message, now: datetime) -> None:
    """Edit the message of this occasion in the job's thread."""
    _edit(tx, job, _make_key(job, occasion), message, now)


def _make_key(job: TrackedJob, occasion: str) -> str:
    return f"job:{job.number}:{occasion}"


def _edit(
    tx: Transaction, job: TrackedJob, key: str | None, message: Message, now: datetime
) -> None:
    """Edit the message with this key; None for the status message."""
    edited = key or f"job:{job.number}"
    # No two keys are alike: the later of two edits in one moment replaces the earlier.
    own_key = f"{edited}:edit:{secrets.token_hex(8)}"
    new = NewDelivery(
        own_key,
        DeliveryKind.EDIT,
        job.channel,
        job=job.number,
        message=message,
        edited_key=key,
    )
    Outbox(tx).add(new, now)


def status_message_link(context: Context, job: TrackedJob) -> str | None:
    """Return the address of the job's status message; None if unknown.

    The message may be a reply in its thread.
    """
    if job.thread is None or job.status_ts is None or not context.workspace_url:
        return None
    return context.permalink(job.thread, job.status_ts)


def link_from_earlier(context: Context, tx: Transaction, job: TrackedJob) -> None:
    """Post a link to a rerun job in the other thread of its earlier job."""
    if job.rerun_of is None:
        return
    earlier = Jobs(tx).get(job.rerun_of)
    if earlier is None or earlier.thread in (None, job.thread) or earlier.is_forgotten:
        return
    if job.status_ts is not None:
        message = messages.run_again_as(job, status_message_link(context, job))
        say(tx, earlier, f"again:{job.number}", message, context.clock())
