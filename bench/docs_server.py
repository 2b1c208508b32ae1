"""A docs service that is only as much as polling needs: every job is still running.

`python -m bench.docs_server 8080`
"""

from __future__ import annotations

import asyncio
import sys

from aiohttp import web

from bench.children import READY

_RUNNING = (
    b'{"id":"%s","status":"active","source":{"repository":"acme/docs","ref":"main"},"prLink":null,'
    b'"model":"sonnet","createdAt":"2026-01-01T00:00:00Z","archivedAt":null,"haulted":false,"haltReason":null}'
)


async def _job(request: web.Request) -> web.Response:
    body = _RUNNING % request.match_info["job"].encode()
    return web.Response(body=body, content_type="application/json")


async def serve(port: int) -> None:
    """Until the process is ended."""
    server = web.Application()
    server.router.add_get("/v2/agent/{project}/job/{job}", _job)
    runner = web.AppRunner(server, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    print(READY, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
