"""Threads that run database work, so that the event loop never blocks on a disk or a server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from time import monotonic
from typing import TypeVar

Result = TypeVar("Result")
_LAST_WAIT_SECONDS = 1.0


def _run(work: Future[Result], function: Callable[[], Result]) -> None:
    """Run a function, unless its caller has withdrawn it, and pass on its outcome."""
    if not work.set_running_or_notify_cancel():
        return
    try:
        work.set_result(function())
    except StopIteration:  # which no future of asyncio can carry
        work.set_exception(RuntimeError("the function raised StopIteration"))
    except BaseException as error:  # re-raised in the caller
        work.set_exception(error)


class DatabaseThreads:
    """A fixed number of threads that run functions in the order of submission.

    The threads are daemons, so that a hanging database cannot keep the process from exiting. A
    ``ThreadPoolExecutor`` would, because it joins its threads at exit.
    """

    def __init__(self, name: str, count: int = 1) -> None:
        self._name = name
        self._count = count
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    async def run(self, function: Callable[[], Result], *, may_leave: bool = False) -> Result:
        """Run a function in a thread; return its result or raise its exception.

        When the caller is cancelled, a function that has not started is dropped. One that has started is
        awaited for at most one second, so that the caller's cleanup sees its effect, yet a hanging database
        cannot keep the process from stopping. With ``may_leave`` it is not awaited.
        """
        if len(self._threads) < self._count:
            name = f"{self._name} {len(self._threads)}"
            self._threads.append(threading.Thread(target=self._serve, name=name, daemon=True))
            self._threads[-1].start()
        work = Future[Result]()
        self._queue.put(partial(_run, work, function))
        done = asyncio.wrap_future(work)
        # If the caller is gone, asyncio must not log that nobody retrieved an error.
        done.add_done_callback(lambda each: each.cancelled() or each.exception())
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            if not work.cancel() and not may_leave:
                await _wait_for_end(done)
            raise

    def _serve(self) -> None:
        while (work := self._queue.get()) is not None:
            work()
            del work  # or its result would stay in memory until the next function arrives

    def stop(self) -> None:
        """Tell the threads to end once the queue is empty."""
        for _ in self._threads:
            self._queue.put(None)
        self._threads = []


async def _wait_for_end(done: asyncio.Future[Result]) -> None:
    """Wait until the future is done or the time is up, even if this task is cancelled again."""
    until = monotonic() + _LAST_WAIT_SECONDS
    while not done.done() and (left := until - monotonic()) > 0:
        with suppress(asyncio.CancelledError):
            await asyncio.wait({done}, timeout=left)
