"""Running the bot in a process of its own and killing it at a chosen await.

A *zygote* process imports the bot once and forks a child for each run, so that a run costs
milliseconds instead of a start. In the child every task's coroutine is wrapped: whenever one is
suspended, the chain of the bot's own frames that is waiting is the *place*. The child reports each
new place, and kills itself with SIGKILL when it comes to the one it was given.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Coroutine, Generator
from typing import Any

WATCHED = ("bot/work/ask", "bot/work/prepare", "bot/work/submit", "bot/work/poll", "bot/work/deliver")
"""A place counts when one of these files is on its chain."""


def place_of(coroutine: Any) -> str | None:
    """The chain of the bot's frames that this coroutine waits in; None when it is none of ours."""
    chain: list[str] = []
    current = coroutine
    while current is not None:
        frame = getattr(current, "cr_frame", None)
        if frame is None:
            break
        name = frame.f_code.co_filename
        if "/bot/" in name and "/bot/sandbox/" not in name:
            chain.append(f"bot/{name.rsplit('/bot/', 1)[1].removesuffix('.py')}:{frame.f_lineno}")
        current = current.cr_await
    text = " > ".join(chain)
    return text if any(watched in text for watched in WATCHED) else None


class Watched(Coroutine[Any, Any, Any]):
    """A coroutine that tells where it is whenever it is suspended."""

    def __init__(self, inner: Coroutine[Any, Any, Any], kill_at: str | None, seen: set[str]) -> None:
        self._inner, self._kill_at, self._seen = inner, kill_at, seen
        self.__name__ = getattr(inner, "__name__", "watched")
        self.__qualname__ = getattr(inner, "__qualname__", "watched")

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
        place = place_of(self._inner)
        if place is None or place in self._seen:
            return
        self._seen.add(place)
        if place == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        print(json.dumps({"place": place}), flush=True)


def watch(loop: asyncio.AbstractEventLoop, kill_at: str | None) -> None:
    """Wrap every task that this loop starts."""
    seen: set[str] = set()

    def factory(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        wrapped = Watched(coroutine, kill_at, seen) if asyncio.iscoroutine(coroutine) else coroutine
        return asyncio.Task(wrapped, loop=loop, **options)

    loop.set_task_factory(factory)


async def _run(order: dict[str, Any]) -> None:
    from bot.app import running_bot
    from bot.settings import Settings
    from tests.scenarios.patience import SHORT

    watch(asyncio.get_running_loop(), order["kill_at"])
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with running_bot(Settings.load(order["env"], env_file=None), patience=SHORT):
        print(json.dumps({"ready": True}), flush=True)
        await stop.wait()


def child(order: dict[str, Any], output: int) -> None:
    """One bot, in a forked process; its lines go to ``output``."""
    os.dup2(output, 1)
    try:
        asyncio.run(_run(order))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def serve(orders: Any) -> None:
    """The zygote: read orders, fork a child for each, tell its process id and in the end how it went."""
    import bot.app
    import bot.settings

    del bot
    for line in orders:
        order = json.loads(line)
        output = os.open(order["output"], os.O_WRONLY)
        pid = os.fork()
        if pid == 0:
            child(order, output)
        os.close(output)
        print(json.dumps({"run": order["run"], "pid": pid}), flush=True)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


if __name__ == "__main__":
    serve(sys.stdin)
