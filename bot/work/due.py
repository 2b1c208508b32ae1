"""Where there is something to do: what the clock asks, so that idle rounds need not look for themselves."""

from __future__ import annotations

from bot.store.due import Queue, due_queues
from bot.work.context import WorkerContext


async def queues_due(context: WorkerContext) -> frozenset[Queue]:
    """The queues that a round should look at now."""
    async with context.store.look() as tx:
        return await due_queues(tx.connection, context.clock())
