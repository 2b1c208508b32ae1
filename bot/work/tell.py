"""Putting what must be said into the outbox, each occasion under a key of its own."""

from __future__ import annotations

from datetime import datetime

from bot.messages import jobs as say
from bot.model import DeliveryKind, JobNumber, Message, NewDelivery, TrackedJob
from bot.registry import Tables


async def redraw_root(tables: Tables, number: JobNumber, now: datetime) -> TrackedJob:
    """Let the root message show the job as it is now; answers the job."""
    job = await tables.jobs.known(number)
    occasion = f"job:{number}:edit:{job.round}:{job.state}:{now.isoformat()}"
    await tables.deliveries.add(
        NewDelivery(occasion, DeliveryKind.EDIT, job.channel, job=number, message=say.root(job, now)), now
    )
    return job


async def reply(tables: Tables, job: TrackedJob, occasion: str, message: Message, now: datetime) -> None:
    """Say something in the job's thread, once for this occasion."""
    key = f"job:{job.number}:{occasion}"
    await tables.deliveries.add(
        NewDelivery(key, DeliveryKind.REPLY, job.channel, job=job.number, message=message), now
    )
