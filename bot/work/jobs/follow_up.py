"""Store a follow-up: a later prompt for a job that exists."""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from bot.model.ids import JobNumber, PromptId
from bot.model.jobs import JobState, TrackedJob
from bot.model.origin import Origin
from bot.model.prompts import NewPrompt, PromptKind, PromptRequest
from bot.store import AlreadyStored, Transaction
from bot.work.access.admit import Readable, check_channel
from bot.work.context import Context
from bot.work.jobs.ask import SAME_WITHIN, TooManyWaiting, storable_request

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FollowedUp:
    """The result of a follow-up. ``accepted`` is false if the job takes no follow-ups in its state.

    ``repeated``: nothing was stored, because the follow-up was stored before.
    ``same``: the equal prompt that the person sent a moment ago, if that is why nothing was stored.
    """

    job: TrackedJob
    accepted: bool
    repeated: bool = False
    same: PromptId | None = None


def takes_follow_ups(job: TrackedJob) -> bool:
    """Return whether the job takes follow-ups: it runs, has ended well, or is about to start."""
    return not job.is_forgotten and (job.state.takes_follow_ups or job.state is JobState.WAITING)


async def follow_up(context: Context, readable: Readable, request: PromptRequest) -> FollowedUp | None:
    """Store a follow-up. Return None if there is no such job any more. A known key stores nothing.

    Raises TooManyWaiting, and NotAllowed for a job in a channel that the bot is not set up for.
    """
    number, origin = readable.job.number, readable.allowed.origin
    check_channel(context, readable.job.channel)
    request = storable_request(request)
    try:
        result = await context.store.write(lambda tx: _store(context, tx, origin, number, request))
    except AlreadyStored:
        job = await context.store.read(lambda tx: tx.jobs.get(number))
        return FollowedUp(job, accepted=True, repeated=True) if job else None
    if result and result.accepted and not result.repeated:
        log.info("prompt_stored", job=result.job.number, repeated=False)
        context.wake()
    return result


def _store(
    context: Context, tx: Transaction, origin: Origin, number: JobNumber, request: PromptRequest
) -> FollowedUp | None:
    # Locked, because a job that is given up meanwhile would leave this follow-up waiting for ever.
    job = tx.jobs.get_locked(number)
    if job is None:
        return None
    if tx.prompts.job_of(origin.key) is not None:
        return FollowedUp(job, accepted=True, repeated=True)
    if not takes_follow_ups(job):
        return FollowedUp(job, accepted=False)
    now = context.clock()
    if not request.allow_duplicate:
        same = tx.prompts.same_follow_up(origin.user, number, request.raw, now - SAME_WITHIN)
        if same is not None:
            return FollowedUp(job, accepted=True, repeated=True, same=same)
    if tx.prompts.waiting_by([origin.user]).get(origin.user, 0) >= context.waiting_per_person:
        raise TooManyWaiting(context.waiting_per_person, request.raw)
    # A follow-up belongs to the job's channel, wherever it was typed.
    here = replace(origin, channel=job.channel)
    tx.prompts.add(NewPrompt(here, request, number, job.project, PromptKind.FOLLOW_UP, now))
    if request.heard:
        tx.conversations.received(origin)
    return FollowedUp(job, accepted=True)
