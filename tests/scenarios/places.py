"""The places at which a bot can be killed: its awaits, its statements, and both sides of its commits.

A place is named by the chain of the bot's own frames, outermost first, and by its kind. The coroutines of
tasks are stepped: the frames of a suspended one are the chain. Statements and commits happen in the threads
of the database, and SQLAlchemy's events report them. A commit has no frame of a use case around it, so it is
named by the last statement of its transaction.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Coroutine, Generator, Sequence
from enum import StrEnum
from types import FrameType
from typing import Any

from sqlalchemy import Engine, Pool, event

_OWN = (
    *("/bot/answers/", "/bot/inbox/"),
    *("/bot/jobs/", "/bot/pulls/", "/bot/outbox/", "/bot/visitors/", "/bot/work/"),
    *("/bot/store/", "/bot/slack/messenger", "/bot/docs_api/client"),
)
_HIDDEN = ("/bot/store/store.py", "/bot/store/database.py", "/bot/store/deadline.py")
"""Every transaction passes these, so their frames identify no place."""
_COMPLETING = "bot/jobs/thread:"
"""The module of ``Store.before_commit``."""


class Kind(StrEnum):
    """The event at a place."""

    AWAIT = "await"
    STATEMENT = "statement"
    """A statement is about to be executed."""
    COMMIT = "commit"
    """A transaction is about to be committed."""
    COMMITTED = "committed"
    """A transaction has been committed, and the event loop has not resumed."""


def kind_of(place: str) -> Kind:
    """Return the kind of a place from its name."""
    return Kind(place.rpartition(" ")[2])


class Places:
    """Reports each place once, and kills this process with SIGKILL at ``kill_at``.

    Only chains that pass one of the ``watched`` modules, such as ``jobs/poll``, are places.
    """

    def __init__(self, watched: Sequence[str], kill_at: str | None) -> None:
        self._marks = [f"/{name}:" for name in watched]
        self._kill_at = kill_at
        self._reported: set[str] = set()

    def passed(self, chain: Sequence[str], kind: Kind) -> None:
        """Report a place, from any thread."""
        text = " > ".join(chain)
        place = f"{text} {kind}"
        if place in self._reported or not any(mark in text for mark in self._marks):
            return
        self._reported.add(place)
        if place == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        report(place=place)


def report(**facts: object) -> None:
    """Print a line of JSON in one write, because lines of threads would mix."""
    os.write(sys.stdout.fileno(), json.dumps(facts).encode() + b"\n")


def watch(loop: asyncio.AbstractEventLoop, places: Places) -> None:
    """Watch each new task of this loop, and each new database of the process."""

    def factory(
        loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any
    ) -> asyncio.Task[Any]:
        wrapped: Any = _Stepped(coroutine, places) if asyncio.iscoroutine(coroutine) else coroutine
        return asyncio.Task(wrapped, loop=loop, **options)

    loop.set_task_factory(factory)
    _Transactions(places).listen()


class _Stepped(Coroutine[Any, Any, Any]):
    """A coroutine that reports its place whenever it is suspended."""

    def __init__(self, inner: Any, places: Places) -> None:
        self._inner, self._places = inner, places

    def send(self, value: Any) -> Any:
        yielded = self._inner.send(value)
        self._places.passed(_waiting(self._inner), Kind.AWAIT)
        return yielded

    def throw(self, *args: Any) -> Any:
        yielded = self._inner.throw(*args)
        self._places.passed(_waiting(self._inner), Kind.AWAIT)
        return yielded

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise TypeError("tasks are stepped, not awaited")


class _Transactions:
    """Reports the places of transactions; a transaction stays in one thread."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._thread = threading.local()

    def listen(self) -> None:
        """Listen to the transactions of every engine."""
        event.listen(Engine, "before_cursor_execute", self._statement)
        event.listen(Engine, "commit", self._commit)
        event.listen(Engine, "rollback", self._rollback)
        event.listen(Pool, "checkin", self._end)

    def _statement(self, *_: Any) -> None:
        # The statement that begins a transaction has no frame of a use case around it.
        chain = _running(sys._getframe(1))
        # What completes each transaction runs without the use case's frame, which names the commit.
        if not chain or not chain[0].startswith(_COMPLETING):
            self._thread.chain = chain
        self._thread.is_committed = False
        self._places.passed(chain, Kind.STATEMENT)

    def _commit(self, *_: Any) -> None:
        self._places.passed(self._thread.chain, Kind.COMMIT)
        self._thread.is_committed = True

    def _rollback(self, *_: Any) -> None:
        self._thread.is_committed = False

    def _end(self, *_: Any) -> None:
        """Report a committed transaction: the checkin is the first event after a commit."""
        if getattr(self._thread, "is_committed", False):
            self._places.passed(self._thread.chain, Kind.COMMITTED)
        self._thread.is_committed = False


def _waiting(coroutine: Any) -> list[str]:
    """Return the frames of a suspended coroutine."""
    chain: list[str] = []
    while (frame := getattr(coroutine, "cr_frame", None)) is not None:
        _add(chain, frame)
        coroutine = coroutine.cr_await
    return chain


def _running(frame: FrameType | None) -> list[str]:
    """Return the frames of this thread, from this one outwards."""
    chain: list[str] = []
    while frame is not None:
        _add(chain, frame)
        frame = frame.f_back
    return chain[::-1]


def _add(chain: list[str], frame: FrameType) -> None:
    name = frame.f_code.co_filename
    if not any(part in name for part in _OWN) or name.endswith(_HIDDEN):
        return
    link = f"bot/{name.rpartition('/bot/')[2].removesuffix('.py')}:{frame.f_lineno}"
    # A comprehension is a frame of its own on the same line.
    if chain[-1:] != [link]:
        chain.append(link)
