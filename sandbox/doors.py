"""Refusals of the sandbox's servers: foreign names, frames, and anything but JSON on their controls.

They listen on this machine alone, but any page in a browser on this machine can send requests to them.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

HOST = "127.0.0.1"
_OWN_NAMES = ("localhost", "127.0.0.1", "::1")
CONTROLS = ("/sandbox/", "/page/")

_GONE = 499
"""Nobody sees it. https://http.dev/499"""


class Door(web.TCPSite):
    """A port at which a server listens; no connection is left open that comes as the server stops.

    asyncio alone would lose one that it has just accepted: https://github.com/python/cpython/issues/109564
    """

    async def stop(self) -> None:
        """Accept nothing more, and close once the server and its protocol have the accepted connections."""
        if isinstance(self._server, asyncio.Server):
            for listener in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listener)
            for _ in range(2):
                await asyncio.sleep(0)
        await super().stop()


async def serve(app: web.Application, port: int) -> tuple[web.AppRunner, str]:
    """Serve a guarded application; return its runner, and its address. Port 0 takes a free port."""
    guard(app)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    try:
        await runner.setup()
        await Door(runner, HOST, port).start()
    except BaseException:
        await runner.cleanup()
        raise
    return runner, f"http://{HOST}:{runner.addresses[0][1]}"


def guard(app: web.Application) -> None:
    """Make an application refuse requests of other sites through a browser, and end requests as it stops."""
    requests: set[asyncio.Task[Any]] = set()

    async def end_requests(_app: web.Application) -> None:
        """End the requests whose senders have gone: aiohttp waits a second for them, but cancels none."""
        for task in requests:
            task.cancel()
        await asyncio.gather(*requests, return_exceptions=True)

    @web.middleware
    async def note_request(request: web.Request, handler: Handler) -> web.StreamResponse:
        if task := asyncio.current_task():
            requests.add(task)
            task.add_done_callback(requests.discard)
        return await handler(request)

    app.on_cleanup.insert(0, end_requests)  # before the files are closed
    app.middlewares[:0] = [note_request, _until_gone, _only_from_here]
    app.on_response_prepare.append(_forbid_frames)


@web.middleware
async def _until_gone(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Take a sender that was killed before it had its response for no error, so that nothing is logged."""
    try:
        return await handler(request)
    except ConnectionResetError:
        if request.transport is not None and not request.transport.is_closing():
            raise  # another connection broke
        return web.Response(status=_GONE)


@web.middleware
async def _only_from_here(request: web.Request, handler: Handler) -> web.StreamResponse:
    # A foreign name that leads to this machine would make a foreign site the same origin: DNS rebinding.
    if not _is_own(request):
        return web.Response(status=421, text="this server answers to localhost and 127.0.0.1 only")
    # Browsers let other sites post forms and text here, but JSON only after a CORS preflight.
    is_control = request.path.startswith(CONTROLS) and request.method == "POST"
    if is_control and request.content_type != "application/json":
        return web.json_response({"ok": False, "error": "json_only"}, status=415)
    return await handler(request)


def _is_own(request: web.Request) -> bool:
    local = request.get_extra_info("sockname") or ("", 0)
    try:
        asked = urlsplit(f"//{request.host}")
        return asked.hostname in _OWN_NAMES and (asked.port or 80) == local[1]
    except ValueError:
        return False


async def _forbid_frames(_request: web.Request, response: web.StreamResponse) -> None:
    policy = response.headers.get("Content-Security-Policy")
    response.headers["Content-Security-Policy"] = "; ".join(
        filter(None, (policy, "frame-ancestors 'none'"))
    )
    response.headers["X-Frame-Options"] = "DENY"
