"""Run the agent: work on messages when they are due, commit the changes and store the outcomes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from sandbox.docs_service import jobs
from sandbox.docs_service.agent import Change, End, Unchanged, asked_end, decide, is_slow
from sandbox.docs_service.agent.wording import clip, one_line
from sandbox.docs_service.database import Database
from sandbox.docs_service.jobs import Job, JobMessage, Outcome, WorkDone
from sandbox.docs_service.options import SLOW_FACTOR, DocsServiceOptions
from sandbox.docs_service.repository import MAIN, CommitInfo, SiteRepository
from sandbox.docs_service.seeding import seed_files

log = logging.getLogger(__name__)

_MAX_SLEEP_SECONDS = 0.5


class AgentRunner:
    """Works on due messages in a background task.

    The process can be killed at any moment: each commit names its message, so that a restart finds it.
    """

    def __init__(
        self, options: DocsServiceOptions, database: Database, clock: Callable[[], datetime]
    ) -> None:
        self._options = options
        self._database = database
        self._clock = clock
        self._lock = asyncio.Lock()
        self._new_work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.repositories = {
            project: SiteRepository(options.folder / "repositories" / f"{project}.git")
            for project in options.projects
        }

    def work_seconds(self, prompt: str) -> float:
        """Return how long the agent works on a prompt."""
        return self._options.work_seconds * (SLOW_FACTOR if is_slow(prompt) else 1)

    async def start(self) -> None:
        """Create missing repositories and start the background task."""
        for project, repository in self.repositories.items():
            await asyncio.to_thread(repository.seed, seed_files(project), self._clock())
        self._task = asyncio.create_task(self._work(), name="docs-service-agent")

    async def stop(self) -> None:
        """Stop after the current message."""
        if self._task is None:
            return
        async with self._lock:
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None

    def wake(self) -> None:
        """Wake the background task, because a message was added."""
        self._new_work.set()

    async def _work(self) -> None:
        while True:
            self._new_work.clear()
            try:
                await self.finish_due()
                due_at = await self._database.run(jobs.next_due_at)
            except OSError:
                log.exception("the agent could not reach its files and tries again")
                due_at = self._clock()
            wait_seconds = None
            if due_at is not None:
                # A test may move the clock, so read it again after at most half a second.
                wait_seconds = (due_at - self._clock()).total_seconds()
                wait_seconds = min(max(wait_seconds, 0.005), _MAX_SLEEP_SECONDS)
            try:
                async with asyncio.timeout(wait_seconds):
                    await self._new_work.wait()
            except TimeoutError:
                continue

    async def finish_due(self) -> None:
        """Finish every message that is due."""
        # Shielded, so that a cancelled caller does not release the lock with a message half done.
        await asyncio.shield(self._finish_due())

    async def _finish_due(self) -> None:
        async with self._lock:
            for job, message in await self._database.run(jobs.due, self._clock()):
                await self._finish_message(job, message)

    async def _finish_message(self, job: Job, message: JobMessage) -> None:
        latest = await self._database.run(jobs.find, job.project, job.id)
        if latest is None or latest.archived_at is not None:
            return
        done = await asyncio.to_thread(self._carry_out, latest, message)
        await self._database.run(jobs.end_message, message, done, self._clock())
        log.info("job %s message %d: %s", job.id, message.number, done.outcome)

    def _carry_out(self, job: Job, message: JobMessage) -> WorkDone:
        match asked_end(message.prompt):
            case End.FAILED:
                return WorkDone(Outcome.FAILED, "The prompt asked the agent to fail.")
            case End.ARCHIVED:
                return WorkDone(Outcome.ARCHIVED, "The prompt asked for the job to be archived.")
            case End.UNCHANGED:
                return WorkDone(Outcome.UNCHANGED, "The prompt says that there is nothing to change.")
        repository = self.repositories[job.project]
        made = self._recover(repository, job, message)
        return made if made is not None else self._commit_change(repository, job, message)

    def _commit_change(self, repository: SiteRepository, job: Job, message: JobMessage) -> WorkDone:
        base = job.base_sha or repository.head(MAIN)
        head = repository.head(job.branch) or base
        if base is None or head is None:
            return WorkDone(Outcome.FAILED, "The repository has no commits.")
        change = decide(repository.files(head), message.prompt, job.project, job.page)
        if isinstance(change, Unchanged):
            return WorkDone(Outcome.UNCHANGED, change.reason)
        text = _commit_message(change, job, message)
        sha = repository.commit(job.branch, change.files, text, self._clock(), base)
        return _work_done(repository.info(sha), base, change.page)

    def _recover(self, repository: SiteRepository, job: Job, message: JobMessage) -> WorkDone | None:
        """Return the outcome of a message whose process was killed after the commit, or None."""
        head = repository.head(job.branch)
        if head is None:
            return None
        commits = repository.commits(head)
        info = commits[-1]
        page = _trailer(info, "Page")
        if not info.body.endswith(_trailers(job, message, page)):
            return None
        first = next(commit for commit in commits if f"Job: {job.id}\n" in commit.body)
        return _work_done(info, job.base_sha or first.parent or info.sha, page)


def _commit_message(change: Change, job: Job, message: JobMessage) -> str:
    asked = clip(one_line(message.prompt), 300)
    trailers = _trailers(job, message, change.page)
    return f"{change.title}\n\nAsked for: {asked}\n\n{change.summary}\n\n{trailers}\n"


def _trailers(job: Job, message: JobMessage, page: str) -> str:
    return f"Page: {page}\nJob: {job.id}\nMessage: {message.number}"


def _trailer(info: CommitInfo, name: str) -> str:
    found = [line for line in info.body.split("\n") if line.startswith(f"{name}: ")]
    return found[-1].removeprefix(f"{name}: ") if found else ""


def _work_done(info: CommitInfo, base: str, page: str) -> WorkDone:
    summary = info.body.split("\n\n")[1]
    return WorkDone(Outcome.CHANGED, summary, info.subject, page, base, info.sha)
