"""Threads that run database work, so that the event loop never blocks on a disk or a server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from time import monotonic
from typing import Generic, TypeVar

Result = TypeVar("Result")
_LAST_WAIT_SECONDS = 1.0


class _Work(Generic[Result]):
    """One function to run in a thread, and the future that its caller awaits."""

    def __init__(self, run: Callable[[], Result]) -> None:
        self._run = run
        self._loop = asyncio.get_running_loop()
        self._turn = threading.Lock()
        self.done: asyncio.Future[Result] = self._loop.create_future()

    def withdraw(self) -> bool:
        """Prevent the function from running; return False when it has already started."""
        return self._turn.acquire(blocking=False)

    def __call__(self) -> None:
        """Run the function, unless it was withdrawn, and pass its outcome to the event loop."""
        if not self._turn.acquire(blocking=False):
            return
        try:
            result = self._run()
        except BaseException as error:  # re-raised in the caller, through the future
            self._tell(partial(self._fail, error))
        else:
            self._tell(partial(self._succeed, result))

    def _tell(self, outcome: Callable[[], None]) -> None:
        # The loop may have been closed in the meantime; then no caller is left.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(outcome)

    def _succeed(self, result: Result) -> None:
        if not self.done.done():
            self.done.set_result(result)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, StopIteration):  # a future cannot carry it
            cause, error = error, RuntimeError("the function raised StopIteration")
            error.__cause__ = cause
        if not self.done.done():
            self.done.set_exception(error)
            self.done.exception()  # mark as retrieved: if the caller is gone, asyncio must not log it


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
            self._start_one()
        work = _Work(function)
        self._queue.put(work)
        try:
            return await asyncio.shield(work.done)
        except asyncio.CancelledError:
            if not work.withdraw() and not may_leave:
                await _wait_for_end(work.done)
            raise

    def _start_one(self) -> None:
        name = f"{self._name} {len(self._threads)}"
        thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

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
