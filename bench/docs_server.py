"""A minimal docs service for the polling benchmarks, in which every job has the same state.

`python -m bench.docs_server 8080 active`
"""

from __future__ import annotations

import asyncio
import json
import sys

from aiohttp import web

from bench.children import READY

PULL_REQUEST = "https://code.example/acme/docs/pull/1"


def _answer(job: str, status: str) -> bytes:
    source = {"repository": "acme/docs", "ref": "main"}
    link = PULL_REQUEST if status == "completed" else None
    return json.dumps({"id": job, "status": status, "source": source, "prLink": link}).encode()


async def serve(port: int, status: str) -> None:
    """Serve until the process is ended."""

    async def job(request: web.Request) -> web.Response:
        body = _answer(request.match_info["job"], status)
        return web.Response(body=body, content_type="application/json")

    server = web.Application()
    server.router.add_get("/v2/agent/{project}/job/{job}", job)
    runner = web.AppRunner(server, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    print(READY, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))
