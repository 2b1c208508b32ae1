"""Replies about a pull request: its end, its reminder, its changes, and its repository."""

from __future__ import annotations

from datetime import datetime

from bot.ids import Message
from bot.jobs.messages.job_answers import named_docs
from bot.jobs.messages.status_message import by_whom, lasted, name, pull_request_line, view
from bot.jobs.messages.unsent import changes_button
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.pull_request import PullRequestSnapshot
from bot.messages import blocks as b
from bot.projects import Project


def reminder(job: TrackedJob, status_message_link: str | None, now: datetime) -> Message:
    """Return the reminder, sent once, of a pull request without an outcome."""
    build_calls = ""
    if not job.sees_pull_request:
        first = b.link(status_message_link, "its first message")
        build_calls = f" Once it is reviewed, press *Reviewed* in {first}."
    whom = b.mention(job.recipient)
    text = f"{whom} :memo: The pull request of {name(job.number)} has been {waits(job, now)}.{build_calls}"
    return b.with_buttons(text, view(job))


def pull_request_ended(job: TrackedJob, pull: PullRequestSnapshot) -> Message:
    """Return the reply, sent once, about a pull request that was merged or closed."""
    after = f"after {lasted((pull.ended_at or pull.reported_at) - pull.reported_at)}"
    of = f"The pull request of {name(job.number)} was"
    if pull.is_merged:
        return b.words(f":white_check_mark: {of} merged {after}{by_whom(pull)}.")
    return b.words(f":no_entry_sign: {of} closed {after} without being merged.")


def waits(job: TrackedJob, now: datetime) -> str:
    """Return the age of a pull request, and its line if the bot polls it."""
    if job.pull_request is None or not job.sees_pull_request:
        return _age(job, now)
    return f"{_age(job, now)}: {pull_request_line(job.pull_request)}"


def _age(job: TrackedJob, now: datetime) -> str:
    if job.pull_request and job.sees_pull_request:
        return f"open for {lasted(now - job.pull_request.reported_at)}"
    return f"ready for {lasted(now - job.ended_at)}" if job.ended_at else "ready"


def changes_of(job: TrackedJob) -> Message:
    """Return the answer to a question about a job's changes."""
    return b.with_buttons("*Changes* shows what it did.", [changes_button(job)])


def repository_notice(
    job: TrackedJob, named: str, pinned: str, docs: Project | None = None
) -> Message:
    """Return the notice to admins that a job has another repository than its project so far.

    ``docs``: see ``Projects``.
    """
    value = f"{job.project} {named}"
    text = (
        f":warning: The pull request of {name(job.number)} is in {b.code(named, 300)}, "
        f"but the docs of {named_docs(job.project, docs)} were in {b.code(pinned, 300)} so far. "
        "I link it and don't read it, so nobody sees its state or its changes here. "
        "Have the docs moved?"
    )
    return b.with_buttons(text, [b.button("Read it from now on", b.Action.USE_REPOSITORY, value)])


def repository_used(named: str) -> Message:
    """Return the confirmation that a project's pull requests are read in another repository."""
    return b.words(
        f":white_check_mark: From now on I read pull requests in {b.code(named, 300)}, "
        "with the next job."
    )
