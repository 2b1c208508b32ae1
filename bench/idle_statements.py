"""Counts the statements of an idle bot: `python -m bench.idle_statements <seconds>`.

Prints the statements per second. It imports only what every version of the bot has, so that it can run in
other checkouts.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from typing import Any

from sqlalchemy import Engine, event

from bot.app import running_bot
from bot.settings import Settings


async def count(seconds: float) -> float:
    """Run the bot from the environment's settings; return its statements per second when idle."""
    numbers = itertools.count()

    def note(*_about: Any) -> None:
        next(numbers)

    async with running_bot(Settings.load(os.environ, env_file=None)):
        await asyncio.sleep(min(2.0, seconds))
        event.listen(Engine, "before_cursor_execute", note)
        await asyncio.sleep(seconds)
        event.remove(Engine, "before_cursor_execute", note)
    return next(numbers) / seconds


if __name__ == "__main__":
    print(asyncio.run(count(float(sys.argv[1]))), flush=True)
