"""The bot's poll worker with its store and its client, and many running jobs.

`python -m bench.poll_ours <docs url> <database url> <jobs> <every seconds>`; prints its polls
so far for each line of input.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from functools import partial

from pydantic import SecretStr

from bench.bot_parts import SilentMessenger, add_running_jobs, worker_context
from bench.processes import DOCS_KEY, READY, answer_counts
from bot import logs
from bot.docs_api import DocsApiError, DocsClient, Job
from bot.engine import Workers
from bot.settings import Settings
from bot.store import Store
from bot.store.upgrade import upgrade_tables
from bot.subjects import all_workers


async def _fill(store: Store, docs_url: str, count: int, every_seconds: float) -> None:
    """Add the jobs; their first polls are spread over one interval."""
    begins_at = datetime.now(UTC) + timedelta(seconds=1)
    await add_running_jobs(
        store,
        docs_url,
        count,
        50,
        lambda number: begins_at + timedelta(seconds=every_seconds * number / count),
    )


class CountingDocs(DocsClient):
    """A client that counts its polls."""

    answered = 0
    failed = 0

    async def get_job(self, project_id: str, job_id: str) -> Job:
        """Poll a job."""
        try:
            job = await super().get_job(project_id, job_id)
        except DocsApiError:
            self.failed += 1
            raise
        self.answered += 1
        return job


async def watch(docs_url: str, database_url: str, count: int, every_seconds: float) -> None:
    """Poll until the input ends."""
    logs.configure("WARNING")
    store = Store.open(database_url)
    await upgrade_tables(store.database)
    workers = Workers()
    await _fill(store, docs_url, count, every_seconds)
    async with CountingDocs(base_url=docs_url, api_key=SecretStr(DOCS_KEY)) as docs:
        context = worker_context(
            store,
            docs,
            SilentMessenger(),
            wake=workers.wake,
            wake_after=workers.wake_after,
            settings=Settings(poll_min_seconds=every_seconds, poll_max_seconds=every_seconds),
        )
        workers.start(
            [worker for worker in all_workers(context) if worker.name == "poll"],
            partial(store.find_due, context.clock),
        )
        print(READY, flush=True)
        await answer_counts(lambda: (docs.answered, docs.failed))
        await workers.stop(5.0)
    await store.close()


if __name__ == "__main__":
    asyncio.run(watch(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
