"""Lets a measured child process report its counts to the benchmark."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable


async def answer_counts(counts: Callable[[], tuple[int, int]]) -> None:
    """Print the counts of done and failed calls for each line of standard input, until the input ends."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while await reader.readline():
            done, failed = counts()
            print(f"{done} {failed}", flush=True)
    finally:
        transport.close()
