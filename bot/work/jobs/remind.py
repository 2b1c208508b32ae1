"""The worker that reminds threads, once, of pull requests of which nobody has said what became of them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import structlog

from bot.model.ids import UserId
from bot.model.jobs import TrackedJob
from bot.model.weekly_time import working_time
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs import thread
from bot.work.ports import SlackError

log = structlog.get_logger(__name__)
_AT_ONCE = 20
_AGAIN = timedelta(minutes=10)
"""When to ask Slack again for a time zone that it did not tell."""


async def remind(context: WorkerContext) -> int:
    """Remind the threads whose time has come, in the working hours of the person who waits for the end.

    Return how many jobs were looked at.
    """
    due = await context.store.read(lambda tx: tx.jobs.to_remind(context.clock(), _AT_ONCE))
    for job in due:
        zone = await _zone(context, job.recipient)
        await context.store.write(partial(_remind, context, job, zone))
    if due:
        context.wake()
    return len(due)


async def _zone(context: WorkerContext, user: UserId) -> str | None:
    """Return somebody's time zone, UTC if they have none; None if Slack does not tell at this moment."""
    try:
        return await context.messenger.user_zone(user) or "UTC"
    except SlackError as error:
        log.warning("zone_not_told", user=user, reason=str(error))
        return None


def _remind(context: WorkerContext, seen: TrackedJob, zone: str | None, tx: Transaction) -> None:
    now, job = context.clock(), tx.jobs.get_locked(seen.number)
    if job is None or job.remind_at != seen.remind_at or not job.awaits_review:
        return  # another process was faster, or the job has gone on
    at = working_time(now, zone) if zone else now + _AGAIN
    tx.jobs.update(job.number, remind_at=at if at > now else None)
    if at <= now:
        thread.remind(tx, job, now)
