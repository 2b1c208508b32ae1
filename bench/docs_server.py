"""A minimal docs service for the benchmarks: all jobs have a status, and the site so many pages.

The status is that of the API, or "some": every fifth has ended; or "silent": no answer ever comes.
`python -m bench.docs_server 8080 active 5000`
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from bench.processes import READY, child
from sandbox.ports import free_port

ENDED_EVERY = 5
PULL_REQUEST = "https://code.example/acme/docs/pull/1"


def _job(job: str, status: str) -> bytes:
    if status == "some":
        status = "active" if int(job.rpartition("-")[2]) % ENDED_EVERY else "completed"
    source = {"repository": "acme/docs", "ref": "main"}
    link = PULL_REQUEST if status == "completed" else None
    return json.dumps({"id": job, "status": status, "source": source, "prLink": link}).encode()


def _row(number: int, pages: int) -> dict[str, str | int]:
    """Return a page's counts, which are in no order, as with the service."""
    human, ai = number * 7_919 % (2 * pages), number * 104_729 % pages
    return {"path": f"/guides/page-{number}", "human": human, "ai": ai, "total": human + ai}


def visitors(pages: int, limit: int, offset: int) -> bytes:
    """Return one page of rows of a site with so many pages."""
    rows = [_row(number, pages) for number in range(offset, min(offset + limit, pages))]
    totals = {"human": 2 * pages, "ai": pages, "total": 3 * pages}
    return json.dumps(
        {"totals": totals, "visitors": rows, "hasMore": offset + limit < pages}
    ).encode()


@asynccontextmanager
async def docs_service(
    status: str = "active", pages: int = 50, *, port: int | None = None
) -> AsyncIterator[str]:
    """Run this docs service in a process until the block ends; yield its address."""
    port = port or free_port()
    async with child("-m", "bench.docs_server", str(port), status, str(pages)) as service:
        if await service.hear() != READY:
            raise RuntimeError("the docs service did not start")
        yield f"http://127.0.0.1:{port}"


async def serve(port: int, status: str, pages: int) -> None:
    """Serve until the process is ended."""
    numbers = itertools.count(1)

    async def job(request: web.Request) -> web.Response:
        if status == "silent":
            await asyncio.Event().wait()
        body = _job(request.match_info["job"], status)
        return web.Response(body=body, content_type="application/json")

    async def create(_request: web.Request) -> web.Response:
        body = _job(f"job-{next(numbers)}", "active")
        return web.Response(status=201, body=body, content_type="application/json")

    async def read(request: web.Request) -> web.Response:
        body = visitors(pages, int(request.query["limit"]), int(request.query["offset"]))
        return web.Response(body=body, content_type="application/json")

    server = web.Application()
    server.router.add_get("/v2/agent/{project}/job/{job}", job)
    server.router.add_post("/v2/agent/{project}/job", create)
    server.router.add_get("/v1/analytics/{project}/visitors", read)
    runner = web.AppRunner(server, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    print(READY, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
