"""Retry writes while the database is away, and run coroutines without one failure ending the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from time import monotonic
from typing import TypeVar

import structlog

from bot.store import DatabaseTrouble

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
Item = TypeVar("Item")
_PATIENCE_SECONDS = 20.0
"""How long writes are retried. Less than what is left of a lease after the slowest remote call."""
_FIRST_SECONDS, _MOST_SECONDS = 0.1, 2.0
"""First and longest pause between two tries; each pause is twice the one before."""

_CLAIMING_SECONDS = 60.0
"""How long ``run_as_claimed`` goes on claiming, so that a run ends under constant load."""
_BUSY_SECONDS, _SLOW_SECONDS = 0.05, 0.25
"""Pause before the next claim while items are handled: after a claim with items, and without."""


async def retry_on_db_error(write: Callable[[], Awaitable[Result]]) -> Result:
    """Write the result of a remote call, and retry for 20 s while the database is unavailable.

    ``write`` must be one transaction that frees a lease under its owner's name. If an earlier try was
    committed although it failed, the next one raises LeaseLost and writes nothing. Raises DatabaseTrouble
    when the database stays away.
    """
    until, pause_seconds = monotonic() + _PATIENCE_SECONDS, _FIRST_SECONDS
    while True:
        try:
            return await write()
        except DatabaseTrouble as error:
            if monotonic() + pause_seconds > until:
                raise
            log.warning("written_later", reason=type(error).__name__)
        await asyncio.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, _MOST_SECONDS)


async def run_all(*awaitables: Awaitable[None]) -> None:
    """Run all concurrently, each to its end. Then raise the first error, in the order of the arguments."""
    for outcome in await asyncio.gather(*awaitables, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def run_as_claimed(
    claim: Callable[[int], Awaitable[Sequence[Item]]],
    handle: Callable[[Item], Coroutine[None, None, None]],
) -> int:
    """Claim items and handle them concurrently, also those that come meanwhile: a slow one delays no other.

    ``claim`` gets the number of items that are being handled. Return how many were claimed. When one raises,
    the others run to their end; then its error is raised.
    """
    handled, running, until = 0, set[asyncio.Task[None]](), monotonic() + _CLAIMING_SECONDS
    try:
        while monotonic() < until:
            claimed = await claim(len(running))
            handled += len(claimed)
            running |= {asyncio.create_task(handle(item)) for item in claimed}
            if not running:
                return handled
            done, running = await asyncio.wait(running, timeout=_BUSY_SECONDS if claimed else _SLOW_SECONDS)
            await run_all(*done)
        await run_all(*running)
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError):
            for task in running:
                task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        raise
    return handled
