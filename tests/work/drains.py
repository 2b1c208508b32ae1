"""The workers of the bot as functions that tests call: claim and work until nothing more can be claimed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

from bot.context import WorkerContext
from bot.engine import Workers
from bot.features import all_workers
from tests.limits import HANG_SECONDS

_MOST_RUNS = 20


async def drain(context: WorkerContext, name: str, *, runs: int = _MOST_RUNS) -> int:
    """Run a worker until it finds nothing, ``runs`` times at most; return how many rows it worked on."""
    (worker,) = (worker for worker in all_workers(context) if worker.name == name)
    handled = 0
    for _ in range(runs):
        if not (rows := await worker.run()):
            break
        handled += rows
    return handled


async def deliver_due(context: WorkerContext) -> int:
    return await drain(context, "deliver")


async def answer_inquiries(context: WorkerContext) -> int:
    return await drain(context, "inquire")


async def submit_prompts(context: WorkerContext) -> int:
    left = 0
    with suppress(Exception):  # the scheduler logs it; the row is claimed again when its lease has run out
        left = await drain(context, "abandoned")
    return left + await drain(context, "submit", runs=1)


async def poll_jobs(context: WorkerContext) -> int:
    await drain(context, "poll", runs=1)
    return 0


async def prepare_prompts(context: WorkerContext) -> int:
    return await drain(context, "prepare")


async def look_at_pull_requests(context: WorkerContext) -> int:
    return await drain(context, "pull requests", runs=1)


async def make_previews(context: WorkerContext) -> int:
    return await drain(context, "preview", runs=1)


async def fetch_snapshots(context: WorkerContext) -> int:
    return await drain(context, "read")


async def answer_questions(context: WorkerContext) -> int:
    await drain(context, "answer", runs=1)
    return 0


async def catch_up(context: WorkerContext) -> int:
    return await drain(context, "catch up", runs=1)


@asynccontextmanager
async def working(context: WorkerContext, *names: str) -> AsyncIterator[None]:
    """Run these workers as the bot does until the block ends; then what still hangs is cancelled."""
    workers = Workers(look_seconds=0.02, least_seconds=0.01, clock=context.clock)
    chosen = [worker for worker in all_workers(context) if worker.name in names]
    assert len(chosen) == len(names)
    workers.start(chosen, partial(context.store.find_due, context.clock))
    try:
        async with asyncio.timeout(HANG_SECONDS):
            yield
    finally:
        await workers.stop(0.0)
