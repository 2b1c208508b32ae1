"""HTTP servers: their time limits, their connections, and their log."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import structlog
from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler

log = structlog.get_logger(__name__)
HEAD_SECONDS = 5.0
"""How long a new connection may take until its first request has arrived."""
_LINGERING_SECONDS = 1.0
"""How long the remaining refused body is read, so that the sender reads the refusal."""
_STOP_SECONDS = 2.5
"""For requests under way at the end; twice, because aiohttp waits again once it cancels them."""
_BACKLOG = 1_024
"""Connections that wait in the kernel until they are accepted."""
_MAX_OPEN_FILES = 10_240
"""As many as macOS allows a process that is allowed any number."""


def allow_open_files() -> None:
    """Let this process open as many files and connections as it may (`ulimit -Hn`)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@asynccontextmanager
async def listening(
    server: web.Application,
    host: str,
    port: int,
    *,
    idle_seconds: float,
    head_seconds: float = HEAD_SECONDS,
) -> AsyncIterator[int]:
    """Serve an application until the block ends; yield the port.

    Raises OSError for a port in use.

    Args:
        server: the application.
        host: an IP address of this machine.
        port: the port; 0 for any that is free.
        idle_seconds: how long a connection is kept for another request.
        head_seconds: how long a connection is kept for its first request.
    """
    loop = asyncio.get_running_loop()
    silent: set[asyncio.BaseProtocol] = set()

    @web.middleware
    async def note_request(request: web.Request, handler: Handler) -> web.StreamResponse:
        silent.discard(request.protocol)
        return await handler(request)

    def end_silence(protocol: web.RequestHandler) -> None:
        if protocol not in silent:
            return
        silent.discard(protocol)
        if protocol.transport is not None:
            log.warning("connection_closed", kind="no request")
            protocol.transport.abort()

    def accept() -> asyncio.BaseProtocol:
        protocol: web.RequestHandler = serve()
        silent.add(protocol)
        loop.call_later(head_seconds, end_silence, protocol)
        return protocol

    server.middlewares.append(note_request)
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
        opened = _open_socket(host, port)
        listener = await loop.create_server(accept, sock=opened, backlog=_BACKLOG)
        try:
            yield listener.sockets[0].getsockname()[1]
        finally:
            await _close(listener)
    finally:
        await runner.cleanup()


async def _close(listener: asyncio.Server) -> None:
    """Close a listener without leaving a connection open that arrives at this moment.

    asyncio alone would lose one that it has just accepted:
    https://github.com/python/cpython/issues/109564
    """
    try:
        for server_socket in listener.sockets:
            asyncio.get_running_loop().remove_reader(server_socket)
        # In the first step the listener accepts connections, in the second their protocols start.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    finally:
        listener.close()


def _open_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        message = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"{message}: {host}, port {port}") from None


class _ServerLog(logging.LoggerAdapter[logging.Logger]):
    """The log of aiohttp's server. Bytes that are not HTTP give one line without a traceback."""

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if isinstance(kwargs.get("exc_info"), HttpProcessingError):
            log.warning("connection_closed", kind="not HTTP")
            return
        super().log(level, msg, *args, **kwargs)
