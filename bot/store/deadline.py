"""Threads for database work, so that the event loop never blocks, and until when a request may be stored.

A transaction of a request whose time is up is not committed, so that nothing is carried out that the person
believes to have failed. https://docs.slack.dev/interactivity/implementing-slash-commands
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from time import monotonic
from typing import TypeVar

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

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

    def __init__(self, name: str, count: int = 1, at_end: Callable[[], None] = lambda: None) -> None:
        """Each thread runs ``at_end`` as the last thing that it does."""
        self._name = name
        self._count = count
        self._at_end = at_end
        self._queue: SimpleQueue[Callable[[], None] | Future[None]] = SimpleQueue()
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
        while not isinstance(work := self._queue.get(), Future):
            work()
            del work  # or its result would stay in memory until the next function arrives
        self._at_end()
        _run(work, lambda: None)

    def stop(self) -> list[Future[None]]:
        """Tell the threads to end once the queue is empty. Return a future of the end of each."""
        ends = [Future[None]() for _ in self._threads]
        for end in ends:
            self._queue.put(end)
        self._threads = []
        return ends


async def _wait_for_end(done: asyncio.Future[Result]) -> None:
    """Wait until the future is done or the time is up, even if this task is cancelled again."""
    until = monotonic() + _LAST_WAIT_SECONDS
    while not done.done() and (left := until - monotonic()) > 0:
        with suppress(asyncio.CancelledError):
            await asyncio.wait({done}, timeout=left)


_LEEWAY_SECONDS = 0.01
"""The caller of a transaction leaves that much later than it may commit, whatever the exactness of timers."""


class TooLate(SQLAlchemyError):
    """The time of a request was up; its transaction is not committed."""


class OutcomeUnknown(SQLAlchemyError):
    """The transaction of a request may have been committed, or may still be."""


@dataclass(eq=False, slots=True)
class Deadline:
    """The end of the time of one request, in seconds of ``time.monotonic``.

    ``has_written``: a transaction of the request has been committed, or may have been.
    """

    at: float
    has_written: bool = False

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline of a request that has just arrived."""
        return cls(monotonic() + seconds)

    def left_seconds(self) -> float:
        """Return the seconds that are left; less than 0 when the time is up."""
        return self.at - monotonic()


_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def current() -> Deadline | None:
    """Return the deadline of the request that is being handled; None where there is none."""
    return _CURRENT.get()


@contextmanager
def within(deadline: Deadline | None) -> Iterator[None]:
    """Let what is read and written in this block end by a deadline, also in tasks that begin in it.

    None lifts the deadline: for what goes on after Slack is answered, and for what others wait for, too.
    """
    token = _CURRENT.set(deadline)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@dataclass(eq=False, slots=True)
class Attempt:
    """One transaction of a request. A database thread commits it, and the event loop gives up on it."""

    deadline: Deadline
    is_committing: bool = False

    def begin_commit(self) -> None:
        """Note that the commit begins. Raises TooLate when the time is up."""
        # Noted before the look at the time: whoever gives up later and finds no note knows of no commit.
        self.is_committing = True
        if self.deadline.left_seconds() <= 0:
            self.is_committing = False
            raise TooLate("the time of the request was up before the commit")

    @asynccontextmanager
    async def in_time(self) -> AsyncIterator[None]:
        """Leave the block at the deadline. Raises TooLate then, or OutcomeUnknown if the commit has begun."""
        try:
            async with asyncio.timeout(max(self.deadline.left_seconds(), 0.0) + _LEEWAY_SECONDS):
                yield
        except TimeoutError:
            self.deadline.has_written |= self.is_committing
            if self.is_committing:
                raise OutcomeUnknown("the database has not confirmed the commit") from None
            raise TooLate("the database did not answer in time") from None


async def write_in_time(
    engine: Engine, threads: DatabaseThreads, change: Callable[[Connection], Result], deadline: Deadline
) -> Result:
    """Run ``change`` in a transaction of a request, and commit it before the deadline.

    Raises TooLate at the deadline, or OutcomeUnknown if the commit has begun or its connection is lost.
    """
    attempt = Attempt(deadline)
    async with attempt.in_time():
        result = await threads.run(partial(_write, engine, change, attempt), may_leave=True)
    deadline.has_written = True
    return result


def _write(engine: Engine, change: Callable[[Connection], Result], attempt: Attempt) -> Result:
    with engine.connect() as connection, connection.begin() as transaction:
        if engine.dialect.name == "postgresql":
            milliseconds = max(int(attempt.deadline.left_seconds() * 1_000), 1)
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {milliseconds}")
        result = change(connection)
        attempt.begin_commit()
        try:
            transaction.commit()
        except DBAPIError as error:
            if error.connection_invalidated:
                attempt.deadline.has_written = True
                raise OutcomeUnknown("the connection was lost during the commit") from None
            raise
    return result
