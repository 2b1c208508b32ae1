"""Where there is something to do: what the clock asks, so that idle rounds need not look for themselves."""

from __future__ import annotations

from bot.store.due import Queue, due_queues
from bot.work.worker_context import Workshop


async def queues_due(shop: Workshop) -> frozenset[Queue]:
    """The queues that a round should look at now."""
    async with shop.registry.look() as tables:
        return await due_queues(tables.connection, shop.clock())
