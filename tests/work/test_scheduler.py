"""APScheduler runs every worker, and every queue has one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from bot.engine import LOOK, Worker, Workers
from bot.store.queues import QUEUE_TABLES, DueQueues
from tests.limits import HANG_SECONDS
from tests.papers import ARCHITECTURE, rows, section
from tests.talk import Talk


async def find_nothing() -> DueQueues:
    return DueQueues(frozenset(), None)


async def workers_of(talk: Talk) -> Sequence[Worker]:
    await talk.process.starts()
    assert talk.process.bot is not None
    return talk.process.bot._workers


async def test_every_worker_is_a_job_of_the_scheduler_with_its_id(talk: Talk) -> None:
    workers = Workers(look_seconds=3600)
    workers.start(await workers_of(talk), find_nothing)
    jobs = {job.id: job for job in workers.scheduler.get_jobs()}
    await workers.stop(HANG_SECONDS)
    names = {
        "poll",
        "submit",
        "deliver",
        "prepare",
        "abandoned",
        "preview",
        "answer",
        "digest",
        LOOK,
    }
    assert names <= set(jobs)
    assert {job.max_instances for job in jobs.values()} == {1}
    assert all(job.coalesce for job in jobs.values())
    assert jobs[LOOK].trigger.interval == timedelta(hours=1)
    assert jobs["remind"].trigger.interval == timedelta(minutes=1)


async def test_every_queue_has_a_worker_and_every_worker_a_row_in_the_map(talk: Talk) -> None:
    workers = await workers_of(talk)
    assert {worker.queue for worker in workers} - {None} == {table.queue for table in QUEUE_TABLES}
    table = rows(section(ARCHITECTURE.read_text(), "Workers"))
    listed = {(name, queue) for name, queue, _ in table}
    assert listed == {(worker.name, worker.queue or "") for worker in workers}
