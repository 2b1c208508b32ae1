"""Previews of jobs' branches: asked for at a press, built by the docs service, shown at the end of the job.

A call that may begin a build is counted before it is made, so that a crash asks twice at most.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from typing import Unpack

import structlog

from bot.docs_api import (
    Build,
    BuildStatus,
    DocsApiError,
    Forbidden,
    InvalidArgument,
    NotConfigured,
    NotFound,
    Rejected,
    Unauthorized,
    Unavailable,
)
from bot.messages import previews as say
from bot.messages.blocks import linkable
from bot.messages.plain_text import visible
from bot.model.ids import Message, UserId
from bot.model.jobs import JobState, TrackedJob
from bot.model.outbox import NewDelivery
from bot.model.previews import (
    GIVEN_UP_AFTER,
    MOST_ASKS,
    NOT_HERE_FOR,
    Preview,
    PreviewFields,
    PreviewState,
    begins_at,
    end_of,
)
from bot.store import Transaction
from bot.store.jobs import Jobs
from bot.store.outbox import Outbox
from bot.store.previews import PreviewLimits, Previews
from bot.work.access import Readable, check_channel
from bot.work.context import Context, WorkerContext
from bot.work.jobs.service_health import key_refused, wait_asked_for
from bot.work.jobs.thread import can_preview, show_end_again
from bot.work.writing import unless_taken_over

log = structlog.get_logger(__name__)
_RETRY_SECONDS = 30.0
_UNNOTICED = timedelta(seconds=20)
"""A preview that waits no longer for its turn is not worth a word."""
_NOT_HERE = (Forbidden, NotConfigured)
_Change = Callable[[Transaction], bool]
"""Writes what was heard. Returns whether there is something to tell."""


def ask_for(context: Context, tx: Transaction, job: TrackedJob, user: UserId) -> bool:
    """Ask for the preview of a job's branch, unless one is under way. Return False if there can be none.

    The caller has locked the job.
    """
    if job.state is not JobState.PULL_REQUEST or job.branch is None or not can_preview(context, tx, job):
        return False
    state, now = PreviewState.ASKED, context.clock()
    if Previews(tx).ask(Preview(job.number, job.project, job.iteration, user, job.branch, state, now)):
        show_end_again(context, tx, job)
    return True


async def ask_by_press(context: Context, readable: Readable) -> Message | None:
    """Ask for a preview, as somebody did by a press. Return the answer if it waits, or if there can be none.

    Raises NotAllowed for a job in a channel that the bot is not set up for.
    """
    check_channel(context, readable.job.channel)

    def ask(tx: Transaction) -> Message | None:
        # Before the job, as everywhere: the wait is computed under this lock.
        PreviewLimits(tx).lock(context.projects.budget_of(readable.job.project))
        job = Jobs(tx).get_locked(readable.job.number)
        if job is None:
            return None
        if not ask_for(context, tx, job, readable.allowed.user):
            return say.none_came(job)
        preview = Previews(tx).get(job.number)
        if preview is None or preview.state is not PreviewState.ASKED:
            return None
        wait = _wait(context, tx, preview, timedelta(minutes=1))
        return say.waits(job, context.clock() + wait) if wait > _UNNOTICED else None

    answer = await context.store.write(ask)
    context.wake()
    return answer


async def claim_previews(
    context: WorkerContext, limit: int, _full: Collection[str] = ()
) -> Sequence[Preview]:
    """Claim the previews that wait for a call."""
    return await context.store.write(lambda tx: Previews(tx).claim_due(context.claimer(), limit))


def _wait(context: Context, tx: Transaction, preview: Preview, minute: timedelta) -> timedelta:
    """Return how long a build waits for its call. Keeps other processes from counting meanwhile."""
    now, counted_with = context.clock(), context.projects.budget_of
    key = counted_with(preview.project)
    PreviewLimits(tx).lock(key)
    turns = [each for each in Previews(tx).turns(now - minute) if counted_with(each.project) == key]
    return begins_at(preview.job, turns, now, minute) - now


def _prepare(context: WorkerContext, tx: Transaction, preview: Preview) -> tuple[bool, bool]:
    """Count a call that begins a build. Return whether to call now, and whether there is something to tell.

    Without room in the minute the preview waits; one that comes to nothing is given up.
    """
    begins = preview.state is PreviewState.ASKED
    minute = timedelta(seconds=context.timeouts.minute_seconds)
    wait = _wait(context, tx, preview, minute) if begins else timedelta()
    now = context.clock()
    is_refused = begins and PreviewLimits(tx).exhausted_until(preview.project, now) is not None
    if now - preview.asked_at > GIVEN_UP_AFTER or (begins and preview.asks >= MOST_ASKS) or is_refused:
        return False, _settle(context, tx, preview, None, state=PreviewState.MISSING)
    if wait:
        return False, _settle(context, tx, preview, wait.total_seconds())
    if begins:
        Previews(tx).begin(preview, context.owner, now)
    return True, False


async def make_preview(context: WorkerContext, preview: Preview) -> None:
    """Ask the service for a preview that is wanted, or how far its build is."""
    with unless_taken_over("preview", preview.job):
        may_call, is_news = await context.settle(lambda tx: _prepare(context, tx, preview))
        if may_call:
            try:
                change = await (_begin if preview.state is PreviewState.ASKED else _look)(context, preview)
            except DocsApiError as error:
                change = _failed(context, preview, error)
            is_news = await context.settle(change)
        if is_news:
            context.wake()


async def _begin(context: WorkerContext, preview: Preview) -> _Change:
    begun = await context.docs.create_preview(preview.project, preview.branch)
    return lambda tx: _settle(
        context,
        tx,
        preview,
        context.timeouts.build_seconds,
        state=PreviewState.BUILDING,
        status_id=begun.status_id,
        url=linkable(begun.preview_url, context.link_hosts),
    )


async def _look(context: WorkerContext, preview: Preview) -> _Change:
    build = await context.docs.get_build(preview.project, preview.status_id or "")
    fields = _of(build) if preview.url else PreviewFields(state=PreviewState.MISSING)
    seconds = None if fields else context.timeouts.build_seconds
    return lambda tx: _settle(context, tx, preview, seconds, **fields)


def _of(build: Build) -> PreviewFields:
    """Return what is known by a build that is over; nothing for one that goes on."""
    if build.known_status is BuildStatus.SUCCESS:
        return {"state": PreviewState.READY}
    if build.known_status is BuildStatus.FAILURE:
        return {
            "state": PreviewState.BROKEN,
            "log": end_of(list(map(visible, build.logs))) or end_of([visible(build.summary or "")]),
        }
    return {}


def _failed(context: WorkerContext, preview: Preview, error: DocsApiError) -> _Change:
    """Return what to write about a call that failed."""
    begins = preview.state is PreviewState.ASKED
    log.warning("preview_call_failed", job=preview.job, reason=type(error).__name__, begins=begins)

    def change(tx: Transaction) -> bool:
        if isinstance(error, Unauthorized):
            until = key_refused(context, tx, preview.project, error, wrote=False)
            wait_seconds: float | None = max((until - context.clock()).total_seconds(), 0.0)
        elif isinstance(error, (Rejected, InvalidArgument, NotFound, *_NOT_HERE)):
            wait_seconds = None
        else:
            wait_seconds = wait_asked_for(error) or _RETRY_SECONDS
        if begins and _is_not_here(tx, preview, error):
            PreviewLimits(tx).mark_exhausted(preview.project, context.clock() + NOT_HERE_FOR)
        fields: PreviewFields = {"state": PreviewState.MISSING} if wait_seconds is None else {}
        if begins and not (isinstance(error, Unavailable) and error.sent):
            fields["asks"] = preview.asks  # nothing was begun
        is_told = _settle(context, tx, preview, wait_seconds, **fields)
        return is_told or isinstance(error, Unauthorized)  # which admins may be told

    return change


def _is_not_here(tx: Transaction, preview: Preview, error: DocsApiError) -> bool:
    """Return whether the project has no previews at all. Where it had one, a 404 is about one branch."""
    is_unknown = isinstance(error, NotFound) and not Previews(tx).has_begun(preview.project)
    return is_unknown or isinstance(error, _NOT_HERE)


def _settle(
    context: WorkerContext,
    tx: Transaction,
    preview: Preview,
    wait_seconds: float | None,
    **fields: Unpack[PreviewFields],
) -> bool:
    """Write what was heard, and show it in the end of the job. Return whether there is something to tell."""
    due_at = None if wait_seconds is None else context.after(wait_seconds)
    job = Jobs(tx).get_locked(preview.job)
    settled = Previews(tx).settle(preview.job, context.owner, due_at, **fields)
    if job is None or job.is_forgotten or settled.state is preview.state:
        return False
    show_end_again(context, tx, job)
    if settled.state is PreviewState.MISSING:
        key, asker = f"preview:{job.number}:{preview.asked_at.isoformat()}", preview.requester
        whisper = NewDelivery.whisper(key, job.channel, asker, say.none_came(job), thread=job.root_ts)
        Outbox(tx).add(whisper, context.clock())
    return True
