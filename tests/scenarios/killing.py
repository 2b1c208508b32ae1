"""Run the bot in a process of its own and kill it at a chosen place.

A *zygote* process imports the bot once and forks a child for each run, so that a run costs
milliseconds instead of a start. The child reports each new place (``tests.scenarios.places``), and kills
itself with SIGKILL at the place in its order.

An order has the bot's settings (``env``) and a file for its ``output``. It may name the ``watched``
modules and the place of the kill (``kill_at``), the ``lease_seconds`` of claims, the ``deaf_seconds``
of sockets, and the lead of its clock in seconds (``ahead``) or a file with it (``clock``). A ``terse``
bot that cannot start reports only the type of the error, and whether the command line explains it.

An order with ``arguments`` runs ``docs-bot`` in a ``folder``. The exit code is the last line of the output.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import signal
import sys
import traceback
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn, TextIO

from pydantic import SecretStr

from bot.docs_api import DocsClient
from tests.scenarios.clocks import SetClock, SharedClock
from tests.scenarios.places import Places, report, watch

_LOADED = (
    "apscheduler.executors.asyncio",
    "apscheduler.triggers.interval",
    "bot.__main__",
    "bot.app",
    "bot.operator.doctor",
    "bot.operator.rows",
    "encodings.idna",
    "slack_bolt.listener_matcher.async_builtins",
    "sqlalchemy.dialects.postgresql.psycopg",
    "tests.scenarios.timeouts",
)


async def _run(order: dict[str, Any]) -> None:
    from bot.app import running_bot
    from bot.settings import Settings
    from tests.scenarios.timeouts import SHORT

    loop = asyncio.get_running_loop()
    if watched := order.get("watched"):
        watch(loop, Places(watched, order.get("kill_at")))
    # A bot that outlives its test would receive the next test's events on the same port.
    orphaned = asyncio.create_task(_leave_with(os.getppid()))
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    names = ("lease_seconds", "deaf_seconds", "intake_seconds")
    timeouts = replace(SHORT, **{name: order[name] for name in names if order.get(name)})
    ahead = timedelta(seconds=order.get("ahead") or 0.0)
    clock = SharedClock(order["clock"]) if order.get("clock") else SetClock(ahead)
    settings = Settings.load(order["env"], env_file=None)
    async with running_bot(settings, timeouts=timeouts, clock=clock):
        report(ready=True)
        await stop.wait()
    report(stopped=True)
    orphaned.cancel()


async def _leave_with(parent: int) -> None:
    """End with the zygote."""
    while os.getppid() == parent:
        await asyncio.sleep(0.5)
    os._exit(2)


def _child(order: dict[str, Any]) -> None:
    """Run one order in a forked process, with its output in a file."""
    output = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if "arguments" in order:
        _command(order)
    try:
        asyncio.run(_run(order))
    except BaseException as error:
        if order.get("terse"):
            report(failed=type(error).__name__, explained=_is_explained(error))
        else:
            traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _command(order: dict[str, Any]) -> NoReturn:
    """Run the command line as ``docs-bot`` does, and end the process."""
    from bot.__main__ import main

    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = ["docs-bot", *order["arguments"]]
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    print(f"\n{code}", flush=True)
    os._exit(0)


def _is_explained(error: BaseException) -> bool:
    """Return whether the command line explains this error."""
    from sqlalchemy.exc import SQLAlchemyError

    from bot.ports import SlackError

    return isinstance(error, SlackError | SQLAlchemyError | OSError)


def serve(orders: TextIO) -> None:
    """Fork a child for each order, and print its process id."""
    # Slow imports run once, before any loop or thread exists.
    for name in _LOADED:
        importlib.import_module(name)
    # The first client loads the certificates for all later ones.
    DocsClient(base_url="http://127.0.0.1", api_key=SecretStr("none"))
    # Otherwise each child's first garbage collection would copy all loaded modules.
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in orders:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _child(json.loads(line))
        print(pid, flush=True)


if __name__ == "__main__":
    serve(sys.stdin)
