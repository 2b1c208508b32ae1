"""The simple alternative to the bot's reading of visitors: a script that fetches all rows and sorts them.

`python -m bench.visitors_theirs <docs url>`; for each line of input, `2026-11-09 2026-11-16`, it reads the
pages between these days with httpx, ranks them in memory, and prints how many calls it made.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from typing import Any

import httpx

from bench.processes import DOCS_KEY, READY, Child, child
from bench.running_jobs import PROJECT

_PAGE_SIZE, _TOP = 250, 10


@asynccontextmanager
async def visitors_script(docs_url: str) -> AsyncIterator[Child]:
    """Run the script until the block ends."""
    async with child("-m", "bench.visitors_theirs", docs_url) as script:
        if await script.hear() != READY:
            raise RuntimeError("the script did not start")
        yield script


async def ranked(script: Child, first: date, end: date) -> int:
    """Let the script read and rank the pages between two days; return the number of its calls."""
    await script.say(f"{first} {end}")
    return int(await script.hear())


async def read_and_rank(
    client: httpx.AsyncClient, url: str, first: str, end: str
) -> tuple[list[Any], int]:
    """Return the most read pages between two days, and the number of calls."""
    rows: list[Any] = []
    period: dict[str, str | int] = {"dateFrom": first, "dateTo": end, "limit": _PAGE_SIZE}
    for calls in range(1, 10_000):
        asked = period | {"offset": len(rows)}
        answer = await client.get(f"{url}/v1/analytics/{PROJECT}/visitors", params=asked)
        page = answer.raise_for_status().json()
        rows += page["visitors"]
        if not page["hasMore"]:
            return sorted(rows, key=lambda row: row["total"], reverse=True)[:_TOP], calls
    raise RuntimeError("the service claims to have ever more rows")


async def read(url: str) -> None:
    """Read until the input ends."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {DOCS_KEY}"}) as client:
        print(READY, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print((await read_and_rank(client, url, *line.split()))[1], flush=True)


if __name__ == "__main__":
    asyncio.run(read(sys.argv[1]))
