"""The heartbeat of a process that runs workers, and what follows when the clock was set back."""

from __future__ import annotations

import asyncio

import structlog

from bot.work.context import WorkerContext

log = structlog.get_logger(__name__)


async def beat(context: WorkerContext) -> int:
    """Write that this process runs workers now. Return 0, so that a worker rests."""
    await context.store.write(lambda tx: tx.heartbeats.beat(context.owner, context.clock()))
    return 0


async def follow_clock(context: WorkerContext) -> int:
    """Move times back that lie ahead because the clock was set back. Return 0, so that a worker rests."""
    ahead = await context.store.write(lambda tx: tx.move_back(context.clock()))
    if ahead is None:
        return 0
    log.warning("clock_set_back", seconds=round(ahead.total_seconds()))
    context.wake()
    # A transaction that was under way at that moment may commit times of the former clock yet.
    await asyncio.sleep(context.timeouts.under_way_seconds)
    await context.settle(lambda tx: tx.move_back(context.clock(), ahead))
    context.wake()
    return 0
