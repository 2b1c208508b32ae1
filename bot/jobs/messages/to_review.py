"""Pull requests that wait for review: their ages and lists."""

from __future__ import annotations

from datetime import datetime

from bot.jobs.messages.face import lasted, name
from bot.jobs.messages.pull_requests import pull_request_line
from bot.jobs.model.jobs import ToReview, TrackedJob
from bot.messages import blocks as b
from bot.messages.numbers import number

_TITLE_LENGTH = 80


def waits(job: TrackedJob, now: datetime) -> str:
    """Return the age of a pull request, and its line if the bot polls it."""
    if job.pull_request is None or not job.sees_pull_request:
        return _age(job, now)
    return f"{_age(job, now)}: {pull_request_line(job.pull_request)}"


def _age(job: TrackedJob, now: datetime) -> str:
    if job.pull_request and job.sees_pull_request:
        return f"open for {lasted(now - job.pull_request.since)}"
    return f"ready for {lasted(now - job.ended_at)}" if job.ended_at else "ready"


def _title(job: TrackedJob) -> str:
    """Return the title of the pull request, or else the prompt."""
    return f"“{b.quoted(job.pull_request.title if job.pull_request else job.text, _TITLE_LENGTH)}”"


def in_digest(waiting: ToReview) -> list[str]:
    """Return the lines of a digest about the pull requests that wait, for the reviewers or who asked."""
    if not waiting.jobs:
        return []
    lines = [
        f"• {b.link(job.pr_link, name(job.number))} {_title(job)} · {_age(job, waiting.at)}"
        f"{'' if waiting.reviewers else f' · {b.mention(job.recipient)}'}"
        for job in waiting.jobs
    ]
    more = [f"… and {number(waiting.more)} more: `/docs-agent jobs review`"] if waiting.more else []
    whom = f", {b.mention_all(waiting.reviewers)}" if waiting.reviewers else ""
    return [f"*To review*{whom}:", *lines, *more]
