"""Putting what must be said into the outbox, each occasion under a key of its own."""

from __future__ import annotations

from datetime import datetime

from bot.messages import jobs as say
from bot.model import DeliveryKind, JobNumber, JobState, Message, NewDelivery, TrackedJob, frees_at
from bot.store import Tables


async def redraw_root(tables: Tables, number: JobNumber, now: datetime) -> TrackedJob:
    """Let the root message show the job as it is now; answers the job."""
    job = await tables.jobs.known(number)
    occasion = f"job:{number}:edit:{job.round}:{job.state}:{now.isoformat()}"
    message = say.root(job, now, await _next_frees_at(tables, job, now))
    edit = NewDelivery(occasion, DeliveryKind.EDIT, job.channel, job=number, message=message)
    await tables.deliveries.add(edit, now)
    return job


async def _next_frees_at(tables: Tables, job: TrackedJob, now: datetime) -> datetime | None:
    """When the next use of the hour frees, where the root message says how few are left."""
    if job.uses_left is None or job.state is not JobState.WORKING:
        return None
    uses = await tables.prompts.uses(job.project, now)
    return frees_at(uses, len(uses), 1)


async def reply(tables: Tables, job: TrackedJob, occasion: str, message: Message, now: datetime) -> None:
    """Say something in the job's thread, once for this occasion."""
    key = f"job:{job.number}:{occasion}"
    await tables.deliveries.add(
        NewDelivery(key, DeliveryKind.REPLY, job.channel, job=job.number, message=message), now
    )
