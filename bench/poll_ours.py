"""The bot's poll round with its registry and its client, and many jobs that are already running.

`python -m bench.poll_ours <docs url> <database url> <jobs> <every seconds>`; answers each line with the
polls so far.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

from bench.children import READY
from bench.counted import answer_counts
from bench.jobs import add_running_jobs
from bench.silent import SilentMessenger
from bot import logs
from bot.docs_api import DocsClient
from bot.model import PollPace, ProjectId
from bot.store import Registry
from bot.store.database import open_engine
from bot.store.due import Queue
from bot.store.migrate import migrate
from bot.work.due import queues_due
from bot.work.jobs.poll import poll_round
from bot.work.worker_context import Workshop
from bot.worker import Bell, Round, Rounds


async def _fill(registry: Registry, count: int, every_seconds: float) -> None:
    """Their first looks are spread over one interval."""
    begins_at = datetime.now(UTC) + timedelta(seconds=1)
    await add_running_jobs(
        registry, count, 50, lambda number: begins_at + timedelta(seconds=every_seconds * number / count)
    )


async def watch(docs_url: str, database_url: str, count: int, every_seconds: float) -> None:
    """Until the process is ended."""
    logs.configure("WARNING", "console")
    engine = open_engine(database_url)
    await migrate(engine)
    registry, bell, counts = Registry(engine), Bell(), {"answered": 0, "failed": 0}

    def counted(_what: str, how: str) -> None:
        counts[how] += 1

    await _fill(registry, count, every_seconds)
    async with DocsClient.open(base_url=docs_url, api_key=SecretStr("bench-key")) as docs:
        shop = Workshop(
            registry=registry,
            docs=docs,
            messenger=SilentMessenger(),
            clock=lambda: datetime.now(UTC),
            chance=random.random,
            owner=f"bench:{os.getpid()}",
            bot_name="docs-agent",
            project=ProjectId("bench"),
            wake=bell.ring,
            wake_after=bell.ring_after,
            pace=PollPace(every_seconds, every_seconds),
            count=counted,
        )
        rounds = Rounds(
            [Round("poll", lambda: poll_round(shop), 1.0, queue=Queue.POLLS)], due=lambda: queues_due(shop)
        )
        bell.connect(rounds)
        rounds.start()
        print(READY, flush=True)
        await answer_counts(lambda: (counts["answered"], counts["failed"]))
        await rounds.stop(5.0)
    await engine.dispose()


if __name__ == "__main__":
    asyncio.run(watch(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
