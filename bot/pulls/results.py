"""The end of an iteration with a pull request: what begins with it, and how it is drawn."""

from __future__ import annotations

from bot.context import Context, WorkerContext
from bot.ids import Message
from bot.jobs.model.jobs import JobState, TrackedJob
from bot.jobs.model.prompts import VersionRequest
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.pulls.messages.results import format_pull_request, outdated_pull_request
from bot.pulls.previews import ask_for, can_preview
from bot.pulls.pull_requests import watch
from bot.pulls.store.pull_requests import Previews
from bot.store import Transaction


def on_ended(context: WorkerContext, tx: Transaction, job: TrackedJob) -> None:
    """Ask for the preview of a job whose iteration has ended, and poll its pull request."""
    if Prompts(tx).of_version(job).is_preview_fix:
        ask_for(context, tx, job, job.recipient)
    elif context.settings.previews == "always":
        ask_for(context, tx, job, job.recipient, is_requested=False)
    watch(context, tx, job)


def draw_end(
    context: Context, tx: Transaction, job: TrackedJob, request: VersionRequest
) -> Message | None:
    """Return the end of an iteration with a pull request, with its preview; None for others."""
    if job.state is not JobState.PULL_REQUEST:
        return None
    preview = Previews(tx).get(job.number)
    if preview is not None and preview.iteration != job.iteration and not preview.outlasts:
        preview = None
    return format_pull_request(
        job,
        request.subject,
        is_newcomer=Prompts(tx).is_first_job(job),
        is_first=not Jobs(tx).offers_pull_request(job),
        preview=preview,
        offers_preview=can_preview(context, tx, job),
        is_preview_fix=request.is_preview_fix,
    )


def draw_outdated_end(job: TrackedJob, subject: str) -> Message | None:
    """Return the end with a pull request of a job that goes on; None for others."""
    if job.state is not JobState.PULL_REQUEST:
        return None
    return outdated_pull_request(job, subject)
