"""Listening for HTTP: limits that keep strangers from using up the process's memory, files and log."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import structlog
from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler

from bot.logs import LogSeldom

log = structlog.get_logger(__name__)
HEAD_SECONDS = 5.0
_LINGERING_SECONDS = 1.0
"""For how long the rest of a refused body is read and discarded, so that the sender reads the refusal."""
_STOP_SECONDS = 2.5
"""For requests under way when listening ends; twice, because aiohttp waits again once they are cancelled."""
_HEADERS, _LINE_BYTES = 64, 8_190
_PIECE_BYTES = 8_192
"""Read from one connection at a time, so that many senders of large bodies use little memory."""
_QUEUE = 1_024
"""Connections that wait in the kernel until they are accepted."""
_OTHER_FILES = 300
"""Open files that the database, Slack and the docs service may need."""


def most_connections(wanted: int, open_files: int | None = None) -> int:
    """Return ``wanted``, or fewer where the limit on open files (`ulimit -n`) leaves fewer."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if open_files is None else open_files
    if files == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(files - _OTHER_FILES, files // 2))


class Connections:
    """The incoming connections of a process, on all its ports together.

    Above ``most``, the connection that has waited longest makes room for a new one. Requests that ``keep``
    has been told to be genuine are never closed for this.
    """

    def __init__(self, most: int, head_seconds: float = HEAD_SECONDS) -> None:
        self._most = most
        self._head_seconds = head_seconds
        self._open: dict[asyncio.BaseProtocol, asyncio.Transport] = {}
        self._kept: set[asyncio.BaseProtocol] = set()
        self._silent: set[asyncio.BaseProtocol] = set()
        self._refusals = LogSeldom("connection_closed")

    @asynccontextmanager
    async def listening(
        self, server: web.Application, host: str, port: int, *, idle_seconds: float
    ) -> AsyncIterator[int]:
        """Serve an application until the block ends; yield the port. Raises OSError for a port in use.

        ``idle_seconds``: how long a connection is kept for another request.
        """
        server.middlewares.append(self._heard)
        server.on_response_prepare.append(_close_after_refusal)
        listener = _listener(host, port)
        runner = web.AppRunner(
            server,
            access_log=None,
            logger=_ServerLog(logging.getLogger("aiohttp.server"), self._refusals),
            shutdown_timeout=_STOP_SECONDS,
            keepalive_timeout=idle_seconds,
            lingering_time=_LINGERING_SECONDS,
            auto_decompress=False,
            max_headers=_HEADERS,
            max_line_size=_LINE_BYTES,
            max_field_size=_LINE_BYTES,
            read_bufsize=_PIECE_BYTES,
        )
        await runner.setup()
        factory = cast("Callable[[], asyncio.BaseProtocol]", runner.server)
        accepting = asyncio.create_task(self._accept(listener, factory))
        try:
            yield listener.getsockname()[1]
        finally:
            accepting.cancel()
            await asyncio.gather(accepting, return_exceptions=True)
            listener.close()
            await runner.cleanup()

    @contextmanager
    def keep(self, request: web.Request) -> Iterator[None]:
        """Do not close this request's connection to make room, until the block ends."""
        self._kept.add(request.protocol)
        try:
            yield
        finally:
            self._kept.discard(request.protocol)
            if (transport := self._open.pop(request.protocol, None)) is not None:
                self._open[request.protocol] = transport  # the last one to be closed

    async def _accept(self, listener: socket.socket, factory: Callable[[], asyncio.BaseProtocol]) -> None:
        """Accept one connection at a time, so that no burst opens more files than the limit allows."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted = await _accepted(listener)
            except OSError:
                # Most likely the process has no file left; the waiting connections stay in the kernel.
                self._refusals.warning("not accepted")
                await asyncio.sleep(0.1)
                continue
            if not self._make_room():
                accepted.close()
                self._refusals.warning("no room")
                await asyncio.sleep(0)
                continue
            try:
                transport, protocol = await loop.connect_accepted_socket(factory, accepted)
            except OSError:
                accepted.close()  # it has been closed at the other end
                continue
            # asyncio would read up to 256 KiB at once.
            transport.max_size = _PIECE_BYTES  # type: ignore[attr-defined]
            self._open[protocol] = transport
            self._silent.add(protocol)
            loop.call_later(self._head_seconds, self._end_silence, protocol)

    def _make_room(self) -> bool:
        """Return whether another connection fits, after closing the one that has waited longest."""
        if len(self._open) < self._most:
            return True
        self._open = {one: transport for one, transport in self._open.items() if not transport.is_closing()}
        self._silent &= self._open.keys()
        if len(self._open) < self._most:
            return True
        oldest = next((one for one in self._open if one not in self._kept), None)
        if oldest is None:
            return False
        self._refusals.warning("too many")
        self._close(oldest)
        return True

    def _end_silence(self, protocol: asyncio.BaseProtocol) -> None:
        transport = self._open.get(protocol)
        if transport is not None and transport.is_closing():
            self._forget(protocol)
        elif protocol in self._silent:
            self._refusals.warning("no request")
            self._close(protocol)

    def _close(self, protocol: asyncio.BaseProtocol) -> None:
        if (transport := self._forget(protocol)) is not None:
            transport.abort()

    def _forget(self, protocol: asyncio.BaseProtocol) -> asyncio.Transport | None:
        self._silent.discard(protocol)
        return self._open.pop(protocol, None)

    @property
    def _heard(self) -> Any:
        @web.middleware
        async def heard(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._silent.discard(request.protocol)
            return await handler(request)

        return heard


async def _accepted(listener: socket.socket) -> socket.socket:
    """Return the next connection. Raises OSError.

    `loop.sock_accept` would lose a connection that arrives as it is cancelled, and log an error.
    """
    while True:
        try:
            accepted, _ = listener.accept()
        except BlockingIOError:
            await _readable(listener)
        else:
            accepted.setblocking(False)
            return accepted


async def _readable(listener: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(listener, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(listener)


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=_QUEUE)
    except OSError as error:
        said = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"{said}: {host}, port {port}") from None
    listener.setblocking(False)
    return listener


async def _close_after_refusal(_request: web.Request, response: web.StreamResponse) -> None:
    """Close the connection after a refusal: whoever was refused keeps no place."""
    if response.status >= 400:
        response.force_close()


class _ServerLog(logging.LoggerAdapter[logging.Logger]):
    """The log of aiohttp's server. Requests that are not HTTP are one line a minute, without tracebacks."""

    def __init__(self, logger: logging.Logger, refusals: LogSeldom) -> None:
        super().__init__(logger)
        self._refusals = refusals

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if isinstance(kwargs.get("exc_info"), HttpProcessingError):
            self._refusals.warning("not HTTP")
            return
        super().log(level, msg, *args, **kwargs)
