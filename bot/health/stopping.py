"""Stop in time: running work gets some seconds, then the process ends, even if something hangs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic

import structlog

log = structlog.get_logger(__name__)
WORK_SECONDS = 5.0
END_SECONDS = 8.0
TELLING_SECONDS = 0.5
"""For the last log line. Together less than hosts allow between SIGTERM and SIGKILL (10 s or more)."""
CUT_SHORT = 75
"""EX_TEMPFAIL of sysexits.h, as the exit code of a stop that left something to the next start."""


class Stopping:
    """One stop of the process: the seconds left for each part, and the names of unfinished work.

    Unfinished work is in the database; another process or the next start continues it.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        end_seconds: float = END_SECONDS,
        telling_seconds: float = TELLING_SECONDS,
    ) -> None:
        """``clock`` returns seconds; the other two are limits in real time, see `end_in_time`."""
        self._clock = clock
        self._end_seconds, self._telling_seconds = end_seconds, telling_seconds
        self._began_at: float | None = None
        self._first: list[Callable[[], None]] = []
        self._left: list[str] = []

    def at_begin(self, do: Callable[[], None]) -> None:
        """Call a function as soon as the stop begins."""
        self._first.append(do)

    def begin(self) -> None:
        """Begin, at the signal to stop. Calls after the first do nothing."""
        if self._began_at is None:
            self._began_at = self._clock()
            log.info("stopping")
            for do in self._first:
                do()

    async def stop_part(self, part: Callable[[float], Awaitable[Sequence[str]]]) -> None:
        """Stop a part. It gets its seconds, and returns the names of its unfinished work."""
        now = self._clock()
        began_at = now if self._began_at is None else self._began_at
        self._left += await part(max(0.0, began_at + WORK_SECONDS - now))

    def told(self) -> int:
        """Log the end of the stop with the unfinished work, and return the exit code."""
        if not self._left:
            log.info("stopped")
            return 0
        log.warning(
            "stopped",
            left=self._left,
            advice="what was stored is taken up by another process or the next start",
        )
        return CUT_SHORT

    def end_in_time(self) -> None:
        """End the process ``end_seconds`` from now, if it has not ended by itself, from a thread of its own.

        Its last log line may take ``telling_seconds`` more, since nobody may read the log's pipe any more.
        """
        _later(self._end_seconds, self._end, asyncio.get_running_loop())

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        _later(self._telling_seconds, os._exit, CUT_SHORT)
        self._left += _names(loop)
        os._exit(self.told())


def _later(seconds: float, do: Callable[..., object], *arguments: object) -> None:
    timer = threading.Timer(seconds, do, arguments)
    timer.daemon = True
    timer.start()


def _names(loop: asyncio.AbstractEventLoop) -> list[str]:
    """Return the names of the tasks and the threads that keep the process from ending."""
    main = threading.main_thread()
    threads = [
        thread.name for thread in threading.enumerate() if not thread.daemon and thread is not main
    ]
    return [*sorted(map(_name, asyncio.all_tasks(loop))), *threads] or ["the process"]


def _name(task: asyncio.Task[object]) -> str:
    """Return the name of a task that was given one, otherwise that of its function."""
    name = task.get_name()
    return getattr(task.get_coro(), "__qualname__", name) if name.startswith("Task-") else name
