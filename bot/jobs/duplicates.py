"""Duplicates of a new request: open jobs about the same page or subject."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import ChannelId, JobNumber, ProjectId
from bot.jobs.ask import is_public_channel
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.subjects import Subject, find_subject, is_about
from bot.jobs.model.targets import target_of
from bot.jobs.store.jobs import GAP_IN_WORK, Jobs
from bot.messages import slack_text
from bot.store import Transaction

_MAX_DUPLICATES = 100
_MAX_JOBS = 1_000


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An open job about the page or subject of a new request."""

    job: TrackedJob
    has_page: bool
    """Whether the job changes a page that the request names; else both add the same new page."""


async def find_duplicate(
    context: Context,
    allowed: Allowed,
    raw: str,
    project: ProjectId | None,
    besides: JobNumber | None = None,
) -> Duplicate | None:
    """Return an open job about a page of a prompt, or another person's about its subject.

    Everybody in the channel may know of that job. A person's own equal prompt is no duplicate:
    the bot asks about it elsewhere. ``besides``: the prompt's own job.
    """
    place = allowed.origin.channel
    user = allowed.user
    target = target_of(slack_text.to_plain(raw, {}, {}))
    if not target.pages and not target.subject:
        return None

    def list_duplicates(tx: Transaction) -> Sequence[Duplicate]:
        of_project = project or context.project_of(tx, place).id
        duplicates = []
        for job in Jobs(tx).list_targets(of_project, _MAX_DUPLICATES):
            is_own = job.requester == user
            if job.number == besides or (is_own and job.text.strip() == raw.strip()):
                continue
            has_page = job.shares_page(target)
            if has_page or (not is_own and job.adds_same_page(target)):
                duplicates.append(Duplicate(Jobs(tx).get_or_raise(job.number), has_page))
        return duplicates

    for duplicate in await context.store.read(list_duplicates):
        if await _may_be_named(context, place, duplicate.job):
            return duplicate
    return None


async def _may_be_named(context: Context, channel: ChannelId, job: TrackedJob) -> bool:
    """Return whether everybody in a channel may know of a job."""
    return job.channel == channel or await is_public_channel(context, job.channel) is True


# ---- open jobs for the rows of content gaps


async def find_open_job(
    context: Context, channel: ChannelId, project: ProjectId, title: str
) -> TrackedJob | None:
    """Return an open job about a subject, if everybody in the channel may know of the job."""
    now = context.clock()
    open_jobs = await context.store.read(lambda tx: list_open_jobs(tx, project, now))
    for job, subjects in open_jobs:
        if is_about_any(title, subjects) and await _may_be_named(context, channel, job):
            return job
    return None


def list_open_jobs(
    tx: Transaction, project: ProjectId, now: datetime
) -> list[tuple[TrackedJob, list[Subject]]]:
    """Return a project's open jobs, each with the subjects of its pull request and its request."""
    found = []
    for job in Jobs(tx).list_unreviewed(project, _MAX_JOBS):
        if _is_known_open(job, now):
            titles = [job.pull_request.title] if job.pull_request else []
            titles.append(job.gap.title if job.gap else job.text)
            found.append((job, [find_subject(title) for title in titles]))
    return found


def _is_known_open(job: TrackedJob, now: datetime) -> bool:
    """Return whether a job goes on, or its pull request is open.

    A pull request that the bot cannot read counts as open for as long as a gap counts as in work.
    """
    if not job.awaits_review or job.sees_pull_request:
        return True
    pull = job.pull_request
    known_at = (pull.as_of if pull else None) or job.ended_at
    return known_at is None or now - known_at < GAP_IN_WORK


def is_about_any(title: str, subjects: Collection[Subject]) -> bool:
    """Return whether a title is about any of some subjects."""
    subject = find_subject(title)
    return any(is_about(subject, text) for text in subjects)
