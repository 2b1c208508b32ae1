"""The worker that polls the pull requests of jobs, and shows their state.

The end of an iteration does not wait for it; a poll adds to the end. The state, the edits of the
status message and of the end, and the messages in the thread are one transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.context import Context, WorkerContext, make_claim
from bot.engine import back_off_seconds, unless_taken_over
from bot.github import (
    GithubClient,
    GithubError,
    Limited,
    NotVisible,
    Paused,
    PullRequest,
    PullRequestFile,
    PullRequestId,
    PullRequestState,
    RefusedToken,
)
from bot.ids import Message, ProjectId
from bot.jobs.access import AdminRequest, Readable
from bot.jobs.hooks import JobHooks
from bot.jobs.job_words import answer_status
from bot.jobs.model.jobs import JobState, Review, TrackedJob
from bot.jobs.model.prompts import Act
from bot.jobs.model.pull_request import ChangedLine, ChangedPage, PullRequestSnapshot, Size
from bot.jobs.service_health import tell_admins
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread import say, update_result
from bot.logs import reason_of
from bot.messages.blocks import web_address
from bot.pulls.messages.pull_requests import changes_of, pull_request_ended, repository_notice
from bot.pulls.model.changes import (
    ChangedFile,
    changed_lines,
    changed_pages,
    pages_without_title,
    title_in_text,
)
from bot.pulls.model.pull_requests import WatchedPullRequest
from bot.pulls.store.pull_requests import PullRequests, Repositories
from bot.store import Transaction

log = structlog.get_logger(__name__)
_RETRY_PAUSE = timedelta(minutes=1)
_HIDDEN_POLLS_TO_PAUSE = 2
"""A new pull request may not be visible at once."""
_HIDDEN_PAUSE = timedelta(days=1)
"""The pause between two polls of a pull request that stays invisible."""
_TOKEN_PAUSE = timedelta(minutes=10)
_MAX_READ_FILES = 30
"""The most files of a new pull request to read for its end."""
_FEW_LINES = 4
"""The most changed lines of one to read without a token, when calls are few."""
_SHOWN_LINES = 2
"""The most changed lines to show in an end."""
_READ_SECONDS = 1.5
"""How long somebody who pressed a button waits.

A form opens within three seconds of the press or never.
"""
_NO_CHANGES = Size(0, 0, 0)
_MAX_PATHS = 30


@dataclass(frozen=True, slots=True)
class _IterationChanges:
    """The changes of an iteration."""

    size: Size
    lines: tuple[ChangedLine, ...] = ()
    """The changed lines if they are few."""
    paths: tuple[str, ...] = ()
    """The first changed files."""
    pages: tuple[ChangedPage, ...] = ()
    """The first changed pages."""


_LATE_AFTER = timedelta(hours=2)
"""State of this age, now or at the next poll, is shown with its time."""


def poll_soon(context: WorkerContext, tx: Transaction, job: TrackedJob) -> None:
    """Poll the pull request of a job as soon as possible, if its host can be polled.

    The token may read more than the people of the job's channel. So only the job's own repository
    counts, and only the one that the project's first job had, until an admin chooses another.
    """
    link = web_address(job.pr_link)
    if not link or not context.github or not context.github.pull_request_of(link):
        return
    pull_request_id = context.github.pull_request_of(link, job.repository or "")
    if pull_request_id is None:
        log.warning("pull_request_elsewhere", job=job.number)
        return
    now = context.clock()
    pinned = Repositories(tx).pin(job.project, pull_request_id.repository, now)
    if pinned == pull_request_id.repository:
        if PullRequests(tx).watch(job, link, now):
            Jobs(tx).save(job, replace(job, pull_request=None))
        return
    log.error(
        "repository_changed", job=job.number, repository=pull_request_id.repository, pinned=pinned
    )
    docs = context.projects.shown(job.project)
    message = repository_notice(job, pull_request_id.repository, pinned, docs)
    tell_admins(context, tx, f"repository:{job.project}:{pull_request_id.repository}", message, now)


async def use_repository(context: Context, admin: AdminRequest, value: str) -> str:
    """Pin a project to another repository, as an admin chose by a button with this value.

    Return the repository's name.
    """
    project, _, name = value.rpartition(" ")
    now = context.clock()

    def change(tx: Transaction) -> None:
        Repositories(tx).change(ProjectId(project), name, now)
        Audit(tx).chose(Act.CHOSE_REPOSITORY, admin.allowed.origin, ProjectId(project), now)

    await context.store.write(change)
    return name


claim_pull_requests = make_claim(
    lambda tx, claimer, limit: PullRequests(tx).claim_due(claimer, limit)
)
"""Claims due pull requests, those polled longest ago first."""


async def poll_pull_request(context: WorkerContext, watched: WatchedPullRequest) -> None:
    """Poll one pull request. Calls pause while the host refuses them."""
    try:
        pull_request_id = context.github.pull_request_of(watched.link) if context.github else None
        if context.github is None or pull_request_id is None:
            raise NotVisible("The bot is set up for another host now")
        answer = await context.github.pull_request(pull_request_id, watched.etag)
        made = (
            await _read_iteration_changes(context.github, pull_request_id, watched, answer)
            if answer
            else None
        )
    except GithubError as error:
        next_at = _retry_at(context, watched, error)
        if context.github and next_at and isinstance(error, Limited | RefusedToken):
            context.github.pause(next_at)
        change = partial(_settle_error, context, watched, error, next_at)
    else:
        change = partial(_settle_answer, context, watched, answer, made)
    with unless_taken_over("pull_request", watched.job):
        if await context.settle(change):
            context.wake()


async def _read_iteration_changes(
    github: GithubClient,
    pull_request_id: PullRequestId,
    watched: WatchedPullRequest,
    answer: PullRequest,
) -> _IterationChanges | None:
    """Return the newest iteration's changes; None if they are stored already, or cannot be read."""
    last = watched.snapshot
    try:
        if last is None:
            return await _read_first_changes(github, pull_request_id, answer)
        # The host may show the newest commits a little later, so a pull request without new ones is
        # compared again.
        if last.iteration == watched.iteration and last.made != _NO_CHANGES:
            return None
        if not last.head or not answer.head:
            return None
        if last.head == answer.head:
            return _IterationChanges(_NO_CHANGES)
        comparison = await github.compare(pull_request_id, last.head, answer.head)
        if not comparison.is_ahead or not comparison.is_whole:
            # The branch was rewritten.
            return None
        files = _to_changed_files(comparison.files)
        titles = await _read_titles(github, pull_request_id, files, answer.head)
    except GithubError as error:
        log.info("difference_not_read", job=watched.job, reason=reason_of(error))
        return None
    additions = sum(file.additions for file in files)
    deletions = sum(file.deletions for file in files)
    return _collect_changes(Size(additions, deletions, len(files)), files, titles)


async def _read_first_changes(
    github: GithubClient, pull_request_id: PullRequestId, answer: PullRequest
) -> _IterationChanges:
    """Return the changes of a pull request that was not polled before."""
    size = Size(answer.additions, answer.deletions, answer.changed_files)
    is_large = size.additions + size.deletions > _FEW_LINES
    if answer.changed_files > _MAX_READ_FILES or (is_large and not github.has_token):
        return _IterationChanges(size)
    files = _to_changed_files(await github.files(pull_request_id))
    return _collect_changes(
        size, files, await _read_titles(github, pull_request_id, files, answer.head)
    )


def _collect_changes(
    size: Size, files: Sequence[ChangedFile], titles: Mapping[str, str]
) -> _IterationChanges:
    return _IterationChanges(
        size,
        changed_lines(files, _SHOWN_LINES, titles),
        tuple(file.path for file in files[:_MAX_PATHS]),
        changed_pages(files, titles),
    )


async def _read_titles(
    github: GithubClient,
    pull_request_id: PullRequestId,
    files: Sequence[ChangedFile],
    commit: str | None,
) -> Mapping[str, str]:
    """Return the titles of changed pages by their paths where the patches do not show them.

    A title that cannot be read is left out: the page is then named by its path.
    """
    titles: dict[str, str] = {}
    for path in pages_without_title(files) if commit and github.has_token else ():
        try:
            titles[path] = title_in_text(await github.text(pull_request_id, path, commit or ""))
        except GithubError as error:
            log.info("title_not_read", reason=reason_of(error))
            break
    return titles


def _to_changed_files(files: Sequence[PullRequestFile]) -> Sequence[ChangedFile]:
    return [
        ChangedFile(
            file.path, file.status, file.additions, file.deletions, file.previous, file.patch
        )
        for file in files
    ]


async def read_changes(context: Context, readable: Readable) -> Sequence[ChangedFile] | None:
    """Return the files that a job's pull request changes; None if they cannot be read now."""
    try:
        async with asyncio.timeout(_READ_SECONDS):
            return await read_changed_files(context, readable.job)
    except (GithubError, TimeoutError) as error:
        log.info("changes_not_read", job=readable.job.number, reason=reason_of(error))
        return None


async def answer_changes(context: Context, target: Readable) -> Message:
    """Return the way to a job's changed words, or its status while there are none."""
    if target.job.pull_request is None:
        return await answer_status(context, target.job)
    return changes_of(target.job)


async def read_changed_files(context: Context, job: TrackedJob) -> Sequence[ChangedFile] | None:
    """Return the files that a job's pull request changes; None if the bot may not read it.

    Raises GithubError.
    """
    link = web_address(job.pr_link)
    if context.github is None or not link:
        return None
    pull_request_id = context.github.pull_request_of(link, job.repository or "")
    if pull_request_id is None:
        return None
    pinned = await context.store.read(lambda tx: Repositories(tx).of(job.project))
    if pinned != pull_request_id.repository:
        return None
    return _to_changed_files(await context.github.files(pull_request_id))


def _settle_answer(
    context: WorkerContext,
    watched: WatchedPullRequest,
    answer: PullRequest | None,
    made: _IterationChanges | None,
    tx: Transaction,
) -> bool:
    """Write and show the state.

    Return whether it is new. ``answer``: None for an unchanged pull request.
    """
    now = context.clock()
    job = Jobs(tx).get_or_raise(watched.job)
    last = watched.snapshot
    pull = _to_snapshot(answer, watched.reported_at) if answer else last
    if pull is None:
        raise LookupError(f"job {watched.job} has no pull request that was seen")
    # A closed pull request may be opened again.
    poll_at = None if pull.is_merged else watched.next_poll(now, context.timeouts.look_seconds)
    as_of = None if poll_at or pull.ended_at else now
    pull = _add_changes(pull, watched, made, has_changed=answer is not None)
    pull = replace(pull, iteration=watched.iteration, as_of=as_of)
    etag = answer.etag if answer else watched.etag
    if last is not None and job.state is JobState.WORKING and pull.head != last.head:
        # The end of the work compares with the last commit before it, and needs a whole answer.
        pull = replace(pull, head=last.head)
        etag = ""
    looked = replace(watched, poll_at=poll_at, etag=etag, polled_at=now, failed_polls=0)
    PullRequests(tx).save(watched, looked, owner=context.owner)
    is_news = pull != last and not job.is_forgotten
    if is_news:
        job = Jobs(tx).save(job, replace(job, pull_request=pull))
        _show_outcome(context, tx, job, last, pull)
    return is_news


def _add_changes(
    pull: PullRequestSnapshot,
    watched: WatchedPullRequest,
    made: _IterationChanges | None,
    *,
    has_changed: bool,
) -> PullRequestSnapshot:
    """Return a pull request with the changes of the iteration that has ended with it.

    ``has_changed``: whether the host's answer is another one than the last.
    """
    last = watched.snapshot
    paths = last.paths if last is not None else ()
    if made is not None:
        paths = tuple(dict.fromkeys((*paths, *made.paths)))[-_MAX_PATHS:]
        return replace(pull, made=made.size, lines=made.lines, paths=paths, pages=made.pages)
    if last is not None and last.iteration >= watched.iteration:
        return replace(pull, made=last.made, lines=last.lines, paths=paths, pages=last.pages)
    # An unchanged pull request has no newer commit either.
    is_as_before = not has_changed and pull.head is not None
    return replace(pull, made=_NO_CHANGES if is_as_before else None, lines=(), paths=paths)


def _to_snapshot(answer: PullRequest, since: datetime) -> PullRequestSnapshot:
    """Turn the answer of GitHub into the stored state of a pull request."""
    return PullRequestSnapshot(
        answer.title,
        Size(answer.additions, answer.deletions, answer.changed_files),
        is_draft=answer.draft,
        iteration=0,
        reported_at=since,
        is_merged=answer.state is PullRequestState.MERGED,
        ended_at=None if answer.is_open else answer.merged_at or answer.closed_at,
        merged_by=answer.merged_by,
        branch=answer.branch,
        head=answer.head,
    )


def _show_outcome(
    context: WorkerContext,
    tx: Transaction,
    job: TrackedJob,
    last: PullRequestSnapshot | None,
    pull: PullRequestSnapshot,
) -> None:
    """Show the state in the end, and a merge or a close in the thread.

    The status message is edited before the transaction commits (`update_status_messages`).
    """
    now = context.clock()
    was_over = last is not None and last.ended_at is not None
    is_merged_now = pull.is_merged and not (last is not None and last.is_merged)
    has_ended = pull.ended_at is not None and (not was_over or is_merged_now)
    # The outcome that people marked counts only while the pull request is open.
    became = None
    if pull.ended_at is not None:
        became = Review.MERGED if pull.is_merged else Review.CLOSED
    was_reopened = became is None and job.review in (Review.MERGED, Review.CLOSED)
    if job.state is JobState.PULL_REQUEST and (became or was_reopened):
        new = replace(
            job, review=became, reviewed_by=None, reviewed_at=pull.ended_at, remind_at=None
        )
        Jobs(tx).save(job, new)
    is_told = False
    if has_ended and pull.is_merged:
        for hooks in context.hooks_of(JobHooks):
            is_told = hooks.on_merged(context, tx, job.number) or is_told
    job = Jobs(tx).get_or_raise(job.number)
    if last is None or (last.iteration, last.made) != (pull.iteration, pull.made) or has_ended:
        update_result(context, tx, job)
    # People may have muted the job, or read that the bot polls no more.
    if has_ended and not is_told and job.state is not JobState.UNWATCHED:
        end = "merged" if pull.is_merged else "closed"
        key = f"pull_request:{pull.iteration}:{end}"
        say(tx, job, key, pull_request_ended(job, pull), now)


def _settle_error(
    context: WorkerContext,
    watched: WatchedPullRequest,
    error: GithubError,
    poll_at: datetime | None,
    tx: Transaction,
) -> bool:
    """Write a failed poll. People see only an old state with its time in the status message.

    Return whether the status message shows it from now on.
    """
    now = context.clock()
    pull = watched.snapshot
    failed_polls = watched.failed_polls
    if not isinstance(error, Limited | RefusedToken):
        # A limit or a refused token is not about this pull request.
        failed_polls += 1
    job = Jobs(tx).get_or_raise(watched.job)
    if not isinstance(error, Paused):
        log.warning(
            "pull_request_not_read",
            job=watched.job,
            reason=reason_of(error),
            failed_polls=failed_polls,
        )
    is_late = watched.polled_at is not None and (poll_at or now) - watched.polled_at >= _LATE_AFTER
    is_hidden = isinstance(error, NotVisible) and watched.failed_polls >= _HIDDEN_POLLS_TO_PAUSE
    if pull and (is_late or is_hidden or poll_at is None) and not pull.as_of:
        pull = replace(pull, as_of=watched.polled_at)
    new = replace(watched, poll_at=poll_at, failed_polls=failed_polls)
    PullRequests(tx).save(watched, new, owner=context.owner)
    is_news = pull != watched.snapshot and not job.is_forgotten
    if is_news:
        Jobs(tx).save(job, replace(job, pull_request=pull))
    return is_news


def _retry_at(
    context: WorkerContext, watched: WatchedPullRequest, error: GithubError
) -> datetime | None:
    """Return the time of the next poll after an error; None for never."""
    now = context.clock()
    next_poll = watched.next_poll(now, context.timeouts.look_seconds)
    growing = context.after(
        back_off_seconds(watched.failed_polls + 1, 1.0, first=60.0, cap=3_600.0)
    )
    if next_poll is None:
        return None
    if isinstance(error, NotVisible):
        return next_poll if watched.failed_polls < _HIDDEN_POLLS_TO_PAUSE else now + _HIDDEN_PAUSE
    if isinstance(error, RefusedToken):
        return now + _TOKEN_PAUSE
    if isinstance(error, Limited):
        # A limit may already be over by this machine's clock.
        return max(error.until or growing, now + _RETRY_PAUSE)
    return growing
