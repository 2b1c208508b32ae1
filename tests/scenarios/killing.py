"""Running the bot in a process of its own and killing it at a chosen await.

A *zygote* process imports the bot once and forks a child for each run, so that a run costs
milliseconds instead of a start. In the child every task's coroutine is wrapped: whenever one is
suspended, the chain of the bot's own frames that is waiting is the *place*. The child reports each
new place, and kills itself with SIGKILL when it comes to the one it was given.

An order has the bot's settings (``env``) and a file for its ``output``. It may name the modules of the
work that are ``watched`` and the place to be killed at (``kill_at``), a ``role`` (run, serve or work) and
the ``lease_seconds`` of claims, and ask to be ``terse``: then a bot that cannot start says only of what
kind the reason is, and whether the command line would have explained it.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Coroutine, Generator, Sequence
from dataclasses import replace
from typing import Any, TextIO

_SHOWN = ("/bot/work/", "/bot/store/store", "/bot/slack/messenger", "/bot/docs_api/client")
"""Single statements within a transaction are not told apart: a kill at any of them takes all of them back."""
_PURE = re.compile(r"bot/work/(visitors/report|digests/report|visitors/windows):\d+$")
"""Modules that only look into the database, within a transaction of those who call them."""


_LOADED = (
    "alembic.command",
    "bot.app",
    "sqlalchemy.dialects.postgresql.psycopg",
    "tests.scenarios.timeouts",
)


def place_of(coroutine: Any, watched: Sequence[str]) -> str | None:
    """The chain of the bot's frames that this coroutine waits in; None without a watched module on it."""
    chain: list[str] = []
    current = coroutine
    while current is not None:
        inner = getattr(current, "_inner", current)  # a wrapped one
        frame = getattr(inner, "cr_frame", None)
        if frame is None:
            break
        name = frame.f_code.co_filename
        if any(shown in name for shown in _SHOWN):
            chain.append(f"bot/{name.rsplit('/bot/', 1)[1].removesuffix('.py')}:{frame.f_lineno}")
        current = inner.cr_await
    text = " > ".join(chain)
    if _PURE.search(text):
        return None
    return text if any(f"bot/work/{name}:" in text for name in watched) else None


class Watched(Coroutine[Any, Any, Any]):
    """A coroutine that tells where it is whenever it is suspended."""

    def __init__(self, inner: Any, watched: Sequence[str], kill_at: str | None, seen: set[str]) -> None:
        self._inner, self._watched, self._kill_at, self._seen = inner, watched, kill_at, seen

    def send(self, value: Any) -> Any:
        yielded = self._inner.send(value)
        self._look()
        return yielded

    def throw(self, *args: Any) -> Any:
        yielded = self._inner.throw(*args)
        self._look()
        return yielded

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise TypeError("tasks are stepped, not awaited")

    def _look(self) -> None:
        place = place_of(self._inner, self._watched)
        if place is None or place in self._seen:
            return
        self._seen.add(place)
        if place == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        print(json.dumps({"place": place}), flush=True)


def watch(loop: asyncio.AbstractEventLoop, watched: Sequence[str], kill_at: str | None) -> None:
    """Wrap every task that this loop starts from now on."""
    seen: set[str] = set()

    def factory(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        ours = asyncio.iscoroutine(coroutine)
        wrapped: Any = Watched(coroutine, watched, kill_at, seen) if ours else coroutine
        return asyncio.Task(wrapped, loop=loop, **options)

    loop.set_task_factory(factory)


async def _run(order: dict[str, Any]) -> None:
    from bot.app import Roles, running_bot
    from bot.settings import Settings
    from tests.scenarios.timeouts import SHORT

    loop = asyncio.get_running_loop()
    if watched := order.get("watched"):
        watch(loop, watched, order.get("kill_at"))
    # A bot that outlives its test would take what is meant for the next one on the same port.
    orphaned = asyncio.create_task(_leave_with(os.getppid()))
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    role = order.get("role", "run")
    roles = Roles(intake=role != "work", workers=role != "serve")
    timeouts = replace(SHORT, lease_seconds=order.get("lease_seconds") or SHORT.lease_seconds)
    async with running_bot(Settings.load(order["env"], env_file=None), roles=roles, timeouts=timeouts):
        print(json.dumps({"ready": True}), flush=True)
        await stop.wait()
    if order.get("terse"):
        print(json.dumps({"cpu_seconds": round(time.process_time(), 2)}), flush=True)
    print(json.dumps({"stopped": True}), flush=True)
    orphaned.cancel()


async def _leave_with(parent: int) -> None:
    """End at once when the zygote is gone."""
    while os.getppid() == parent:
        await asyncio.sleep(0.5)
    os._exit(2)


def _child(order: dict[str, Any]) -> None:
    """One bot, in a forked process; what it prints goes to the file it was given."""
    output = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    try:
        asyncio.run(_run(order))
    except BaseException as error:
        if order.get("terse"):
            print(json.dumps({"failed": type(error).__name__, "explained": _is_explained(error)}), flush=True)
        else:
            traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _is_explained(error: BaseException) -> bool:
    """Whether the command line has words for it."""
    from sqlalchemy.exc import SQLAlchemyError

    from bot.work.ports import SlackError

    return isinstance(error, SlackError | SQLAlchemyError | OSError)


def serve(orders: TextIO) -> None:
    """The zygote: for each order fork a child, and print its process id."""
    # What takes long is done once, before any loop or thread exists.
    for name in _LOADED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in orders:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _child(json.loads(line))
        print(pid, flush=True)


if __name__ == "__main__":
    serve(sys.stdin)
