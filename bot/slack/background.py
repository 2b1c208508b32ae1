"""What may happen after Slack has its acknowledgement: small calls whose tasks are kept and waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from time import monotonic
from typing import Any

import structlog

log = structlog.get_logger(__name__)


class Background:
    """Tasks that nobody awaits; each one's failure is logged, and stopping waits for them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Do this soon."""
        task = asyncio.create_task(self._watched(name, work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watched(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            # Whoever waits for the outcome has been told by the work itself; here an operator is.
            log.exception("background_failed", work=name)

    async def drain(self, grace_seconds: float) -> None:
        """Wait for all, and for what they start meanwhile; then cancel what is late."""
        until = monotonic() + grace_seconds
        while self._tasks and monotonic() < until:
            await asyncio.wait(tuple(self._tasks), timeout=until - monotonic())
        late = tuple(self._tasks)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)
