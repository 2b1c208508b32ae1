"""Handle a docs service that fails, or refuses the API key: stop calls, tell the admins, resume by itself."""

from __future__ import annotations

from datetime import datetime
from typing import TypeGuard

import structlog

from bot.docs_api import DocsApiError, Forbidden, RateLimited, Unauthorized, Unavailable
from bot.messages import quota as say
from bot.model.ids import ChannelId, JobNumber, ProjectId
from bot.model.jobs import QueueWhy, Trouble
from bot.model.message import Message
from bot.model.outbox import NewDelivery
from bot.model.polling import back_off_seconds
from bot.model.quota import KEY_REASONS, MAY_NOT_WRITE
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.thread_messages import redraw_face

log = structlog.get_logger(__name__)
_NOWHERE = ChannelId("-")
"""The channel of a private delivery that belongs to no channel."""
_OVERLOADED = 503
_FIRST_SECONDS = 30.0
_CAP_SECONDS = 1_800.0
"""First and longest back-off after a refused key."""


def is_key_problem(error: Exception) -> TypeGuard[Unauthorized | Forbidden]:
    """Return whether the service refused the API key, or refused it for this request."""
    return isinstance(error, Unauthorized | Forbidden)


def is_about_service(error: Exception) -> bool:
    """Return whether an error is certainly about the whole service, not about one job or prompt."""
    if isinstance(error, Unavailable):
        return not error.sent or error.status_code == _OVERLOADED
    return isinstance(error, RateLimited | Unauthorized | Forbidden)


def wait_asked_for(error: Exception) -> float:
    """Return the seconds that the service asks to wait (its `Retry-After`); 0 when it does not say."""
    asked = error.retry_after_seconds if isinstance(error, RateLimited | Unavailable) else None
    return 0.0 if asked is None else max(asked, 1.0)


def service_failed(context: WorkerContext, tx: Transaction, project: ProjectId, error: Exception) -> datetime:
    """Back off from a project because its service fails, and return until when.

    Calls that fail while the project has a back-off already do not lengthen it, unless the service asks.
    """
    now = context.clock()
    reason, until = (tx.back_offs.all()).get(project, ("", now))
    attempts, wait_seconds = tx.back_offs.attempts(project), wait_asked_for(error)
    if until <= now:
        attempts += 1
        wait_seconds = wait_seconds or back_off_seconds(attempts, context.chance())
        log.warning("docs_service_unwell", project=project, reason=type(error).__name__, attempts=attempts)
    until = max(until, context.after(wait_seconds))
    reason = reason if reason in KEY_REASONS else type(error).__name__
    tx.back_offs.put(project, until, attempts, reason, since=tx.back_offs.since(project) or now)
    return until


def is_refused(tx: Transaction, project: ProjectId) -> bool:
    """Return whether the project has a back-off because its key was refused."""
    return tx.back_offs.reason(project) in KEY_REASONS


def reading_is_refused(tx: Transaction, project: ProjectId, now: datetime) -> bool:
    """Return whether the key was refused even for reading and its back-off is not over."""
    reason, until = (tx.back_offs.all()).get(project, ("", now))
    return reason in KEY_REASONS and reason != MAY_NOT_WRITE and until > now


def key_refused(
    context: WorkerContext, tx: Transaction, project: ProjectId, error: DocsApiError, *, wrote: bool
) -> datetime:
    """Back off from a project whose key was refused, and return until when.

    The admins are told when the first call is refused, and not again before the key is accepted.
    ``wrote``: the refused call was a prompt and not a read.
    """
    # Locked, because of several calls refused at the same moment each would tell the admins.
    tx.quota.lock(project)
    now, known = context.clock(), is_refused(tx, project)
    attempts = tx.back_offs.attempts(project) if known else 0
    _, until = tx.back_offs.all().get(project, ("", now))
    if wrote or not known or until <= now:
        # Otherwise reads that are refused at the same moment would each double the wait.
        attempts += 1
        # While prompts wait that have not been tried, each is: perhaps only this one is refused.
        doubled = 1 if wrote and _any_untried(tx, project, now) else attempts
        wait_seconds = back_off_seconds(doubled, context.chance(), first=_FIRST_SECONDS, cap=_CAP_SECONDS)
        until = context.after(wait_seconds)
    # Only a read shows whether the key is bad for reading too.
    reason = type(error).__name__
    if wrote:
        reason = (known and tx.back_offs.reason(project)) or MAY_NOT_WRITE
    since = tx.back_offs.since(project) if known else None
    tx.back_offs.put(project, until, attempts, reason, since=since or now)
    log.error("key_refused", project=project, reason=type(error).__name__, attempts=attempts)
    if not known:
        shown, entry = context.projects.shown(project), context.projects.entry(project)
        forbidden = isinstance(error, Forbidden)
        message = say.key_refused(project, forbidden=forbidden, shown=shown, entry=entry)
        _tell_admins(context, tx, f"key:{project}:refused", message, now)
    return until


def _any_untried(tx: Transaction, project: ProjectId, now: datetime) -> bool:
    return any(each.refused_at is None for each in tx.prompts.quota_queue(project, now))


def try_soon(context: WorkerContext, tx: Transaction, job: JobNumber) -> None:
    """Let a new prompt of a job be tried soon though others are refused: perhaps this one is not."""
    tx.back_offs.hasten(job, MAY_NOT_WRITE, context.after(_FIRST_SECONDS))


def trouble_of(reason: str) -> Trouble | None:
    """Return what the reason of a back-off means for people; None for a service that only asks to wait."""
    if reason in KEY_REASONS:
        return Trouble.REFUSED
    return None if reason == RateLimited.__name__ else Trouble.AWAY


def postpone_prompts(context: WorkerContext, tx: Transaction, project: ProjectId, until: datetime) -> None:
    """Postpone all waiting prompts of a project until then, and show why in the faces of their jobs."""
    now = context.clock()
    for number in tx.prompts.postpone(project, now, until):
        job = tx.jobs.known(number)
        tx.jobs.update(number, queue_until=until, queue_why=QueueWhy.KEY)
        if job.queue_why != QueueWhy.KEY:
            redraw_face(tx, number, now)


def service_is_well(context: WorkerContext, tx: Transaction, project: ProjectId, *, wrote: bool) -> None:
    """End the back-off of a project after a successful call, and resume prompts that waited for the key.

    The admins are told if a refused key is accepted again. ``wrote``: the call was a prompt and not a read.
    """
    reason = tx.back_offs.reason(project)
    if reason is None or (reason == MAY_NOT_WRITE and not wrote):
        return
    if reason in KEY_REASONS:
        tx.quota.lock(project)
    if not tx.back_offs.clear(project) or reason not in KEY_REASONS:
        return
    now = context.clock()
    tx.prompts.resume(project, QueueWhy.KEY, now)
    log.info("key_accepted_again", project=project)
    message = say.key_accepted(project, context.projects.shown(project))
    _tell_admins(context, tx, f"key:{project}:accepted", message, now)


def _tell_admins(
    context: WorkerContext, tx: Transaction, occasion: str, message: Message, now: datetime
) -> None:
    for admin in sorted(context.access_policy.admins):
        key = f"{occasion}:{now.isoformat()}:{admin}"
        tx.outbox.add(NewDelivery.private(key, _NOWHERE, admin, message), now)
