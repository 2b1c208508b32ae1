"""A line between the bot and a server that a test can shut: it stays open and carries nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from tests.servers import close_server

_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Valve:
    """Passes bytes both ways until it is shut. Then it takes connections, too, and nothing comes back."""

    def __init__(self, connect: Callable[[], Awaitable[_Streams]], named: int | None = None) -> None:
        """``named``: the port that a web server expects in the name of its host."""
        self._connect = connect
        self._named = named
        self._open = asyncio.Event()
        self._open.set()
        self._writers: list[asyncio.StreamWriter] = []
        self._closed = False
        self.port = 0

    def shut(self) -> None:
        """Carry nothing more."""
        self._open.clear()

    def open(self) -> None:
        """Carry what waits, and what comes."""
        self._open.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self._keep(writer)
        with suppress(ConnectionError, asyncio.CancelledError):
            await self._open.wait()
            other_reader, other_writer = await self._connect()
            self._keep(other_writer)
            await asyncio.gather(
                self._pass(reader, other_writer, self._renamed), self._pass(other_reader, writer, bytes)
            )

    def _keep(self, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        if self._closed:
            writer.transport.abort()

    def _renamed(self, some: bytes) -> bytes:
        return some.replace(b":%d" % self.port, b":%d" % self._named) if self._named else some

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, change: Callable[[bytes], bytes]
    ) -> None:
        while some := await reader.read(65_536):
            await self._open.wait()
            writer.write(change(some))
            await writer.drain()
        writer.close()

    def close(self) -> None:
        """Cut all connections, and those that are being made."""
        self._closed = True
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def valve(connect: Callable[[], Awaitable[_Streams]], named: int | None = None) -> AsyncIterator[Valve]:
    """Yield an open valve before the server that ``connect`` connects to."""
    made = Valve(connect, named)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        await close_server(server)
        made.close()
