"""The simple alternative to the bot's polling: one APScheduler interval job for each job, and plain httpx.

`python -m bench.poll_theirs <docs url> <jobs> <every seconds>`; prints its polls so far for each input line.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from datetime import UTC, datetime, timedelta

import httpx
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bench.processes import DOCS_KEY, READY, answer_counts
from bench.running_jobs import PROJECT


class Watcher:
    """Polls jobs and keeps their states in memory, where nothing survives a restart."""

    def __init__(self, client: httpx.AsyncClient, url: str) -> None:
        self._client, self._url = client, url
        self.seen: dict[str, str] = {}
        self.polls = 0
        self.failed = 0

    async def poll(self, job: str) -> None:
        """Poll a job once."""
        try:
            answer = await self._client.get(
                f"{self._url}/v2/agent/{PROJECT}/job/{job}",
                headers={"Authorization": f"Bearer {DOCS_KEY}"},
            )
            self.seen[job] = answer.raise_for_status().json()["status"]
            self.polls += 1
        except httpx.HTTPError:
            self.failed += 1  # shown in the report's notes


async def watch(url: str, jobs: int, every_seconds: float) -> None:
    """Poll until the input ends."""
    # When overloaded it would log a line for each missed run.
    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
    scheduler = AsyncIOScheduler(timezone=UTC)
    async with httpx.AsyncClient() as client:
        watcher = Watcher(client, url)
        begins_at = datetime.now(UTC) + timedelta(seconds=1)
        for number in range(jobs):
            first = begins_at + timedelta(seconds=every_seconds * number / jobs)
            scheduler.add_job(
                watcher.poll,
                "interval",
                [f"job-{number}"],
                seconds=every_seconds,
                next_run_time=first,
            )
        scheduler.start()
        print(READY, flush=True)
        await answer_counts(lambda: (watcher.polls, watcher.failed))
        scheduler.shutdown(wait=False)


if __name__ == "__main__":
    asyncio.run(watch(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
