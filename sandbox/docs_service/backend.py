"""The state behind the HTTP interface: jobs, limits, and the agent with its repository."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sandbox.docs_service.options import DocsServiceOptions
from sandbox.docs_service.own_agent import CommandAuthor
from sandbox.docs_service.runner import AgentRunner, Author
from sandbox.docs_service.store import Job, Jobs, Limits, new_job_id
from sandbox.docs_service.wire import Turn
from sandbox.shelf import Shelf

OWNER = "acme"
"""The owner of the project's repository at GitHub."""


class Backend:
    """The state of a docs service; its operations and pages read and change it."""

    def __init__(
        self,
        options: DocsServiceOptions,
        clock: Callable[[], datetime],
        author: type[Author] | None = None,
        new_id: Callable[[], str] = new_job_id,
    ) -> None:
        self.options = options
        self.clock = clock
        self.base_url = ""
        """The address of the service once it has started."""
        self.shelf = Shelf(options.file("service.db"))
        self.jobs = Jobs(self.shelf, new_id)
        self.limits = Limits(self.shelf, clock)
        author = author or (CommandAuthor if options.agent else Author)
        self.agent = AgentRunner(options, self.jobs, clock, author)
        self.repository = self.agent.repository

    @property
    def home(self) -> str:
        """Return the address of the project's repository."""
        return f"{self.base_url}/{OWNER}/{self.options.project}"

    def pull_url(self, number: int | None) -> str:
        """Return the address of a pull request's page."""
        return f"{self.home}/pull/{number}"

    def page_url(self, path: str) -> str:
        """Return the address of a published page by its path on the site."""
        return f"{self.base_url}/{self.options.project}/docs/{path}"

    def deployed(self, *, is_stuck: bool = False) -> str | None:
        """Return the commit of the main branch that is live. It blocks: run it in a thread.

        A merge is deployed after a while; `is_stuck`: none ever was.
        """
        since = self.clock() - timedelta(seconds=self.options.deploy_seconds)
        merges = [
            job.pull_end.at
            for job in self.jobs
            if job.pull_end and job.pull_end.merged_by is not None
        ]
        waiting = [at for at in merges if is_stuck or at > since]
        return self.repository.before_head(len(waiting))

    def create_job(self, prompt: str, project: str) -> Job:
        """Create a job, which the agent works on."""
        author = self.agent.author
        job = self.jobs.create(
            prompt,
            self.clock(),
            author.work_seconds(prompt),
            lambda id_: author.branch(id_, prompt),
            project,
        )
        self.agent.wake()
        return job

    def turns(self) -> list[Turn]:
        """Return the questions to the assistant and their answers, oldest first."""
        turns: list[Any] = self.shelf.all("turn")
        return turns

    def add_turn(self, turn: Turn) -> None:
        """Keep a question to the assistant and its answer."""
        self.shelf.put("turn", secrets.token_hex(8), dict(turn))
