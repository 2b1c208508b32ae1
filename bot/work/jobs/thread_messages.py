"""Add a job's messages to the outbox, each under a key of its own so that it is sent once."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import datetime

from bot.messages import face as faces
from bot.messages import jobs as say
from bot.model.ids import JobNumber
from bot.model.jobs import JobState, TrackedJob
from bot.model.message import Message
from bot.model.outbox import DeliveryKind, NewDelivery
from bot.model.quota import frees_at
from bot.store import Transaction
from bot.work.context import Context

NEW_END = ":new:end"
"""The last part of the key of an end that told a first pull request after an earlier iteration."""


def redraw_face(tx: Transaction, number: JobNumber, now: datetime) -> TrackedJob:
    """Edit a job's face so that it shows the current state. Return the job."""
    job = tx.jobs.known(number)
    face = faces.face(job, _next_frees_at(tx, job, now))
    message = faces.redrawn(face, posted_plain=tx.outbox.face_is_plain(number))
    tx.outbox.add(NewDelivery.in_thread(_edit_key(f"job:{number}"), DeliveryKind.EDIT, job, message), now)
    return job


def _edit_key(edited: str) -> str:
    """Return the key of an edit. No two are alike: the later of two in one moment replaces the earlier."""
    return f"{edited}:edit:{secrets.token_hex(8)}"


def _next_frees_at(tx: Transaction, job: TrackedJob, now: datetime) -> datetime | None:
    """Return when the next use frees, if the job's face shows how few are left; otherwise None."""
    if job.uses_left is None or job.state is not JobState.WORKING:
        return None
    uses = tx.prompts.uses(job.project, now)
    return frees_at(uses, len(uses), 1)


def outdate_end(tx: Transaction, job: TrackedJob, now: datetime) -> None:
    """Take the buttons from the end that was told last. ``job`` is as it was when the end was told."""
    key = tx.outbox.newest_end(job.number, job.iteration) if job.state in say.TOLD_ENDS else None
    if key is not None:
        edit_reply(tx, job, key, say.outdated_end(job, is_new=tells_new(job, key)), now)
    outdate_reminder(tx, job, now)


def tells_new(job: TrackedJob, end: str) -> bool:
    """Return whether the end with this key told the first pull request of its job."""
    return job.iteration == 1 or end.endswith(NEW_END)


def reminder_of(job: TrackedJob) -> str:
    """Return the occasion of the reminder of a pull request: each iteration has its own."""
    return f"remind:{job.iteration}"


def outdate_reminder(tx: Transaction, job: TrackedJob, now: datetime) -> None:
    """Take the buttons from the reminder of the job's pull request, if there was one."""
    key = f"job:{job.number}:{reminder_of(job)}"
    if tx.outbox.state_of(key) is not None:
        edit_reply(tx, job, key, say.outdated_reminder(job), now)


def edit_reply(tx: Transaction, job: TrackedJob, key: str, message: Message, now: datetime) -> None:
    """Edit the reply in the job's thread that was posted under this key."""
    edit = NewDelivery.in_thread(_edit_key(key), DeliveryKind.EDIT, job, message)
    tx.outbox.add(replace(edit, edits=key), now)


def reply(tx: Transaction, job: TrackedJob, occasion: str, message: Message, now: datetime) -> None:
    """Add a reply to the job's thread, once for each ``occasion``."""
    key = f"job:{job.number}:{occasion}"
    tx.outbox.add(NewDelivery.in_thread(key, DeliveryKind.REPLY, job, message), now)


def link_from_earlier(context: Context, tx: Transaction, number: JobNumber) -> None:
    """Link to a job from the thread of the job that it runs again, unless both stand in one thread."""
    job = tx.jobs.known(number)
    earlier = tx.jobs.get(job.again_of) if job.again_of is not None else None
    if earlier is None or earlier.thread in (None, job.thread) or earlier.is_forgotten:
        return
    if job.thread is not None and job.root_ts is not None:
        link = context.permalink(job.thread, job.root_ts)
        reply(tx, earlier, f"again:{number}", say.run_again_as(job, link), context.clock())
