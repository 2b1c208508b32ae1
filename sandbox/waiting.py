"""Wait for the bot's actions in a story."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

Found = TypeVar("Found")


class DidNotCome(Exception):
    """The bot did not do its part in time; the message names the part."""


async def until(event: str, find: Callable[[], Found | None], seconds: float) -> Found:
    """Call `find` until it returns something, and return that. Raise `DidNotCome` after so many seconds."""
    deadline = monotonic() + seconds
    while (result := find()) is None:
        if monotonic() > deadline:
            raise DidNotCome(event)
        await asyncio.sleep(0.02)
    return result
