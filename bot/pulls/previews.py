"""Previews of jobs' branches.

They are asked for at a press, built by the docs service, and shown at the end of the job.

A call that may begin a build is counted before it is made, so that after a crash a build is
begun twice at most.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import structlog

from bot.access.admit import check_channel
from bot.context import Context, WorkerContext, make_claim
from bot.docs_api import (
    Build,
    BuildStatus,
    DocsApiError,
    Forbidden,
    InvalidArgument,
    NotConfigured,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    Unavailable,
)
from bot.engine import unless_taken_over
from bot.ids import Message, UserId
from bot.jobs.access import Readable
from bot.jobs.ask import FollowUpOutcome, follow_up
from bot.jobs.job_acts import sent_by_button
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.prompts import PromptRequest
from bot.jobs.service_health import settle_refused_key, wait_asked_for
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import edit, say, update_result
from bot.logs import reason_of
from bot.messages.blocks import clean_url
from bot.messages.plain_text import visible
from bot.messages.slack_text import from_plain
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.pulls.messages.previews import (
    NO_PREVIEW,
    fix_preview_prompt,
    no_preview,
    offer_preview,
    outdated_preview,
    preview_built,
)
from bot.pulls.model.previews import (
    MAX_BUILD_CALLS,
    PREVIEW_TIMEOUT,
    UNAVAILABLE_FOR,
    Preview,
    PreviewState,
    end_of,
)
from bot.pulls.store.pull_requests import PreviewLimits, Previews
from bot.store import Transaction

log = structlog.get_logger(__name__)
_RETRY_SECONDS = 30.0
_SECONDS_BEHIND = 1.0
_UNAVAILABLE_ERRORS = (Forbidden, NotConfigured)


def request_preview(
    context: Context, tx: Transaction, job: TrackedJob, user: UserId, *, is_requested: bool = True
) -> bool:
    """Ask for the preview of a job's branch, unless the service is building it.

    Return False if previews are unavailable. ``is_requested``: whether the person gets a message
    when it is built.
    """
    if job.state is not JobState.PULL_REQUEST or job.branch is None:
        return False
    if not can_preview(context, tx, job):
        return False
    now = context.clock()
    preview = Preview(
        job.number,
        job.project,
        job.iteration,
        user,
        job.branch,
        PreviewState.ASKED,
        asked_at=now,
        due_at=now,
        is_requested=is_requested,
    )
    if Previews(tx).ask(preview):
        update_result(context, tx, job)
    return True


async def request_preview_by_button(context: Context, readable: Readable) -> Message | None:
    """Ask for a preview, as somebody did by a press. Return the answer if there can be none.

    Raises NotAllowed for a job in a channel that the bot is not set up for.
    """
    check_channel(context, readable.job.channel)

    def ask(tx: Transaction) -> Message | None:
        job = Jobs(tx).get_or_raise(readable.job.number)
        return None if request_preview(context, tx, job, readable.allowed.user) else no_preview(job)

    return await context.write(ask)


claim_previews = make_claim(lambda tx, claimer, limit: Previews(tx).claim_due(claimer, limit))
"""Claims the previews that wait for a call."""


async def make_preview(context: WorkerContext, preview: Preview) -> None:
    """Begin the build of a preview, or poll it if it has begun."""
    with unless_taken_over("preview", preview.job):
        counted = await context.settle(lambda tx: _count_call(context, tx, preview))
        is_news = True
        if counted is not None:
            is_news = await _make_build_call(context, preview, counted)
        if is_news:
            context.wake()


async def _make_build_call(context: WorkerContext, preview: Preview, counted: Preview) -> bool:
    """Make the call for which a preview waits, and write its outcome.

    Return whether there is a message. ``counted``: the preview with this call.
    """
    make = _begin_build if preview.state is PreviewState.ASKED else _poll_build
    try:
        new = await make(context, counted)
    except DocsApiError as error:
        failure = error
        return await context.settle(
            lambda tx: _settle_error(context, tx, preview, counted, failure)
        )
    return await context.settle(lambda tx: _settle_preview(context, tx, counted, new))


def _count_call(context: WorkerContext, tx: Transaction, preview: Preview) -> Preview | None:
    """Count a call that begins a build; None, without a call, for a preview that cannot come."""
    now = context.clock()
    begins = preview.state is PreviewState.ASKED
    is_late = now - preview.asked_at > PREVIEW_TIMEOUT
    is_spent = begins and preview.build_calls >= MAX_BUILD_CALLS
    is_refused = begins and PreviewLimits(tx).exhausted_until(preview.project, now) is not None
    if is_late or is_spent or is_refused:
        _settle_preview(
            context, tx, preview, replace(preview, state=PreviewState.MISSING, due_at=None)
        )
        return None
    return Previews(tx).count_call(preview, context.owner) if begins else preview


async def _begin_build(context: WorkerContext, preview: Preview) -> Preview:
    begun = await context.docs.create_preview(preview.project, preview.branch)
    return replace(
        preview,
        state=PreviewState.BUILDING,
        status_id=begun.status_id,
        url=clean_url(begun.preview_url, context.settings.allowed_link_hosts),
        due_at=context.after(context.timeouts.build_seconds),
    )


async def _poll_build(context: WorkerContext, preview: Preview) -> Preview:
    build = await context.docs.get_build(preview.project, preview.status_id or "")
    over = replace(preview, due_at=None)
    if not preview.url:
        return replace(over, state=PreviewState.MISSING)
    if build.known_status is BuildStatus.SUCCESS:
        return replace(over, state=PreviewState.READY)
    if build.known_status is BuildStatus.FAILURE:
        # Outside the event loop, because long logs take a tenth of a second to clean.
        log = await asyncio.to_thread(_clip_log, build)
        return replace(over, state=PreviewState.BROKEN, log=log)
    return replace(preview, due_at=context.after(context.timeouts.build_seconds))


def _clip_log(build: Build) -> str | None:
    return end_of(list(map(visible, build.logs))) or end_of([visible(build.summary or "")])


def _settle_error(
    context: WorkerContext, tx: Transaction, preview: Preview, counted: Preview, error: DocsApiError
) -> bool:
    """Write a failed call: a later one, or no preview. Return whether there is a message."""
    begins = preview.state is PreviewState.ASKED
    log.warning("preview_call_failed", job=preview.job, reason=reason_of(error), begins=begins)
    # Where the project had a preview, a 404 is about one branch.
    is_unknown = isinstance(error, NotFound) and not Previews(tx).has_begun(preview.project)
    if begins and (is_unknown or isinstance(error, _UNAVAILABLE_ERRORS)):
        PreviewLimits(tx).mark_exhausted(preview.project, context.clock() + UNAVAILABLE_FOR)
    wait_seconds = wait_asked_for(error) or _RETRY_SECONDS
    if begins and isinstance(error, RateLimited):
        # The service frees all turns of a minute at once. People with few open previews go first.
        wait_seconds += _SECONDS_BEHIND * Previews(tx).count_open(preview.requester)
    new = replace(counted, due_at=context.after(wait_seconds))
    if isinstance(error, Unauthorized):
        due_at = settle_refused_key(context, tx, preview.project, error, wrote=False)
        new = replace(new, due_at=due_at)
    elif isinstance(error, (Rejected, InvalidArgument, NotFound, *_UNAVAILABLE_ERRORS)):
        new = replace(new, state=PreviewState.MISSING, due_at=None)
    if begins and not (isinstance(error, Unavailable) and error.sent):
        # The service has begun no build, so the call does not count.
        new = replace(new, build_calls=preview.build_calls)
    # A refused key may have a message to admins.
    return _settle_preview(context, tx, counted, new) or isinstance(error, Unauthorized)


def _settle_preview(
    context: WorkerContext, tx: Transaction, preview: Preview, new: Preview
) -> bool:
    """Write a preview's new state, and show it in the job's end.

    Return whether there is a message.
    """
    job = Jobs(tx).get_or_raise(preview.job)
    Previews(tx).save(preview, new, owner=context.owner)
    if job.is_forgotten or (new.state, new.is_put_off) == (preview.state, preview.is_put_off):
        return False
    update_result(context, tx, job)
    if new.state in (PreviewState.READY, PreviewState.BROKEN):
        _tell_requester(context, tx, job, new)
    if new.state is PreviewState.MISSING:
        whisper = NewDelivery.whisper(
            f"preview:{job.number}:{preview.asked_at.isoformat()}",
            job.channel,
            preview.requester,
            no_preview(job),
            thread=job.status_ts,
        )
        Outbox(tx).add(whisper, context.clock())
    return True


def _tell_requester(context: Context, tx: Transaction, job: TrackedJob, built: Preview) -> None:
    """Reply to the person who has asked for a preview: an edit of the end notifies nobody.

    They may have asked for it, or have been forgotten, while it was being built.
    """
    asked = Previews(tx).get(job.number)
    if asked is None or not asked.is_requested:
        return
    is_mended = Prompts(tx).of_version(job).is_preview_fix
    message = preview_built(replace(built, requester=asked.requester), is_mended=is_mended)
    say(tx, job, preview_occasion(built), message, context.clock())


async def fix_preview(context: Context, readable: Readable) -> FollowUpOutcome | None:
    """Give the agent the log of the job's preview, whose build has failed.

    Return None if it has not.

    A second press sends nothing.
    """
    job = readable.job
    preview = await context.store.read(lambda tx: Previews(tx).get(job.number))
    if preview is None or preview.state is not PreviewState.BROKEN:
        return None
    if preview.iteration != job.iteration:
        return None
    sent = sent_by_button(readable, f"fix:{job.number}:{preview.asked_at.isoformat()}")
    prompt = from_plain(fix_preview_prompt(preview))
    return await follow_up(context, sent, PromptRequest(prompt, is_preview_fix=True))


def can_preview(context: Context, tx: Transaction, job: TrackedJob) -> bool:
    """Return whether a preview of the job's branch may be asked for."""
    has_ended = job.pull_request is not None and job.pull_request.ended_at is not None
    if context.settings.previews == "off" or job.branch is None or has_ended:
        return False
    return PreviewLimits(tx).exhausted_until(job.project, context.clock()) is None


def preview_occasion(preview: Preview) -> str:
    """Return the occasion of the reply about a preview that is built, or does not build."""
    return f"preview:{preview.asked_at.isoformat()}:built"


def remove_preview_button(context: Context, tx: Transaction, before: TrackedJob) -> None:
    """Take the button from the reply about a broken preview, once its job goes on."""
    preview = Previews(tx).get(before.number)
    is_of_end = preview is not None and preview.iteration == before.iteration
    if preview and is_of_end and preview.is_requested and preview.state is PreviewState.BROKEN:
        message = outdated_preview(preview)
        edit(tx, before, preview_occasion(preview), message, context.clock())


async def answer_preview(context: Context, target: Readable) -> Message:
    """Answer the wish to see a job's pages."""
    job = target.job
    is_possible = await context.store.read(lambda tx: can_preview(context, tx, job))
    return offer_preview(job) if is_possible else NO_PREVIEW
