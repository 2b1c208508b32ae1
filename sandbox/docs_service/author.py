"""Authors write the change that a message asks for, as one commit on the branch of its job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from sandbox.docs_service.agent import Change, End, Unchanged, asked_end, decide, is_slow
from sandbox.docs_service.agent.wording import clip, one_line
from sandbox.docs_service.jobs import Job, JobMessage, Outcome, WorkDone
from sandbox.docs_service.options import SLOW_FACTOR, DocsServiceOptions
from sandbox.docs_service.repository import CommitInfo, SiteRepository


class Author(Protocol):
    """Works on one message at a time; every way in which the work can end is a `WorkDone`."""

    def work_seconds(self, prompt: str, /) -> float:
        """Return how long after its arrival the work on a prompt begins."""

    def branch(self, job_id: str, prompt: str, /) -> str:
        """Return the name of a new job's branch."""

    def stop(self, job_id: str, /) -> None:
        """End the work on a job that was archived, unless it takes no time."""

    async def write(self, job: Job, message: JobMessage) -> WorkDone:
        """Commit the change. Called again after a kill, it returns what was committed before."""


class TemplateAuthor:
    """Follows rules, not a model; its work takes no time once it is due."""

    def __init__(
        self, options: DocsServiceOptions, repository: SiteRepository, clock: Callable[[], datetime]
    ) -> None:
        self._options = options
        self._repository = repository
        self._clock = clock

    def work_seconds(self, prompt: str, /) -> float:
        """Return how long the agent works on a prompt."""
        return self._options.work_seconds * (SLOW_FACTOR if is_slow(prompt) else 1)

    def branch(self, job_id: str, _prompt: str, /) -> str:
        """Return the name of a new job's branch."""
        return f"agent/{job_id.replace('_', '-')}"

    def stop(self, _job_id: str, /) -> None:
        """Do nothing: the work takes no time."""

    async def write(self, job: Job, message: JobMessage) -> WorkDone:
        """Commit the change that the rules make of the prompt."""
        match asked_end(message.prompt):
            case End.FAILED:
                return WorkDone(Outcome.FAILED, "The prompt asked the agent to fail.")
            case End.ARCHIVED:
                return WorkDone(Outcome.ARCHIVED, "The prompt asked for the job to be archived.")
            case End.UNCHANGED:
                return WorkDone(Outcome.UNCHANGED, "The prompt says that there is nothing to change.")
        return await asyncio.to_thread(self._write, job, message)

    def _write(self, job: Job, message: JobMessage) -> WorkDone:
        made = recover(self._repository, job, message)
        return made if made is not None else self._commit_change(job, message)

    def _commit_change(self, job: Job, message: JobMessage) -> WorkDone:
        repository = self._repository
        base = job.base_sha or repository.head(repository.main)
        head = repository.head(job.branch) or base
        if base is None or head is None:
            return WorkDone(Outcome.FAILED, "The repository has no commits.")
        change = decide(repository.files(head), message.prompt, job.project, job.page)
        if isinstance(change, Unchanged):
            return WorkDone(Outcome.UNCHANGED, change.reason)
        text = commit_message(change, job, message)
        sha = repository.commit(job.branch, change.files, text, self._clock(), base)
        return work_done(repository.info(sha), base)


def recover(repository: SiteRepository, job: Job, message: JobMessage) -> WorkDone | None:
    """Return the outcome of a message whose process was killed after the commit, or None."""
    head = repository.head(job.branch)
    if head is None:
        return None
    info = repository.info(head)
    if not info.body.endswith(_trailers(job, message, _page(info))):
        return None
    return work_done(info, job.base_sha or info.parent or info.sha)


def commit_message(change: Change, job: Job, message: JobMessage) -> str:
    """Return the commit's message; it names the job and the message, so that `recover` finds it."""
    asked = clip(one_line(message.prompt), 300)
    trailers = _trailers(job, message, change.page)
    return f"{change.title}\n\nAsked for: {asked}\n\n{change.summary}\n\n{trailers}\n"


def work_done(info: CommitInfo, base: str) -> WorkDone:
    """Return the outcome that a commit of `commit_message` stands for."""
    summary = info.body.split("\n\n")[1]
    return WorkDone(Outcome.CHANGED, summary, info.subject, _page(info), base, info.sha)


def _trailers(job: Job, message: JobMessage, page: str) -> str:
    return f"Page: {page}\nJob: {job.id}\nMessage: {message.number}"


def _page(info: CommitInfo) -> str:
    found = [line for line in info.body.split("\n") if line.startswith("Page: ")]
    return found[-1].removeprefix("Page: ") if found else ""
