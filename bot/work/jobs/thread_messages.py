"""Add a job's messages to the outbox, each under a key of its own so that it is sent once."""

from __future__ import annotations

from datetime import datetime

from bot.messages import jobs as say
from bot.model import DeliveryKind, JobNumber, JobState, Message, NewDelivery, TrackedJob, frees_at
from bot.store import Transaction


def redraw_face(tx: Transaction, number: JobNumber, now: datetime) -> TrackedJob:
    """Edit a job's face so that it shows the current state. Return the job."""
    job = tx.jobs.known(number)
    occasion = f"job:{number}:edit:{job.iteration}:{job.state}:{now.isoformat()}"
    face = say.face(job, now, _next_frees_at(tx, job, now))
    message = say.redrawn(face, posted_plain=tx.outbox.face_is_plain(number))
    tx.outbox.add(NewDelivery.in_thread(occasion, DeliveryKind.EDIT, job, message), now)
    return job


def _next_frees_at(tx: Transaction, job: TrackedJob, now: datetime) -> datetime | None:
    """Return when the next use frees, if the job's face shows how few are left; otherwise None."""
    if job.uses_left is None or job.state is not JobState.WORKING:
        return None
    uses = tx.prompts.uses(job.project, now)
    return frees_at(uses, len(uses), 1)


def reply(tx: Transaction, job: TrackedJob, occasion: str, message: Message, now: datetime) -> None:
    """Add a reply to the job's thread, once for each ``occasion``."""
    key = f"job:{job.number}:{occasion}"
    tx.outbox.add(NewDelivery.in_thread(key, DeliveryKind.REPLY, job, message), now)
