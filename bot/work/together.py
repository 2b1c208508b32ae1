"""Writing together what is ready at the same moment: each transaction waits for the disk once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
_MOST = 20


class Together(Generic[Item]):
    """Collects items while a write is under way, and gives them all to the next one.

    Nothing is held back to be collected: an item that comes alone is written at once, alone.
    """

    def __init__(self, write: Callable[[Sequence[Item]], Awaitable[None]]) -> None:
        self._write = write
        self._waiting: list[tuple[Item, asyncio.Future[None]]] = []
        self._writing = asyncio.Lock()

    async def put(self, item: Item) -> None:
        """Returns once the item has been written; raises what its write raised."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        async with self._writing:
            while not done.done():
                await self._write_some()
        await done

    async def _write_some(self) -> None:
        some, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
        try:
            await self._write([item for item, _ in some])
        except asyncio.CancelledError:
            for _, done in some:
                done.cancel()
        except Exception as error:  # each of them raises it
            for _, done in some:
                if not done.done():
                    done.set_exception(error)
        else:
            for _, done in some:
                if not done.done():
                    done.set_result(None)
