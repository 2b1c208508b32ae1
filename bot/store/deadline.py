"""Until when a request of Slack may be stored. Slack tells the person after three seconds that it failed.

A transaction of a request whose time is up is not committed, so that nothing is carried out that the person
believes to have failed. https://docs.slack.dev/interactivity/implementing-slash-commands
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TypeVar

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from bot.store.threads import DatabaseThreads

Result = TypeVar("Result")
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
