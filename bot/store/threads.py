"""Threads that run database work, so that the event loop never waits for a disk or a server."""

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
        """Return whether the work has not begun; then it never will."""
        return self._turn.acquire(blocking=False)

    def __call__(self) -> None:
        """Run in the thread, unless withdrawn; hand the outcome to the loop."""
        if not self._turn.acquire(blocking=False):
            return
        try:
            result = self._run()
        except BaseException as error:  # raised by whoever awaits it
            self._tell(partial(self._fail, error))
        else:
            self._tell(partial(self._succeed, result))

    def _tell(self, outcome: Callable[[], None]) -> None:
        # A loop that has been closed meanwhile has nobody left to tell.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(outcome)

    def _succeed(self, result: Result) -> None:
        if not self.done.done():
            self.done.set_result(result)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, StopIteration):  # no future takes it
            cause, error = error, RuntimeError("the function raised StopIteration")
            error.__cause__ = cause
        if not self.done.done():
            self.done.set_exception(error)
            self.done.exception()  # whoever waited may be gone, which is no second error


class DatabaseThreads:
    """A fixed number of threads that run functions in the order in which they come.

    The threads are daemons: a database that hangs cannot keep the process from ending, which a
    ``ThreadPoolExecutor`` would (it joins its threads at exit).
    """

    def __init__(self, name: str, count: int = 1) -> None:
        self._name = name
        self._count = count
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    async def run(self, function: Callable[[], Result], *, may_leave: bool = False) -> Result:
        """Run a function in a thread and return its result, or raise what it raised.

        When the caller is cancelled, a function that has not begun is never run. One that has begun is
        awaited first, so that no transaction is left half known, but for a second at most: a database that
        hangs must not keep a process from stopping. With ``may_leave`` it is not awaited.
        """
        if len(self._threads) < self._count:
            self._start_one()
        work = _Work(function)
        self._queue.put(work)
        try:
            return await asyncio.shield(work.done)
        except asyncio.CancelledError:
            if not work.withdraw() and not may_leave:
                await _ended(work.done)
            raise

    def _start_one(self) -> None:
        name = f"{self._name} {len(self._threads)}"
        thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        while (work := self._queue.get()) is not None:
            work()
            del work  # what it holds must not live until the next work comes

    def stop(self) -> None:
        """Let the threads end after what has been queued."""
        for _ in self._threads:
            self._queue.put(None)
        self._threads = []


async def _ended(done: asyncio.Future[Result]) -> None:
    """Wait for the end, however often the waiting is cancelled."""
    until = monotonic() + _LAST_WAIT_SECONDS
    while not done.done() and (left := until - monotonic()) > 0:
        with suppress(asyncio.CancelledError):
            await asyncio.wait({done}, timeout=left)
