"""Adds jobs for a benchmark directly to the store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import insert

from bot.model.jobs import JobState
from bot.store import Store
from bot.store.schema import jobs as jobs_table


async def add_running_jobs(
    store: Store, count: int, channels: int, poll_at: Callable[[int], datetime]
) -> None:
    """Add jobs that have just begun, each with a thread; ``poll_at`` gives each one's first poll."""
    now = datetime.now(UTC)
    rows = [
        {
            "project": "bench",
            "channel": f"C{number % channels:03}",
            "requester": "U1",
            "text": "Add a quickstart for the Python SDK",
            "asked_at": now,
            "state": JobState.WORKING,
            "root_ts": f"{number + 1}.000000",
            "service_id": f"job-{number}",
            "iteration": 1,
            "iteration_requester": "U1",
            "iteration_started_at": now,
            "saw_active": True,
            # As the docs service says it, so that a poll finds nothing new.
            "repository": "acme/docs",
            "ref": "main",
            "poll_at": poll_at(number),
        }
        for number in range(count)
    ]
    await store.write(lambda tx: tx.connection.execute(insert(jobs_table), rows).close())
