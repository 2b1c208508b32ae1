"""The routes ``/livez``, ``/readyz`` and ``/metrics``, and listening for HTTP behind a reverse proxy.

The pages show states and counts, never settings.

Each page is built at most once in two seconds, so that many requests cost no more than one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast

import structlog
from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler

from bot.ops.checks import Checks, Finding, run_checks

KEPT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Page:
    """A response that is sent to everybody who asks within the same two seconds."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200


class _KeptPage:
    """Builds a page at most once in ``KEPT_SECONDS``; requests at the same moment wait for the same page."""

    def __init__(self, build: Callable[[], Awaitable[Page]], clock: Callable[[], float]) -> None:
        self._build = build
        self._clock = clock
        self._built_at = 0.0
        self._page: asyncio.Future[Page] | None = None

    async def show(self, _request: web.Request) -> web.Response:
        """Return the page, which is new or less than two seconds old."""
        if self._page is None or (self._page.done() and self._clock() - self._built_at >= KEPT_SECONDS):
            self._built_at = self._clock()
            self._page = asyncio.ensure_future(self._build())
        # Shielded, because whoever leaves must not take the page from the others.
        page = await asyncio.shield(self._page)
        return web.Response(body=page.body, status=page.status, headers={"Content-Type": page.content_type})


def add_health_routes(
    server: web.Application,
    checks: Checks,
    metrics: Callable[[Sequence[Finding]], Awaitable[tuple[bytes, str]]],
    clock: Callable[[], float] = monotonic,
) -> None:
    """Add the routes for probes and for Prometheus. ``metrics`` gets what the checks found."""

    async def alive(_request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def ready() -> Page:
        found = await run_checks(checks)
        well = all(each.ok or not each.required for each in found)
        told = {each.name: {"ok": each.ok, "about": each.seen} for each in found}
        return Page(json.dumps({"ok": well, "checks": told}).encode(), status=200 if well else 503)

    async def counted() -> Page:
        return Page(*await metrics(await run_checks(checks)))

    server.router.add_get("/livez", alive)
    server.router.add_get("/readyz", _KeptPage(ready, clock).show)
    server.router.add_get("/metrics", _KeptPage(counted, clock).show)


log = structlog.get_logger(__name__)
HEAD_SECONDS = 5.0
_LINGERING_SECONDS = 1.0
"""For how long the rest of a refused body is read and discarded, so that the sender reads the refusal."""
_STOP_SECONDS = 2.5
"""For requests under way when listening ends; twice, because aiohttp waits again once they are cancelled."""
_QUEUE = 1_024
"""Connections that wait in the kernel until they are accepted."""
_OPEN_FILES = 10_240
"""As many as macOS allows a process that is allowed any number."""


def allow_open_files() -> None:
    """Let this process open as many files and connections as it may (`ulimit -Hn`)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@asynccontextmanager
async def listening(
    server: web.Application, host: str, port: int, *, idle_seconds: float, head_seconds: float = HEAD_SECONDS
) -> AsyncIterator[int]:
    """Serve an application until the block ends; yield the port. Raises OSError for a port in use.

    ``idle_seconds``: how long a connection is kept for another request; ``head_seconds``: for its first one.
    """
    loop = asyncio.get_running_loop()
    silent: set[asyncio.BaseProtocol] = set()

    @web.middleware
    async def requested(request: web.Request, handler: Handler) -> web.StreamResponse:
        silent.discard(request.protocol)
        return await handler(request)

    def end_silence(protocol: web.RequestHandler) -> None:
        if protocol not in silent:
            return
        silent.discard(protocol)
        if protocol.transport is not None:
            log.warning("connection_closed", kind="no request")
            protocol.transport.abort()

    def accepted() -> asyncio.BaseProtocol:
        protocol: web.RequestHandler = serve()
        silent.add(protocol)
        loop.call_later(head_seconds, end_silence, protocol)
        return protocol

    server.middlewares.append(requested)
    runner = web.AppRunner(
        server,
        access_log=None,
        logger=_ServerLog(logging.getLogger("aiohttp.server")),
        shutdown_timeout=_STOP_SECONDS,
        keepalive_timeout=idle_seconds,
        lingering_time=_LINGERING_SECONDS,
        auto_decompress=False,
    )
    await runner.setup()
    serve = cast("web.Server", runner.server)
    try:
        listener = await loop.create_server(accepted, sock=_listener(host, port), backlog=_QUEUE)
        try:
            yield listener.sockets[0].getsockname()[1]
        finally:
            listener.close()
    finally:
        await runner.cleanup()


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        said = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"{said}: {host}, port {port}") from None


class _ServerLog(logging.LoggerAdapter[logging.Logger]):
    """The log of aiohttp's server. Requests that are not HTTP are one line a minute, without tracebacks."""

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if isinstance(kwargs.get("exc_info"), HttpProcessingError):
            log.warning("connection_closed", kind="not HTTP")
            return
        super().log(level, msg, *args, **kwargs)
