"""Writes that are repeated while the database is away, and tasks that end in time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

import structlog

from bot.model.quota import back_off_seconds
from bot.store import DatabaseTrouble, LeaseLost

log = structlog.get_logger(__name__)
Result = TypeVar("Result")


async def retry_on_db_error(write: Callable[[], Awaitable[Result]], seconds: float) -> Result:
    """Call ``write``, and retry for ``seconds`` while the database is unavailable.

    ``write`` must be harmless to repeat, because an earlier try may have been committed although it failed.
    One transaction that frees a lease under its owner's name is: the next try raises LeaseLost and writes
    nothing. Raises DatabaseTrouble when the database stays away.
    """
    until, failures = monotonic() + seconds, 0
    while True:
        try:
            return await write()
        except DatabaseTrouble as error:
            failures += 1
            pause_seconds = back_off_seconds(failures, 1.0, first=0.1, cap=2.0)
            if monotonic() + pause_seconds > until:
                raise
            log.warning("written_later", reason=type(error).__name__)
        await asyncio.sleep(pause_seconds)


@contextmanager
def unless_taken_over(what: str, number: object) -> Iterator[None]:
    """Write under a lease. If a person or another process has the row by now, log it: it is theirs."""
    try:
        yield
    except LeaseLost:
        log.info(f"{what}_taken_over", **{what: number})


_CANCELLED_SECONDS = 1.5
"""How long a cancelled task is waited for. Its last statement may take a second, or hang."""


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
