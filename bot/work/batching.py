"""Write items that arrive at the same moment in one transaction, so that they share its wait for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Batch(Generic[Item, Result]):
    """The settings of one kind of batch.

    ``most``: the maximum number of items in a write.
    ``turns``: turns of the event loop without a new item after which a write begins.
    """

    most: int = 20
    turns: int = 0


class BatchWriter(Generic[Item, Result]):
    """Collects items while a write is under way and passes them to the next write, up to ``most`` at once.

    No timer is involved: a write begins as soon as no other item is on its way.
    """

    def __init__(self, most: int = 20, turns: int = 0) -> None:
        """Create a writer. ``Batch`` explains ``most`` and ``turns``."""
        self._most = most
        self._turns = turns
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def put(self, item: Item, write: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]]) -> Result:
        """Write an item and return its result. Raises what the write raised.

        ``write`` may receive items of other callers too. It returns one result for each, in their order.
        A caller may be cancelled; the item is written nevertheless.
        """
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        if self._writing is None or self._writing.done():
            # A task writes for all callers, who then all go on in the same turn of the event loop.
            self._writing = asyncio.create_task(self._write_all(write))
        return await done

    async def _write_all(self, write: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]]) -> None:
        while self._waiting:
            await self._wait_for_more()
            some, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
            await _write_batch(some, write)

    async def _wait_for_more(self) -> None:
        """Wait until no new item has arrived for ``turns`` turns of the event loop, or the batch is full."""
        quiet_turns, known = 0, len(self._waiting)
        while quiet_turns < self._turns and len(self._waiting) < self._most:
            await asyncio.sleep(0)
            quiet_turns = quiet_turns + 1 if len(self._waiting) == known else 0
            known = len(self._waiting)


class Batches:
    """The batch writers of one process, one for each kind of batch."""

    def __init__(self) -> None:
        # Each value has the type of its key. A dict cannot say so, hence the cast in ``writer``.
        self._writers: dict[object, object] = {}

    def writer(self, kind: Batch[Item, Result]) -> BatchWriter[Item, Result]:
        """Return the writer for this kind of batch, the same one for each call."""
        if kind not in self._writers:
            self._writers[kind] = BatchWriter[Item, Result](kind.most, kind.turns)
        return cast("BatchWriter[Item, Result]", self._writers[kind])


async def _write_batch(
    some: Sequence[tuple[Item, asyncio.Future[Result]]],
    write: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]],
) -> None:
    """Write a batch, and give each waiting caller its result or the error."""
    try:
        results = await write([item for item, _ in some])
    except asyncio.CancelledError:
        for _, done in some:
            done.cancel()
        raise
    except Exception as error:  # raised by each caller of ``put``
        for _, done in some:
            if not done.done():
                done.set_exception(error)
                done.exception()  # marks it as retrieved: a caller may be gone
    else:
        for (_, done), result in zip(some, results, strict=True):
            if not done.done():
                done.set_result(result)
