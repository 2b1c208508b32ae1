"""Functions that run in database threads: their results, their order, and callers that stop waiting."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TypeVar, cast

import pytest
from sqlalchemy.engine import Connection

from bot.store.deadline import Work, WorkQueue
from tests.limits import HANG_SECONDS
from tests.pause import Pause

Result = TypeVar("Result")


class DatabaseThreads:
    """One thread, and functions without a connection that wait for it."""

    def __init__(self, name: str) -> None:
        self.pool = ThreadPoolExecutor(1, name)
        self._queue = WorkQueue(self.pool, self._execute)

    def _execute(self, works: Iterator[Work[object]]) -> None:
        for work in works:
            work.settle(lambda: nullcontext(cast("Connection", None)))

    async def run(self, function: Callable[[], Result], *, may_leave: bool = False) -> Result:
        return await self._queue.run(lambda _connection: function(), may_leave=may_leave)


@pytest.fixture
def threads() -> Iterator[DatabaseThreads]:
    """One thread."""
    threads = DatabaseThreads("test")
    yield threads
    threads.pool.shutdown()


@pytest.mark.parametrize(
    ("raised", "arrives"),
    [(LookupError, LookupError), (GeneratorExit, GeneratorExit), (StopIteration, RuntimeError)],
)
async def test_error_reaches_the_caller_and_the_thread_goes_on(
    threads: DatabaseThreads, raised: type[BaseException], arrives: type[BaseException]
) -> None:
    """A future cannot carry StopIteration: its caller would wait for ever."""

    def fail() -> None:
        raise raised(raised.__name__)

    async with asyncio.timeout(HANG_SECONDS):
        with pytest.raises(arrives, match=raised.__name__):
            await threads.run(fail)
    assert await threads.run(lambda: "well") == "well"
    assert await threads.run(lambda: "well") == "well"


async def test_queued_function_of_a_cancelled_caller_is_never_run(threads: DatabaseThreads) -> None:
    pause, ran = Pause(), threading.Event()
    first = asyncio.create_task(threads.run(pause))
    await pause.reached()
    second = asyncio.create_task(threads.run(ran.set))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    pause.end()
    await first
    await threads.run(lambda: None)
    assert not ran.is_set()


async def test_caller_cancelled_while_its_function_runs_waits(threads: DatabaseThreads) -> None:
    pause, done = Pause(), threading.Event()

    def write() -> None:
        pause()
        done.set()

    writing = asyncio.create_task(threads.run(write))
    await pause.reached()
    for _ in range(3):  # however often it is cancelled
        writing.cancel()
        await asyncio.sleep(0.01)
    assert not writing.done()
    pause.end()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert done.is_set()


async def test_cancelled_writer_waits_a_second_and_reader_not(threads: DatabaseThreads) -> None:
    assert await seconds_until_left(threads, may_leave=False) > 0.9
    seconds = [await seconds_until_left(threads, may_leave=True) for _ in range(3)]
    assert min(seconds) < 0.9


async def seconds_until_left(threads: DatabaseThreads, *, may_leave: bool) -> float:
    """Return for how many seconds a cancelled caller waits, although its function goes on."""
    pause = Pause()
    running = asyncio.create_task(threads.run(pause, may_leave=may_leave))
    await pause.reached()
    began = time.monotonic()
    running.cancel()
    async with asyncio.timeout(HANG_SECONDS):
        with pytest.raises(asyncio.CancelledError):
            await running
    waited = time.monotonic() - began
    pause.end()
    return waited


@pytest.mark.parametrize("may_leave", [False, True], ids=["writer", "reader"])
async def test_error_without_a_waiting_caller_is_not_logged(
    threads: DatabaseThreads, may_leave: bool, caplog: pytest.LogCaptureFixture
) -> None:
    pause = Pause()
    gc.collect()  # what earlier tests left is logged now
    caplog.clear()

    def fail() -> None:
        pause()
        raise LookupError

    running = asyncio.create_task(threads.run(fail, may_leave=may_leave))
    await pause.reached()
    running.cancel()
    await asyncio.wait({running}, timeout=HANG_SECONDS)
    assert running.cancelled()
    del running
    pause.end()
    await threads.run(lambda: None)
    gc.collect()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_loop_closed_meanwhile_harms_nothing() -> None:
    threads, pause = DatabaseThreads("survivor"), Pause()

    async def leave() -> None:
        running = asyncio.create_task(threads.run(pause, may_leave=True))
        await pause.reached()
        running.cancel()

    async def run() -> str:
        return await threads.run(lambda: "well")

    asyncio.run(leave())
    pause.end()
    assert asyncio.run(run()) == "well"
    threads.pool.shutdown(wait=False)
