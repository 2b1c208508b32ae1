"""Back off from a docs service that fails or refuses the API key, and resume."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeGuard

import structlog

from bot.context import Context, WorkerContext
from bot.docs_api import DocsApiError, Forbidden, RateLimited, Unauthorized, Unavailable
from bot.engine import back_off_seconds
from bot.ids import ChannelId, JobNumber, Message, ProjectId
from bot.jobs.messages import job_answers as say
from bot.jobs.model.jobs import TrackedJob, WaitReason
from bot.jobs.model.quota import MAY_NOT_WRITE, BackOff, Budget
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import AnalyticsQuota, BackOffs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.sending import Sending
from bot.logs import reason_of
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.settings import Settings
from bot.store import Transaction

log = structlog.get_logger(__name__)
_NO_CHANNEL = ChannelId("-")
"""The channel of a private delivery that belongs to no channel."""
_OVERLOADED_STATUS = 503
FIRST_BACK_OFF_SECONDS = 30.0
_CAP_SECONDS = 1_800.0
"""First and longest back-off after a refused key."""
_FAILURES_TO_SHOW = 3
"""The failures in a row from which people read of them. Fewer are often over in a few seconds."""
_KNOWN_FOR = timedelta(minutes=2)
"""How long after a back-off the service counts as failing although no job shows it."""


def is_key_problem(error: Exception) -> TypeGuard[Unauthorized | Forbidden]:
    """Return whether the service refused the API key, or refused it for this request."""
    return isinstance(error, Unauthorized | Forbidden)


def is_about_service(error: Exception) -> bool:
    """Return whether an error is certainly about the whole service, not about one job or prompt."""
    if isinstance(error, Unavailable):
        return not error.sent or error.status_code == _OVERLOADED_STATUS
    return isinstance(error, RateLimited | Unauthorized | Forbidden)


def wait_asked_for(error: Exception) -> float:
    """Return the seconds that the service asks to wait by `Retry-After`; 0 without the header."""
    asked = error.retry_after_seconds if isinstance(error, RateLimited | Unavailable) else None
    return 0.0 if asked is None else max(asked, 1.0)


def is_refused(tx: Transaction, project: ProjectId) -> bool:
    """Return whether the project has a back-off because its key was refused."""
    back_off = BackOffs(tx).of(project)
    return back_off is not None and back_off.is_refusal


def find_trouble(back_off: BackOff) -> WaitReason | None:
    """Return the trouble of a back-off; None for a service that only asks to wait."""
    if back_off.is_refusal:
        return WaitReason.KEY
    return None if back_off.reason == RateLimited.__name__ else WaitReason.SERVICE


def failing_since(tx: Transaction, project: ProjectId, now: datetime) -> datetime | None:
    """Return the time since which the service fails, for people; None if it answers."""
    back_off = BackOffs(tx).of(project)
    if back_off is None or find_trouble(back_off) is not WaitReason.SERVICE:
        return None
    if back_off.attempts < _FAILURES_TO_SHOW:
        return None
    is_recent = back_off.retry_at + _KNOWN_FOR > now
    return back_off.began_at if is_recent or Jobs(tx).has_failed_polls(project) else None


def add_known_wait(tx: Transaction, job: TrackedJob, now: datetime) -> TrackedJob:
    """Return a job with the wait of its new prompt; unchanged if the prompt can be sent at once.

    The prompt waits while sending is switched off, or the project has a back-off.
    """
    stop = Sending(tx).stop()
    if stop is not None:
        return replace(job, wait_until=stop.stopped_at, wait_reason=WaitReason.SWITCHED_OFF)
    back_off = BackOffs(tx).of(job.project)
    if back_off is None or not back_off.lasts(now):
        return job
    if not back_off.is_refusal and failing_since(tx, job.project, now) is None:
        return job
    why = find_trouble(back_off)
    return replace(job, wait_until=back_off.retry_at, wait_reason=why)


def note_service_failure(
    context: WorkerContext, tx: Transaction, project: ProjectId, error: Exception
) -> datetime:
    """Back off from a project because its service fails, and return until when.

    Calls that fail while the project has a back-off already do not lengthen it, unless the service
    asks.
    """
    now = context.clock()
    reason = type(error).__name__
    back_off = BackOffs(tx).of(project) or BackOff(reason, now, now, 0)
    attempts = back_off.attempts
    wait_seconds = wait_asked_for(error)
    if back_off.lasts(now):
        until = max(back_off.retry_at, context.after(wait_seconds))
    else:
        attempts += 1
        wait_seconds = wait_seconds or back_off_seconds(attempts, context.chance())
        log.warning(
            "docs_service_unwell", project=project, reason=reason_of(error), attempts=attempts
        )
        until = context.after(wait_seconds)
    cause = back_off.reason if back_off.is_refusal else reason
    BackOffs(tx).put(project, BackOff(cause, back_off.began_at, until, attempts))
    return until


def settle_refused_key(
    context: WorkerContext, tx: Transaction, project: ProjectId, error: DocsApiError, *, wrote: bool
) -> datetime:
    """Back off from a project whose key was refused, and return until when.

    Notifies the admins of the first refusal, and again only after the key was accepted.
    ``wrote``: the refused call was a prompt and not a read.
    """
    now = context.clock()
    back_off = BackOffs(tx).of(project)
    is_first = back_off is None or not back_off.is_refusal
    if back_off is None or is_first:
        back_off = BackOff(MAY_NOT_WRITE, now, now, 0)
    attempts = back_off.attempts
    until = back_off.retry_at
    if wrote or not back_off.lasts(now):
        # Otherwise reads that are refused at the same moment would each double the wait.
        attempts += 1
        # Untried prompts are tried first, because the service may refuse this prompt alone.
        queue = Prompts(tx).quota_queue(project, now) if wrote else ()
        doubled = 1 if any(prompt.refused_at is None for prompt in queue) else attempts
        wait_seconds = back_off_seconds(
            doubled, context.chance(), first=FIRST_BACK_OFF_SECONDS, cap=_CAP_SECONDS
        )
        until = context.after(wait_seconds)
    # Only a read shows whether the key is bad for reading too.
    reason = back_off.reason if wrote else type(error).__name__
    BackOffs(tx).put(project, BackOff(reason, back_off.began_at, until, attempts))
    log.error("key_refused", project=project, reason=reason_of(error), attempts=attempts)
    if is_first:
        message = say.key_notice(
            project,
            forbidden=isinstance(error, Forbidden),
            docs=context.projects.shown(project),
            entry=context.projects.entry(project),
        )
        tell_admins(context, tx, f"key:{project}:refused:{now.isoformat()}", message, now)
    return until


def postpone_prompts(
    context: WorkerContext, tx: Transaction, project: ProjectId, until: datetime, refused: JobNumber
) -> None:
    """Postpone all waiting prompts of a project, and show the reason in their jobs.

    ``refused``: the job of the prompt whose key was refused, which waits until then already.
    """
    now = context.clock()
    numbers = {refused, *Prompts(tx).postpone(project, now, until)}
    for number in sorted(numbers):
        job = Jobs(tx).get_or_raise(number)
        Jobs(tx).save(job, replace(job, wait_until=until, wait_reason=WaitReason.KEY))


def note_service_success(
    context: WorkerContext, tx: Transaction, project: ProjectId, *, wrote: bool
) -> None:
    """End a project's back-off after a successful call; resume prompts that waited for the key.

    Notifies the admins of a key that is accepted again. ``wrote``: the call was a prompt and not a
    read.
    """
    back_off = BackOffs(tx).of(project)
    if back_off is None or (back_off.reason == MAY_NOT_WRITE and not wrote):
        return
    if not wrote and not back_off.is_refusal and back_off.lasts(context.clock()):
        # No job is polled during it, so this call was begun before.
        return
    if not BackOffs(tx).clear(project) or not back_off.is_refusal:
        return
    now = context.clock()
    Prompts(tx).resume(project, WaitReason.KEY, now)
    log.info("key_accepted_again", project=project)
    message = say.key_accepted(project, context.projects.shown(project))
    tell_admins(context, tx, f"key:{project}:accepted:{now.isoformat()}", message, now)


def tell_admins(
    context: Context, tx: Transaction, occasion: str, message: Message, now: datetime
) -> None:
    """Send a message to each admin in private, once for an ``occasion``."""
    for admin in sorted(context.settings.admins):
        note = NewDelivery.private(f"{occasion}:{admin}", _NO_CHANNEL, admin, message)
        Outbox(tx).add(note, now)


def read_analytics_budget(context: Context, tx: Transaction, project: ProjectId) -> Budget:
    """Return the state of the hourly budget of analytics calls about a project."""
    limit = context.limits.analytics_calls_an_hour
    return AnalyticsQuota(tx).read(context.projects.budget_of(project), limit, context.clock())


_SHARE_OF_AGE = 0.05
"""The delay between two polls of a job as a share of its age, within the limits of the settings."""
_JITTER = 0.1
"""The share by which a delay varies at random, so that jobs are not polled all at once."""


def poll_wait_seconds(settings: Settings, age_seconds: float, chance: float) -> float:
    """Return the seconds until the next poll of a job; ``chance`` is a random number in [0, 1)."""
    wait = max(settings.poll_min_seconds, age_seconds * _SHARE_OF_AGE)
    wait = min(wait, settings.poll_max_seconds)
    return wait * (1 - _JITTER + 2 * _JITTER * chance)


def poll_retry_seconds(
    settings: Settings, failing_seconds: float, chance: float, *, cap: float
) -> float:
    """Return the seconds until the next poll of a job whose polls have failed for so long.

    The delay is about as long as they have failed, so it doubles with each failure, up to ``cap``.
    """
    wait = max(settings.poll_min_seconds, min(failing_seconds, cap))
    return wait * (1 - _JITTER + 2 * _JITTER * chance)
