"""Not losing what is known, or under way, because something beside it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

import structlog

from bot.store import DatabaseTrouble

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
_PATIENCE_SECONDS = 20.0
"""So long a database may be away; less than what is left of a lease after the slowest call."""
_FIRST_SECONDS, _MOST_SECONDS = 0.1, 2.0


async def retry_on_db_error(write: Callable[[], Awaitable[Result]]) -> Result:
    """Write what a far side has answered, again and again while the database fails for a moment.

    ``write`` is one transaction that names the owner: where an earlier try was carried out after all, it
    raises LeaseLost and writes nothing. Raises what the database raised when that lasts.
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


async def run_all(*works: Awaitable[None]) -> None:
    """Do all at once, and each to its end; then raise what the first one that failed raised."""
    for outcome in await asyncio.gather(*works, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
