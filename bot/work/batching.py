"""Writing together what is ready at the same moment: each transaction waits for the disk once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Batch(Generic[Item, Result]):
    """What a use case writes in batches: how many items at most, and how long it waits for more.

    ``turns``: turns of the event loop without a new item after which a write begins.
    """

    most: int = 20
    turns: int = 0


class BatchWriter(Generic[Item, Result]):
    """Collects items while a write is under way, and gives them all to the next one, so many at the most.

    Nothing waits for a clock to be collected: an item that comes alone is written at once, alone.
    """

    def __init__(self, most: int = 20, turns: int = 0) -> None:
        """``turns``: so many turns of the event loop without a new item, and the write begins."""
        self._most = most
        self._turns = turns
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._writing = asyncio.Lock()

    async def put(self, item: Item, write: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]]) -> Result:
        """Answers what its write answered for the item, once it has been written; raises what that raised.

        ``write`` may be given items of others too, and answers for each of them in their order.
        """
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        async with self._writing:
            while self._waiting and not done.done():
                await self._write_some(write)
        return await done

    async def _write_some(self, write: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]]) -> None:
        await self._let_others_come()
        some, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        # Whoever writes may stop waiting; what it writes for others goes on.
        await asyncio.shield(asyncio.ensure_future(_written(some, write)))

    async def _let_others_come(self) -> None:
        """Those that have arrived and are still on their way through the event loop join this write."""
        quiet_turns, known = 0, len(self._waiting)
        while quiet_turns < self._turns and len(self._waiting) < self._most:
            await asyncio.sleep(0)
            quiet_turns = quiet_turns + 1 if len(self._waiting) == known else 0
            known = len(self._waiting)


class Batches:
    """The batch writers of one process: one for each use case that writes in batches, named by it."""

    def __init__(self) -> None:
        # Of every kind's own type: ``writer`` puts in and returns the same.
        self._writers: dict[object, object] = {}

    def writer(self, kind: Batch[Item, Result]) -> BatchWriter[Item, Result]:
        """Return the writer of this kind; the same one each time."""
        made = BatchWriter[Item, Result](kind.most, kind.turns)
        return cast("BatchWriter[Item, Result]", self._writers.setdefault(kind, made))


async def _written(
    some: Sequence[tuple[Item, asyncio.Future[Result]]],
    write: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]],
) -> None:
    """Write, and tell each how it went."""
    try:
        results = await write([item for item, _ in some])
    except asyncio.CancelledError:
        for _, done in some:
            done.cancel()
        raise
    except Exception as error:  # each of them raises it
        for _, done in some:
            if not done.done():
                done.set_exception(error)
                done.exception()  # whoever waited may be gone, which is no second error
    else:
        for (_, done), result in zip(some, results, strict=True):
            if not done.done():
                done.set_result(result)
