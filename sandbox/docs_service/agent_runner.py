"""Run the agent: let its author write when a message is due, and store the outcomes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from sandbox.docs_service import jobs
from sandbox.docs_service.author import Author, TemplateAuthor
from sandbox.docs_service.database import Database
from sandbox.docs_service.jobs import Job, JobMessage
from sandbox.docs_service.options import DocsServiceOptions
from sandbox.docs_service.own_agent import CommandAuthor
from sandbox.docs_service.repository import SiteRepository
from sandbox.docs_service.seeding import seed_files
from sandbox.docs_service.worktree import remove_leftovers

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
            project: SiteRepository.of(options.repository)
            if options.repository
            else SiteRepository(options.folder / "repositories" / f"{project}.git")
            for project in options.projects
        }
        author = CommandAuthor if options.agent else TemplateAuthor
        self.authors: dict[str, Author] = {
            project: author(options, repository, clock) for project, repository in self.repositories.items()
        }

    async def start(self) -> None:
        """Create missing repositories and start the background task."""
        if self._options.repository is not None:
            await asyncio.to_thread(remove_leftovers, self._options.repository, self._options.worktrees)
        for project, repository in self.repositories.items():
            await asyncio.to_thread(repository.seed, seed_files(project), self._clock())
        self._task = asyncio.create_task(self._work(), name="docs-service-agent")

    async def stop(self) -> None:
        """Stop after the current message; a program is killed, and started anew at the next start."""
        if self._task is None:
            return
        if self._options.agent:
            self._task.cancel()
        else:
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
                await (self._finish_due() if self._options.agent else self.finish_due())
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
        """Finish every message that is due; nobody waits for a program, which may take minutes."""
        if self._options.agent:
            return
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
        done = await self.authors[job.project].write(latest, message)
        await self._database.run(jobs.end_message, message, done, self._clock())
        log.info("job %s message %d: %s", job.id, message.number, done.outcome)
