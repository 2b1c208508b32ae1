"""The other end of a measured process: each line it hears is answered with its counts, until no more come."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable


async def answer_counts(counts: Callable[[], tuple[int, int]]) -> None:
    """Answer lines of standard input with what was done and what failed; returns when the input ends."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while await reader.readline():
            done, failed = counts()
            print(f"{done} {failed}", flush=True)
    finally:
        transport.close()
