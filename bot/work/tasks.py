"""Run several tasks without one failure ending the others, and wait for their ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from time import monotonic
from typing import TypeVar

Item = TypeVar("Item")
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
