"""Store a follow-up: a later prompt for a job that exists."""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from bot.model.along import SharedFile, TakeThread
from bot.model.ids import JobNumber, PromptId
from bot.model.jobs import JobState, TrackedJob
from bot.model.origin import Origin
from bot.model.prompts import NewPrompt, PromptKind
from bot.store import AlreadyStored, Transaction
from bot.work.context import Context
from bot.work.jobs.ask import SAME_WITHIN, TooManyWaiting, storable

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FollowUpRequest:
    """A follow-up to a job. Its origin has a ``message_ts`` if it was written in the job's thread.

    ``named``: the text by which the sender named the job, if it is not decided yet whether they may see
    the job; otherwise None. ``heard``: note the message as heard (``bot/store/conversations.py``).
    ``take_thread`` and ``files``: see ``Prompt``.
    """

    origin: Origin
    job: JobNumber
    raw: str
    allow_duplicate: bool = False
    named: str | None = None
    heard: bool = False
    take_thread: TakeThread | None = None
    files: tuple[SharedFile, ...] = ()


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


async def follow_up(context: Context, request: FollowUpRequest) -> FollowedUp | None:
    """Store a follow-up. Return None if there is no such job. A known key stores nothing.

    Raises TooManyWaiting.
    """
    try:
        result = await context.store.write(lambda tx: _store(context, tx, request))
    except AlreadyStored:
        job = await context.store.read(lambda tx: tx.jobs.get(request.job))
        return FollowedUp(job, accepted=True, repeated=True) if job else None
    if result and result.accepted and not result.repeated:
        log.info("prompt_stored", job=result.job.number, repeated=False)
        context.wake()
    return result


def _store(context: Context, tx: Transaction, request: FollowUpRequest) -> FollowedUp | None:
    # Locked, because a job that is refused meanwhile would leave this follow-up waiting for ever.
    job = tx.jobs.get_locked(request.job)
    if job is None:
        return None
    if tx.prompts.job_of(request.origin.key) is not None:
        return FollowedUp(job, accepted=True, repeated=True)
    if not takes_follow_ups(job):
        return FollowedUp(job, accepted=False)
    raw, now = storable(request.raw), context.clock()
    if not request.allow_duplicate:
        since = now - SAME_WITHIN
        same = tx.prompts.same_follow_up(request.origin.user, job.number, raw, since)
        if same is not None:
            return FollowedUp(job, accepted=True, repeated=True, same=same)
    if tx.prompts.waiting_by([request.origin.user]).get(request.origin.user, 0) >= context.waiting_per_person:
        raise TooManyWaiting(context.waiting_per_person, request.raw)
    new = NewPrompt(
        # A follow-up belongs to the job's channel, wherever it was typed.
        replace(request.origin, channel=job.channel),
        job=job.number,
        project=job.project,
        kind=PromptKind.FOLLOW_UP,
        raw=raw,
        asked_at=now,
        named=None if request.named is None else storable(request.named),
        take_thread=request.take_thread,
        files=request.files,
    )
    tx.prompts.add(new)
    if request.heard:
        tx.conversations.received(request.origin)
    return FollowedUp(job, accepted=True)
