"""A running job is polled at the pace that the project's finished jobs suggest."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import insert, select

from bot.model import JobState, ProjectId
from bot.store.schema import jobs
from tests.builders import ANA, CHANNEL, PROJECT, rows_of
from tests.work.office import Office

OTHER = ProjectId("other-docs")


async def ended_after(office: Office, seconds: float, count: int, project: ProjectId = PROJECT) -> None:
    """Add finished jobs that took so long."""
    began = office.clock() - timedelta(days=1)
    row = {
        "project": project,
        "channel": CHANNEL,
        "requester": ANA,
        "text": "Add a quickstart",
        "asked_at": began,
        "state": JobState.PULL_REQUEST,
        "iteration": 1,
        "iteration_started_at": began,
        "ended_at": began + timedelta(seconds=seconds),
    }
    await office.store.write(lambda tx: tx.connection.execute(insert(jobs), [row] * count).close())


async def next_poll_seconds(office: Office) -> float:
    """Return for how long the running job is not polled after its last poll."""
    [row] = await rows_of(office.store, select(jobs.c.poll_at).where(jobs.c.state == JobState.WORKING))
    wait: timedelta = row["poll_at"] - office.clock()
    return wait.total_seconds()


async def waits(office: Office) -> list[float]:
    """Return after how many seconds a job is polled next, when it has run for one minute and for five."""
    await office.started()
    found = []
    for seconds in (60, 240):
        await office.pass_time(seconds)
        found.append(await next_poll_seconds(office))
    return found


async def test_a_job_is_polled_seldom_before_the_others_ended_and_often_then(office: Office) -> None:
    await ended_after(office, 310, 50)
    early, late = await waits(office)
    assert early > 10
    assert late <= 4


async def test_the_jobs_of_other_projects_teach_nothing(office: Office) -> None:
    await ended_after(office, 310, 50, OTHER)
    early, late = await waits(office)
    assert early <= 4
    assert late > 10


async def test_the_pace_is_learned_anew_every_ten_minutes(office: Office) -> None:
    await office.started()
    await office.pass_time(60)
    assert office.context.pace_of(PROJECT).history is None
    await ended_after(office, 600, 50)
    await office.pass_time(300)
    assert office.context.pace_of(PROJECT).history is None
    await office.pass_time(300)
    assert office.context.pace_of(PROJECT).history is not None
