"""The agent at work: takes up messages when their time comes, commits, and keeps what became of them."""

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

_LONGEST_PAUSE_SECONDS = 0.5


class Workshop:
    """Where messages are worked on; safe to kill at any moment, since each commit names its message."""

    def __init__(
        self, options: DocsServiceOptions, database: Database, clock: Callable[[], datetime]
    ) -> None:
        self._options = options
        self._database = database
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.repositories = {
            project: SiteRepository(options.folder / "repositories" / f"{project}.git")
            for project in options.projects
        }

    def work_seconds(self, prompt: str) -> float:
        """How long the agent works on a prompt."""
        return self._options.work_seconds * (SLOW_FACTOR if is_slow(prompt) else 1)

    async def open(self) -> None:
        """Seed the repositories that are new and begin to work."""
        for project, repository in self.repositories.items():
            await asyncio.to_thread(repository.seed, seed_files(project), self._clock())
        self._task = asyncio.create_task(self._work(), name="docs-service-workshop")

    async def close(self) -> None:
        """Stop after the message in hand."""
        if self._task is None:
            return
        async with self._one_at_a_time:
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None

    def tell_news(self) -> None:
        """A message has come: look when its time is."""
        self._news.set()

    async def _work(self) -> None:
        while True:
            self._news.clear()
            try:
                await self.settle()
                due_at = await self._database.run(jobs.next_due_at)
            except OSError:
                log.exception("the agent could not reach its files and tries again")
                due_at = self._clock()
            wait_seconds = None
            if due_at is not None:
                # The clock may be one that a test moves, so it is looked at now and then.
                wait_seconds = (due_at - self._clock()).total_seconds()
                wait_seconds = min(max(wait_seconds, 0.005), _LONGEST_PAUSE_SECONDS)
            try:
                async with asyncio.timeout(wait_seconds):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def settle(self) -> None:
        """Finish every message whose time has come."""
        # Shielded, so that a caller who goes away does not leave a message half done and the lock free.
        await asyncio.shield(self._settle())

    async def _settle(self) -> None:
        async with self._one_at_a_time:
            for job, message in await self._database.run(jobs.due, self._clock()):
                await self._finish(job, message)

    async def _finish(self, job: Job, message: JobMessage) -> None:
        latest = await self._database.run(jobs.find, job.project, job.id)
        if latest is None or latest.archived_at is not None:
            return
        done = await asyncio.to_thread(self._do, latest, message)
        await self._database.run(jobs.end_message, message, done, self._clock())
        log.info("job %s message %d: %s", job.id, message.number, done.outcome)

    def _do(self, job: Job, message: JobMessage) -> WorkDone:
        match asked_end(message.prompt):
            case End.FAILED:
                return WorkDone(Outcome.FAILED, "The prompt asked the agent to fail.")
            case End.ARCHIVED:
                return WorkDone(Outcome.ARCHIVED, "The prompt asked for the job to be archived.")
            case End.UNCHANGED:
                return WorkDone(Outcome.UNCHANGED, "The prompt says that there is nothing to change.")
        repository = self.repositories[job.project]
        made = self._made_before(repository, job, message)
        return made if made is not None else self._change(repository, job, message)

    def _change(self, repository: SiteRepository, job: Job, message: JobMessage) -> WorkDone:
        base = job.base_sha or repository.head(MAIN)
        head = repository.head(job.branch) or base
        if base is None or head is None:
            return WorkDone(Outcome.FAILED, "The repository has no commits.")
        change = decide(repository.files(head), message.prompt, job.project, job.page)
        if isinstance(change, Unchanged):
            return WorkDone(Outcome.UNCHANGED, change.reason)
        text = _commit_message(change, job, message)
        sha = repository.commit(job.branch, change.files, text, self._clock(), base)
        return _done(repository.info(sha), base, change.page)

    def _made_before(self, repository: SiteRepository, job: Job, message: JobMessage) -> WorkDone | None:
        """What a process that was killed after its commit has made of the message."""
        head = repository.head(job.branch)
        if head is None:
            return None
        commits = repository.commits(head)
        info = commits[-1]
        page = _trailer(info, "Page")
        if not info.body.endswith(_trailers(job, message, page)):
            return None
        first = next(commit for commit in commits if f"Job: {job.id}\n" in commit.body)
        return _done(info, job.base_sha or first.parent or info.sha, page)


def _commit_message(change: Change, job: Job, message: JobMessage) -> str:
    asked = clip(one_line(message.prompt), 300)
    trailers = _trailers(job, message, change.page)
    return f"{change.title}\n\nAsked for: {asked}\n\n{change.summary}\n\n{trailers}\n"


def _trailers(job: Job, message: JobMessage, page: str) -> str:
    return f"Page: {page}\nJob: {job.id}\nMessage: {message.number}"


def _trailer(info: CommitInfo, name: str) -> str:
    found = [line for line in info.body.split("\n") if line.startswith(f"{name}: ")]
    return found[-1].removeprefix(f"{name}: ") if found else ""


def _done(info: CommitInfo, base: str, page: str) -> WorkDone:
    summary = info.body.split("\n\n")[1]
    return WorkDone(Outcome.CHANGED, summary, info.subject, page, base, info.sha)
