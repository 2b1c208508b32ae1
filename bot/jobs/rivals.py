"""Open jobs about the page or subject of a new request, to prevent a duplicate."""

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
from bot.jobs.model.topics import topic_of
from bot.jobs.store.jobs import GAP_IN_WORK, Jobs
from bot.messages import slack_text
from bot.store import Transaction

_MAX_RIVALS = 100
_MAX_JOBS = 1_000


@dataclass(frozen=True, slots=True)
class Rival:
    """An open job about the page or subject of a new request."""

    job: TrackedJob
    has_page: bool
    """Whether it changes a page that the request names; False if both want the same new page."""


async def find_rival(
    context: Context,
    allowed: Allowed,
    raw: str,
    project: ProjectId | None,
    besides: JobNumber | None = None,
) -> Rival | None:
    """Return an open job about the page of a prompt, or another person's about its new subject.

    Everybody in the channel may know of that job. A person's own equal prompt is no rival:
    another question asks about it.
    ``besides``: the prompt's own job.
    """
    place = allowed.origin.channel
    topic = topic_of(slack_text.to_plain(raw, {}, {}))
    if not topic.pages and not topic.subject:
        return None

    def find_rivals(tx: Transaction) -> Sequence[Rival]:
        of_project = project or context.project_of(tx, place).id
        rivals = []
        for job in Jobs(tx).list_topics(of_project, _MAX_RIVALS):
            is_own = job.requester == allowed.user
            if job.number == besides or (is_own and job.text.strip() == raw.strip()):
                continue
            has_page = job.has_page_of(topic)
            if has_page or (not is_own and job.has_subject_of(topic)):
                rivals.append(Rival(Jobs(tx).get_or_raise(job.number), has_page))
        return rivals

    for rival in await context.store.read(find_rivals):
        if await _may_be_named(context, place, rival.job):
            return rival
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
    going = await context.store.read(lambda tx: list_open_jobs(tx, project, now))
    for job, subjects in going:
        if is_about_any(title, subjects) and await _may_be_named(context, channel, job):
            return job
    return None


def list_open_jobs(
    tx: Transaction, project: ProjectId, now: datetime
) -> list[tuple[TrackedJob, list[Subject]]]:
    """Return a project's open jobs.

    Each comes with the subjects of its pull request and of its request.
    """
    found = []
    for job in Jobs(tx).list_unreviewed(project, _MAX_JOBS):
        if _is_known_open(job, now):
            titles = [job.pull_request.title] if job.pull_request else []
            titles.append(job.gap.title if job.gap else job.text)
            found.append((job, [find_subject(title) for title in titles]))
    return found


def _is_known_open(job: TrackedJob, now: datetime) -> bool:
    """Return whether a job goes on, or its pull request is open.

    One that the bot cannot see counts as open for as long as a gap counts as in work.
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
