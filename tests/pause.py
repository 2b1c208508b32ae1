"""A moment inside a transaction at which a test holds a database thread."""

from __future__ import annotations

import asyncio
import threading

from tests.limits import HANG_SECONDS

DEADLINES = (0.1, 1.0, 10.0)
"""Seconds until a deadline that is to fall into a pause. The first is enough unless the machine is slow."""


class Pause:
    """The thread waits where it calls this, until the test ends the pause."""

    def __init__(self) -> None:
        self._reached, self._over = threading.Event(), threading.Event()

    def __call__(self) -> None:
        """Wait here; raises TimeoutError when the test forgets to end it."""
        self._reached.set()
        if not self._over.wait(HANG_SECONDS):
            raise TimeoutError

    @property
    def is_reached(self) -> bool:
        """Return whether a thread waits here, or has waited."""
        return self._reached.is_set()

    async def reached(self) -> None:
        """Return when the thread waits; raises TimeoutError when it never comes."""
        if not await asyncio.to_thread(self._reached.wait, HANG_SECONDS):
            raise TimeoutError

    def end(self) -> None:
        """Let the thread go on."""
        self._over.set()
