"""Run the agent: let its author write when a message is due, and store the outcomes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta

from sandbox.docs_service.agent import Change, End, Unchanged, asked_end, decide, is_slow
from sandbox.docs_service.agent.writing import clip, one_line, seed_files
from sandbox.docs_service.git import GitError
from sandbox.docs_service.options import SLOW_FACTOR, DocsServiceOptions
from sandbox.docs_service.repository import CommitInfo, EmptyRepository, SiteRepository
from sandbox.docs_service.store import Job, JobMessage, Jobs, Outcome, WorkDone

log = logging.getLogger(__name__)

_MAX_SLEEP_SECONDS = 0.5
_NEVER_SECONDS = timedelta(days=36_500).total_seconds()


class Author:
    """Writes the change that a message asks for, as one commit on its job's branch.

    It follows rules, not a model; its work takes no time once it is due.
    """

    def __init__(
        self, options: DocsServiceOptions, repository: SiteRepository, clock: Callable[[], datetime]
    ) -> None:
        self._options = options
        self._repository = repository
        self._clock = clock

    def work_seconds(self, prompt: str, /) -> float:
        """Return how long after its arrival a prompt is due."""
        return self._options.work_seconds * (SLOW_FACTOR if is_slow(prompt) else 1)

    def branch(self, job_id: str, _prompt: str, /) -> str:
        """Return the name of a new job's branch."""
        return f"agent/{job_id.replace('_', '-')}"

    def stop(self, job_id: str, /) -> None:
        """End the work on a job that was archived, unless it takes no time."""

    async def write(self, job: Job, message: JobMessage) -> WorkDone:
        """Commit the change. Called again after a kill, it returns the commit made before."""
        match asked_end(message.prompt):
            case End.FAILED:
                return WorkDone(Outcome.FAILED, "The prompt asked the agent to fail.")
            case End.ARCHIVED:
                return WorkDone(Outcome.ARCHIVED, "The prompt asked for the job to be archived.")
            case End.UNCHANGED:
                return WorkDone(
                    Outcome.UNCHANGED, "The prompt says that there is nothing to change."
                )
        return await asyncio.to_thread(self._write, job, message)

    def _write(self, job: Job, message: JobMessage) -> WorkDone:
        repository = self._repository
        if (made := recover(repository, job, message)) is not None:
            return made
        base = job.base_sha or repository.head(repository.main)
        head = repository.head(job.branch) or base
        if base is None or head is None:
            return WorkDone(Outcome.FAILED, "The repository has no commits.")
        change = decide(repository.files(head), message.prompt, self._options.project, job.page)
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
    lines = [line for line in info.body.split("\n") if line.startswith("Page: ")]
    return lines[-1].removeprefix("Page: ") if lines else ""


def _repository(options: DocsServiceOptions) -> SiteRepository:
    """Return the operator's repository, the service's own, or an empty one in memory."""
    if options.repository is not None:
        return SiteRepository.of(options.repository)
    own = options.file(f"repositories/{options.project}.git")
    return EmptyRepository() if own is None else SiteRepository(own)


class HeldAuthor(Author):
    """Ends no message by itself: somebody else does so with `AgentRunner.end`."""

    def work_seconds(self, _prompt: str, /) -> float:
        """Return a time that nobody waits for."""
        return _NEVER_SECONDS


class AgentRunner:
    """Works on due messages in a background task.

    The process can be killed at any moment: each commit names its message, so that a restart finds it.
    """

    def __init__(
        self,
        options: DocsServiceOptions,
        jobs: Jobs,
        clock: Callable[[], datetime],
        author: type[Author],
    ) -> None:
        self._options = options
        self._jobs = jobs
        self._clock = clock
        self._lock = asyncio.Lock()
        self._new_work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.repository = _repository(options)
        self.author = author(options, self.repository, clock)

    async def start(self) -> None:
        """Create the repository if it is missing, and start the background task."""
        files = seed_files(self._options.project)
        await asyncio.to_thread(self.repository.seed, files, self._clock())
        self._task = asyncio.create_task(self._work(), name="docs-service-agent")

    async def stop(self) -> None:
        """Stop after the current message; a program is killed, and started anew at the next start."""
        if self._task is None:
            return
        async with nullcontext() if self._options.agent else self._lock:
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def wake(self) -> None:
        """Wake the background task, because a message was added."""
        self._new_work.set()

    async def _work(self) -> None:
        while True:
            self._new_work.clear()
            seconds: float | None = None
            try:
                await self._finish_due()
                if due_at := self._jobs.next_due_at():
                    seconds = max((due_at - self._clock()).total_seconds(), 0.005)
            except (OSError, GitError):
                log.exception("the agent could not reach its files and tries again")
                seconds = _MAX_SLEEP_SECONDS
            # A test may move the clock, so read it again after at most half a second.
            wait_seconds = None if seconds is None else min(seconds, _MAX_SLEEP_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_seconds):
                    await self._new_work.wait()

    async def finish_due(self) -> None:
        """Finish every message that is due; nobody waits for a program, which may take minutes."""
        # Shielded, so that a cancelled caller does not release the lock with a message half done.
        if not self._options.agent and self._has_due():
            await asyncio.shield(self._finish_due())

    def _has_due(self) -> bool:
        due_at = self._jobs.next_due_at()
        return due_at is not None and due_at <= self._clock()

    async def _finish_due(self) -> None:
        if not self._has_due():
            return
        async with self._lock:
            for job, message in self._jobs.unfinished():
                if message.due_at <= self._clock() and not job.archived_at:
                    done = await self.author.write(job, message)
                    self._jobs.end_message(job, message, done, self._clock())
                    log.info("job %s message %d: %s", job.id, message.number, done.outcome)

    def end(self, job: Job, done: WorkDone) -> None:
        """End a job's unfinished messages with this outcome, in place of the author."""
        for message in job.unfinished:
            self._jobs.end_message(job, message, done, self._clock())
