"""Putting what must be said into the outbox, each occasion under a key of its own."""

from __future__ import annotations

from datetime import datetime

from bot.messages import jobs as say
from bot.model import DeliveryKind, JobNumber, JobState, Message, NewDelivery, TrackedJob, frees_at
from bot.store import Transaction


def redraw_face(tx: Transaction, number: JobNumber, now: datetime) -> TrackedJob:
    """Let the root message show the job as it is now; answers the job."""
    job = tx.jobs.known(number)
    occasion = f"job:{number}:edit:{job.iteration}:{job.state}:{now.isoformat()}"
    message = say.face(job, now, _next_frees_at(tx, job, now))
    tx.outbox.add(NewDelivery.in_thread(occasion, DeliveryKind.EDIT, job, message), now)
    return job


def _next_frees_at(tx: Transaction, job: TrackedJob, now: datetime) -> datetime | None:
    """When the next use of the hour frees, where the root message says how few are left."""
    if job.uses_left is None or job.state is not JobState.WORKING:
        return None
    uses = tx.prompts.uses(job.project, now)
    return frees_at(uses, len(uses), 1)


def reply(tx: Transaction, job: TrackedJob, occasion: str, message: Message, now: datetime) -> None:
    """Say something in the job's thread, once for this occasion."""
    key = f"job:{job.number}:{occasion}"
    tx.outbox.add(NewDelivery.in_thread(key, DeliveryKind.REPLY, job, message), now)
