"""Database threads, which keep the event loop free, and requests' deadlines.

A transaction of a request that has not begun in time is dropped, so that nothing is carried out
that the person believes to have failed.
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from time import monotonic
from typing import Generic, TypeVar, cast

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

Result = TypeVar("Result")
_LAST_WAIT_SECONDS = 1.0


class TooLate(SQLAlchemyError):
    """A request's time was up before its transaction began, which was dropped."""


class OutcomeUnknown(SQLAlchemyError):
    """A request's time was up while its transaction ran.

    The transaction may still be committed.
    """


@dataclass(eq=False, slots=True)
class Deadline:
    """The end of the time of one request, in seconds of ``time.monotonic``."""

    at: float
    has_written: bool = False
    """Whether a transaction of the request has been committed, or may have been."""

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline of a request that has just arrived."""
        return cls(monotonic() + seconds)

    def left_seconds(self) -> float:
        """Return the seconds that are left, which may be less than 0."""
        return self.at - monotonic()


_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def current_deadline() -> Deadline | None:
    """Return the deadline of the current request; None outside of requests."""
    return _CURRENT.get()


@contextmanager
def within(deadline: Deadline | None) -> Iterator[None]:
    """Apply a deadline to the reads and writes of this block.

    It also applies in tasks that begin in the block.

    None lifts the deadline: for work after Slack's acknowledgement, and for work that others wait
    for, too.
    """
    token = _CURRENT.set(deadline)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@dataclass(eq=False, slots=True)
class Work(Generic[Result]):
    """A function that waits for a database thread, and its outcome."""

    function: Callable[[Connection], Result]
    deadline: Deadline | None = None
    outcome: Future[Result] = field(default_factory=Future)

    def begin(self) -> bool:
        """Return whether the function may run.

        Until then its caller, or the deadline, can drop it.
        """
        if not self.outcome.set_running_or_notify_cancel():
            return False
        if self.deadline and self.deadline.left_seconds() < 0:
            self.outcome.set_exception(TooLate("other transactions took too long"))
            return False
        return True

    def settle(self, transaction: Callable[[], AbstractContextManager[Connection]]) -> None:
        """Run the function in a transaction, and pass on the outcome."""
        try:
            with transaction() as connection:
                result = self.function(connection)
        except BaseException as error:  # re-raised in the caller
            self.fail(error)
        else:
            self.outcome.set_result(result)

    def fail(self, error: BaseException) -> None:
        """Pass an error to the caller."""
        if isinstance(error, StopIteration):  # a future of asyncio cannot raise StopIteration
            error = RuntimeError("the function raised StopIteration")
        self.outcome.set_exception(error)


class WorkQueue:
    """Functions that wait for the threads of a pool.

    ``execute`` iterates over those that wait, ``most`` at most. Each begins when it is reached.
    """

    def __init__(
        self, pool: Executor, execute: Callable[[Iterator[Work[object]]], None], *, most: int = 1
    ) -> None:
        self._pool = pool
        self._execute = execute
        self._most = most
        self._waiting = deque[Work[object]]()

    async def run(
        self,
        function: Callable[[Connection], Result],
        *,
        may_leave: bool = False,
        deadline: Deadline | None = None,
    ) -> Result:
        """Run a function in a thread, and return its result.

        When the caller is cancelled, a function that has not begun is dropped. One that has begun
        is awaited for at most one second, so that the caller's cleanup sees its effect, yet a
        database that hangs cannot keep the process from stopping. With ``may_leave`` it is not
        awaited.

        Raises TooLate at the deadline, or OutcomeUnknown if the function has begun.
        """
        work = Work(function, deadline)
        self._waiting.append(cast("Work[object]", work))
        self._pool.submit(self._serve)
        done = asyncio.wrap_future(work.outcome)
        done.add_done_callback(_retrieve_error)
        left_seconds = None if deadline is None else max(deadline.left_seconds(), 0.0)
        try:
            async with asyncio.timeout(left_seconds):
                return await asyncio.shield(done)
        except TimeoutError:
            if done.done():
                return done.result()
            if work.outcome.cancel():
                raise TooLate("the database did not begin in time") from None
            raise OutcomeUnknown("the database has not confirmed the transaction in time") from None
        except asyncio.CancelledError:
            if not work.outcome.cancel() and not may_leave:
                await _wait_for_end(done)
            raise

    def _serve(self) -> None:
        if self._waiting:
            self._execute(self._begin_waiting())

    def _begin_waiting(self) -> Iterator[Work[object]]:
        """Begin the functions that wait, one after the other."""
        for _ in range(self._most):
            try:
                work = self._waiting.popleft()
            except IndexError:
                return
            if work.begin():
                yield work


def _retrieve_error(ended: asyncio.Future[Result]) -> None:
    """Retrieve the error of a function whose caller may be gone.

    asyncio would log it otherwise.
    """
    if not ended.cancelled():
        ended.exception()


async def _wait_for_end(done: asyncio.Future[Result]) -> None:
    """Wait until a future is done, for one second at most.

    The wait goes on if this task is cancelled again.
    """
    until = monotonic() + _LAST_WAIT_SECONDS
    while not done.done() and monotonic() < until:
        with suppress(asyncio.CancelledError):
            await asyncio.wait({done}, timeout=until - monotonic())


def read_together(engine: Engine, works: Iterator[Work[object]]) -> None:
    """Run functions that only read on one state of the database.

    All are taken before the transaction begins, so that each sees what was committed before it was
    asked for. If one raises, it fails alone, and the others run in transactions of their own, since
    PostgreSQL refuses all that follows an error in one.
    """
    begun = deque(works)
    try:
        with engine.connect() as connection:
            while begun:
                result = begun[0].function(connection)
                begun.popleft().outcome.set_result(result)
    except BaseException as error:  # re-raised in the caller
        if begun:
            begun.popleft().fail(error)
    for work in begun:
        work.settle(engine.connect)


def commit_together(engine: Engine, works: Iterator[Work[object]]) -> None:
    """Run functions in one transaction, with one wait for the disk.

    The transaction begins first, because that waits for every other writer, and meanwhile a
    function can still be dropped. If it cannot begin, the first function fails, and the others go
    on waiting. If one of several functions raises, each runs again in a transaction of its own.
    None runs again after a commit that failed, because the server may have carried it out.
    """
    begun = list[Work[object]]()
    results = list[object]()
    try:
        with engine.begin() as connection:
            for work in works:
                begun.append(work)
                results.append(work.function(connection))
    except BaseException as error:  # re-raised in the callers
        has_committed_nothing = len(results) < len(begun)
        if has_committed_nothing and len(begun) > 1:
            for work in begun:
                work.settle(engine.begin)
        else:
            for work in begun or islice(works, 1):
                work.fail(error)
        return
    for work, result in zip(begun, results, strict=True):
        work.outcome.set_result(result)
