"""The sandbox's docs service in memory and in a process of its own, with many jobs, for the benchmarks.

No agent works: the jobs have ended, or stay active. "some": every fifth has ended; "silent": no answer
ever comes. The service lists a site of so many pages.
`python -m bench.docs_server 8080 active 1000 5000`
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from bench.processes import DOCS_KEY, READY, child
from bench.running_jobs import CREATED_AT, PROJECT
from sandbox.docs_service import DocsService, DocsServiceOptions
from sandbox.docs_service.runner import HeldAuthor
from sandbox.docs_service.store import Outcome, WorkDone
from sandbox.docs_service.wire import VisitorsQuery
from sandbox.ports import free_port

ENDED_EVERY = 5
_LONG_SECONDS = 3_600.0
"""The longest time that a fault may take."""
_DONE = WorkDone(Outcome.CHANGED, "Done.", link="https://code.example/acme/docs/pull/1")


def _row(number: int, pages: int) -> dict[str, str | int]:
    """Return a page's counts, which are in no order, as with the service."""
    human, ai = number * 7_919 % (2 * pages), number * 104_729 % pages
    return {"path": f"/guides/page-{number}", "human": human, "ai": ai, "total": human + ai}


def visitors(pages: int, limit: int, offset: int) -> dict[str, Any]:
    """Return one page of rows of a site with so many pages."""
    rows = [_row(number, pages) for number in range(offset, min(offset + limit, pages))]
    totals = {"human": 2 * pages, "ai": pages, "total": 3 * pages}
    return {"totals": totals, "visitors": rows, "hasMore": offset + limit < pages}


@asynccontextmanager
async def docs_service(
    status: str = "active", jobs: int = 0, pages: int = 50, *, port: int | None = None
) -> AsyncIterator[str]:
    """Run this docs service in a process until the block ends; yield its address."""
    port = port or free_port()
    arguments = (str(port), status, str(jobs), str(pages))
    async with child("-m", "bench.docs_server", *arguments) as service:
        if await service.hear() != READY:
            raise RuntimeError("the docs service did not start")
        yield f"http://127.0.0.1:{port}"


async def serve(port: int, status: str, jobs: int, pages: int) -> None:
    """Serve until the process is ended."""
    numbers = itertools.count()
    options = DocsServiceOptions(
        None, api_key=DOCS_KEY, project=PROJECT, uses_an_hour=jobs + 10_000, pages=1, days=1
    )
    service = DocsService(
        options, lambda: CREATED_AT, author=HeldAuthor, new_id=lambda: f"job-{next(numbers)}"
    )
    for number in range(jobs):
        job = service.add_job(f"Add part {number} of the glossary")
        if status == "completed" or (status == "some" and number % ENDED_EVERY == 0):
            service.end_job(job, _DONE)
    if status == "silent":
        forever = {"fault": "timeout", "seconds": _LONG_SECONDS, "lasts": _LONG_SECONDS}
        service.faults.order([{"match": "any", **forever}])

    async def rows(_request: web.Request, query: VisitorsQuery) -> dict[str, Any]:
        return visitors(pages, query.limit, query.offset)

    service.scripted["visitors"] = rows
    await service.start(port)
    print(READY, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
