"""The bot as `docs-bot run` starts it, but without its workers: it stores requests and acknowledges them."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence

import structlog

from bot.app import running_bot
from bot.context import WorkerContext
from bot.engine import Worker
from bot.settings import Settings


def _no_workers(_context: WorkerContext) -> Sequence[Worker]:
    return ()


async def _run() -> None:
    async with running_bot(Settings.load(), list_workers=_no_workers):
        # As `docs-bot run` does once it is ready.
        gc.collect()
        gc.freeze()
        structlog.configure(cache_logger_on_first_use=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_run())
