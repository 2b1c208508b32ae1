"""Servers of the tests' own."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Connections:
    """The connections of a server, each served by a task that ends with the server."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._tasks: set[asyncio.Task[object]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, and close it."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._handle(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def end(self) -> None:
        """Stop serving, and wait until each connection is closed."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def serving(handle: Handle, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve connections on a port of this machine until the block ends; yield the port.

    Nothing of it goes on afterwards.
    """
    connections = Connections(handle)
    server = await asyncio.start_server(connections.serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await close_server(server)
        await connections.end()


async def close_server(server: asyncio.Server) -> None:
    """Close a server with the connection that it accepts at this moment.

    asyncio alone would lose it: https://github.com/python/cpython/issues/109564
    """
    for socket in server.sockets:
        asyncio.get_running_loop().remove_reader(socket)
    for _ in range(2):  # the server gets the connections of this step, and then its protocol does
        await asyncio.sleep(0)
    server.close()
