"""APScheduler runs every worker, and every queue has one."""

from __future__ import annotations

from datetime import timedelta

from bot.engine import LOOK, Workers
from bot.features import all_workers
from bot.store.queues import QUEUE_TABLES, DueQueues
from tests.limits import HANG_SECONDS
from tests.papers import ARCHITECTURE, rows, section
from tests.work.office import Office


async def find_nothing() -> DueQueues:
    return DueQueues(frozenset(), None)


async def test_every_worker_is_a_job_of_the_scheduler_with_its_id(office: Office) -> None:
    workers = Workers(look_seconds=3600)
    workers.start(all_workers(office.context), find_nothing)
    jobs = {job.id: job for job in workers.scheduler.get_jobs()}
    await workers.stop(HANG_SECONDS)
    names = {"poll", "submit", "deliver", "prepare", "abandoned", "preview", "answer", "digest", LOOK}
    assert names <= set(jobs)
    assert {job.max_instances for job in jobs.values()} == {1}
    assert all(job.coalesce for job in jobs.values())
    assert jobs[LOOK].trigger.interval == timedelta(hours=1)
    assert jobs["heartbeat"].trigger.interval == timedelta(seconds=20)


def test_every_queue_has_a_worker_and_every_worker_a_row_in_the_map(office: Office) -> None:
    workers = all_workers(office.context)
    assert {worker.queue for worker in workers} - {None} == {table.queue for table in QUEUE_TABLES}
    table = rows(section(ARCHITECTURE.read_text(), "Workers"))
    listed = {(name, queue) for name, queue, _ in table}
    assert listed == {(worker.name, worker.queue or "") for worker in workers}
