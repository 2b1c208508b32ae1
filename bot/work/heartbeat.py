"""The heartbeat of a process that runs workers, and what follows when the clock was set back."""

from __future__ import annotations

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
    if ahead is not None:
        log.warning("clock_set_back", seconds=round(ahead.total_seconds()))
        context.wake()
    return 0
