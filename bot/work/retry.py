"""What a worker does when its write is late: retry while the database is away, or leave the row to others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

import structlog

from bot.store import DatabaseTrouble, LeaseLost

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
_PATIENCE_SECONDS = 20.0
"""How long writes are retried. Less than what is left of a lease after the slowest remote call."""
_FIRST_SECONDS, _MOST_SECONDS = 0.1, 2.0
"""First and longest pause between two tries; each pause is twice the one before."""


async def retry_on_db_error(write: Callable[[], Awaitable[Result]]) -> Result:
    """Do what ends with a write, and retry for 20 s while the database is unavailable.

    ``write`` must be harmless to repeat, because an earlier try may have been committed although it failed.
    One transaction that frees a lease under its owner's name is: the next try raises LeaseLost and writes
    nothing. Raises DatabaseTrouble when the database stays away.
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


@contextmanager
def unless_taken_over(what: str, number: object) -> Iterator[None]:
    """Write under a lease. If a person or another process has the row by now, log it: it is theirs."""
    try:
        yield
    except LeaseLost:
        log.info(f"{what}_taken_over", **{what: number})
