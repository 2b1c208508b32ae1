"""Background tasks that run after a request has been acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog

from bot.store.deadline import within
from bot.work.tasks import cancel, wait_for_ends

log = structlog.get_logger(__name__)


class Background:
    """Runs tasks whose callers do not await them. Failures are logged, and ``drain`` waits for all tasks."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._repeated: list[asyncio.Task[None]] = []
        self._is_over = False

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task; not after ``drain``, when what it needs may be closed."""
        if self._is_over:
            work.close()
            log.warning("background_left", work=name)
            return
        task = asyncio.create_task(self._watched(name, work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def repeat(self, name: str, run: Callable[[], Awaitable[None]], every_seconds: float) -> None:
        """Run a function every ``every_seconds`` until ``drain``, also after it has failed."""

        async def keep_running() -> None:
            while True:
                await asyncio.sleep(every_seconds)
                await self._watched(name, run())

        self._repeated.append(asyncio.create_task(keep_running(), name=name))

    async def _watched(self, name: str, work: Awaitable[None]) -> None:
        try:
            with within(None):  # Slack has been answered
                await work
        except Exception:
            # The coroutine itself tells the person about a failure; the log is for the operator.
            log.exception("background_failed", work=name)

    async def drain(self, grace_seconds: float) -> list[str]:
        """Wait for all tasks, including new ones, for at most ``grace_seconds``; then cancel the rest.

        What is repeated ends at once. Return the names of the tasks that were cancelled.
        """
        await cancel(self._repeated)
        late = await wait_for_ends(self._tasks, grace_seconds)
        self._is_over = True
        return await cancel(late)
