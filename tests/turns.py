"""A task beside the bot's own: it shows whether long work leaves turns of the event loop to others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class Turns:
    """The turns of the event loop that the other task has had."""

    count: int = 0

    async def take(self) -> None:
        """Take a turn whenever the loop has one."""
        while True:
            self.count += 1
            await asyncio.sleep(0)


@asynccontextmanager
async def other_task() -> AsyncIterator[Turns]:
    """Count the turns of another task until the block ends."""
    turns = Turns()
    task = asyncio.create_task(turns.take())
    try:
        yield turns
    finally:
        task.cancel()
