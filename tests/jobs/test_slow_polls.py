"""Slow answers about some jobs delay the ends of no others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import httpx
import pytest
from sqlalchemy import update

from bot.context import Timeouts
from bot.docs_api import DocsClients
from bot.ids import ProjectId
from bot.jobs.model.jobs import JobState
from bot.jobs.store.tables import jobs
from bot.projects import Project, Projects
from tests.builders import NOW, PROJECT, add_job, execute
from tests.fakes import FakeDocs
from tests.work.drains import poll_jobs, working
from tests.work.office import Office


class SlowDocs(FakeDocs):
    """A service that has not decided yet what it answers about some jobs."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = asyncio.Event()
        self.slow: set[str] = set()
        self.asked: list[str] = []

    async def handle(self, request: httpx.Request) -> httpx.Response:
        job_id = request.url.path.split("/")[-1]
        if request.method == "GET":
            self.asked.append(job_id)
        if job_id in self.slow:
            await self.may_answer.wait()
        return await super().handle(request)


@pytest.fixture
def docs(office: Office) -> SlowDocs:
    """The office's docs service, from now on."""
    slow = SlowDocs()
    office.docs = slow
    office.context = replace(office.context, docs=slow.client())
    return slow


async def running(office: Office, docs: FakeDocs, count: int, project: ProjectId = PROJECT) -> None:
    """Let so many jobs run and be due for a poll; the service calls them ``job-1`` and so on."""
    for number in range(1, count + 1):
        docs.jobs[f"job-{number}"] = {"id": f"job-{number}", "status": "active"}
        await add_job(
            office.store,
            project=project,
            state=JobState.WORKING,
            service_id=f"job-{number}",
            iteration=1,
            iteration_started_at=NOW,
            poll_at=NOW,
            saw_active=True,
            root_ts=f"1700000000.{project}{number}",
        )


async def test_slow_answer_delays_no_poll_of_another_job(office: Office, docs: SlowDocs) -> None:
    await running(office, docs, 2)
    docs.slow = {"job-1"}
    async with working(office.context, "poll"):
        while docs.asked.count("job-2") < 2:
            office.clock.pass_seconds(0.5)
            await asyncio.sleep(0.05)


async def test_slow_answers_delay_no_end_in_another_project(office: Office) -> None:
    docs, beta, project = SlowDocs(), FakeDocs(), ProjectId("beta-docs")
    clients = DocsClients({PROJECT: docs.client(), project: beta.client()})
    projects = Projects((Project(PROJECT, "acme", "Acme docs"), Project(project, "beta", "Beta")))
    office.context = replace(office.context, docs=clients, projects=projects)
    await running(office, docs, 120)
    docs.slow = set(docs.jobs)
    await running(office, beta, 1, project)
    beta.finish()
    async with working(office.context, "poll"):
        while (await office.job(121)).state is JobState.WORKING:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("failing_since", [None, NOW - timedelta(minutes=1)])
async def test_end_behind_many_slow_jobs_is_read_within_a_minute(
    office: Office, docs: SlowDocs, failing_since: datetime | None
) -> None:
    """Fifty are polled at once."""
    office.context = replace(office.context, timeouts=Timeouts(poll_seconds=0.1))
    await running(office, docs, 151)
    hanging = update(jobs).where(jobs.c.number <= 150).values(unread_since=failing_since)
    await execute(office.store, hanging)
    docs.slow = {f"job-{number}" for number in range(1, 151)}
    docs.finish()
    async with working(office.context, "poll"):
        while (await office.job(151)).state is JobState.WORKING:
            office.clock.pass_seconds(1)
            await asyncio.sleep(0.02)
    assert office.clock() - NOW <= timedelta(minutes=1)


async def test_slow_answer_is_read_at_the_second_poll(office: Office, docs: SlowDocs) -> None:
    office.context = replace(office.context, timeouts=Timeouts(poll_seconds=0.05))
    await running(office, docs, 1)
    docs.slow = {"job-1"}
    docs.finish()
    await poll_jobs(office.context)
    assert (await office.job()).unread_since is not None
    office.clock.pass_seconds(60)
    asyncio.get_running_loop().call_later(0.2, docs.may_answer.set)
    await poll_jobs(office.context)
    assert (await office.job()).state is JobState.PULL_REQUEST
