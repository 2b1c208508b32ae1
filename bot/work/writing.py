"""Writing: what is ready together, again while the database is away, and by tasks that end in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Generic, TypeVar

import structlog

from bot.store import DatabaseTrouble, LeaseLost

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
_FIRST_SECONDS, _MOST_SECONDS = 0.1, 2.0
"""First and longest pause between two tries; each pause is twice the one before."""


async def retry_on_db_error(write: Callable[[], Awaitable[Result]], seconds: float) -> Result:
    """Call ``write``, and retry for ``seconds`` while the database is unavailable.

    ``write`` must be harmless to repeat, because an earlier try may have been committed although it failed.
    One transaction that frees a lease under its owner's name is: the next try raises LeaseLost and writes
    nothing. Raises DatabaseTrouble when the database stays away.
    """
    until, pause_seconds = monotonic() + seconds, _FIRST_SECONDS
    while True:
        try:
            return await write()
        except DatabaseTrouble as error:
            if monotonic() + pause_seconds > until:
                raise
            log.warning("written_later", reason=type(error).__name__)
        await asyncio.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, _MOST_SECONDS)


@contextmanager
def unless_taken_over(what: str, number: object) -> Iterator[None]:
    """Write under a lease. If a person or another process has the row by now, log it: it is theirs."""
    try:
        yield
    except LeaseLost:
        log.info(f"{what}_taken_over", **{what: number})


Item = TypeVar("Item")


class BatchWriter(Generic[Item, Result]):
    """Collects items while a write is under way and passes them to the next write, up to ``most`` at once.

    ``turns``: turns of the event loop without a new item after which a write begins.
    No timer is involved: a write begins as soon as no other item is on its way.
    """

    def __init__(self, most: int = 20, turns: int = 0) -> None:
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


def request_writer() -> BatchWriter[object, object]:
    """Return a writer of requests. It takes a command up to eight turns of the event loop to get there."""
    return BatchWriter(100, turns=10)


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


_CLAIMING_SECONDS = 60.0
"""How long ``run_as_claimed`` goes on claiming, so that a run ends under constant load."""
_BUSY_SECONDS = 0.05
"""Pause before the next claim while items are handled, after a claim with items."""
_CANCELLED_SECONDS = 1.5
"""How long a cancelled task is waited for. Its last statement may take a second, or hang."""


async def run_all(*awaitables: Awaitable[None]) -> None:
    """Run all concurrently, each to its end. Then raise the first error, in the order of the arguments."""
    for outcome in await asyncio.gather(*awaitables, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def run_as_claimed(
    claim: Callable[[int], Awaitable[Sequence[Item]]],
    handle: Callable[[Item], Coroutine[None, None, None]],
    *,
    slow_seconds: float = 0.25,
) -> int:
    """Claim items and handle them concurrently, also those that come meanwhile: a slow one delays no other.

    ``claim`` gets the number of items that are being handled. After a claim without items the next one comes
    ``slow_seconds`` later. Return how many were claimed. When one raises, the others run to their end; then
    its error is raised.
    """
    handled, running, until = 0, set[asyncio.Task[None]](), monotonic() + _CLAIMING_SECONDS
    try:
        while monotonic() < until:
            claimed = await claim(len(running))
            handled += len(claimed)
            running |= {asyncio.create_task(handle(item)) for item in claimed}
            if not running:
                return handled
            done, running = await asyncio.wait(running, timeout=_BUSY_SECONDS if claimed else slow_seconds)
            await run_all(*done)
        await run_all(*running)
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError):
            for task in running:
                task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        raise
    return handled


async def wait_for_ends(tasks: Collection[asyncio.Task[None]], seconds: float) -> list[asyncio.Task[None]]:
    """Wait ``seconds`` at most until all tasks have ended, also those added meanwhile. Return the others."""
    until, left_seconds = monotonic() + seconds, seconds
    while (running := [task for task in tasks if not task.done()]) and left_seconds >= 0:
        await asyncio.wait(running, timeout=left_seconds)
        left_seconds = until - monotonic()
    return running


async def cancel(tasks: Collection[asyncio.Task[None]]) -> list[str]:
    """Cancel tasks and wait a moment for their ends. Return their names."""
    for task in tasks:
        task.cancel()
    await wait_for_ends(tasks, _CANCELLED_SECONDS)
    return [task.get_name() for task in tasks]
