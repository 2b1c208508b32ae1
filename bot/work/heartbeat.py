"""The heartbeat of a process that runs workers."""

from __future__ import annotations

from bot.work.context import WorkerContext


async def beat(context: WorkerContext) -> int:
    """Write that this process runs workers now. Return 0, so that a worker rests."""
    await context.store.write(lambda tx: tx.heartbeats.beat(context.owner, context.clock()))
    return 0
