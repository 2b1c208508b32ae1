"""Jobs are found by an index of their thread, because every message in a channel looks for one."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import cast

from bot.ids import JobNumber, MessageTs
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.store.jobs import Jobs
from bot.ports import ThreadRef
from bot.store import Store, Transaction
from tests.builders import ANA, CHANNEL, NOW, PROJECT, claimer, set_job

MANY = 1_000


async def test_job_of_a_thread_is_found_by_index(prepared_file: Path, tmp_path: Path) -> None:
    file = shutil.copyfile(prepared_file, tmp_path / "bot.db")
    store = Store.open(f"sqlite:///{file}")

    def ask(tx: Transaction) -> None:
        for page in range(MANY):
            number = Jobs(tx).add(
                TrackedJob(JobNumber(0), PROJECT, CHANNEL, ANA, f"Page {page}", NOW)
            )
            set_job(tx, number, status_ts=MessageTs(f"{number}.1"))

    def steps(tx: Transaction) -> int:
        counted: list[None] = []
        driver = cast("sqlite3.Connection", Jobs(tx).connection.connection.driver_connection)
        driver.set_progress_handler(lambda: counted.append(None), 1)
        job = Jobs(tx).in_thread(ThreadRef(CHANNEL, MessageTs("7.1")))
        driver.set_progress_handler(None, 0)
        assert job is not None
        return len(counted)

    await store.write(ask)
    assert await store.read(steps) < MANY
    await store.close()


async def test_claimed_job_equals_the_job_read_by_number(store: Store) -> None:
    def ask(tx: Transaction) -> None:
        threads = {"1.1": None, "2.1": MessageTs("1.1"), "9.95": MessageTs("9.9")}
        for root, thread in threads.items():
            job = TrackedJob(JobNumber(0), PROJECT, CHANNEL, ANA, "A page", NOW, thread_ts=thread)
            number = Jobs(tx).add(job)
            set_job(tx, number, status_ts=MessageTs(root), poll_at=NOW)

    await store.write(ask)
    claimed = await store.write(lambda tx: Jobs(tx).claim_due(claimer(), 10))
    assert [job.among_people for job in claimed] == [False, False, True]
    assert claimed == await store.read(
        lambda tx: [Jobs(tx).get_or_raise(job.number) for job in claimed]
    )
