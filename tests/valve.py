"""A line between the bot and a server that a test can shut: it stays open and carries nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from tests.servers import serving

_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Valve:
    """Passes bytes both ways until it is shut. Then it takes connections, too, and nothing comes back."""

    def __init__(
        self, connect: Callable[[], Awaitable[_Streams]], named: int | None = None
    ) -> None:
        """``named``: the port that a web server expects in the name of its host."""
        self._connect = connect
        self._named = named
        self._open = asyncio.Event()
        self._open.set()
        self.port = 0

    def shut(self) -> None:
        """Carry nothing more."""
        self._open.clear()

    def open(self) -> None:
        """Carry what waits, and what comes."""
        self._open.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        await self._open.wait()
        other_reader, other_writer = await self._connect()
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, other_writer, self._renamed))
                both.create_task(self._pass(other_reader, writer, bytes))
        finally:
            other_writer.transport.abort()
            writer.transport.abort()

    def _renamed(self, some: bytes) -> bytes:
        return some.replace(b":%d" % self.port, b":%d" % self._named) if self._named else some

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        change: Callable[[bytes], bytes],
    ) -> None:
        with suppress(ConnectionError):
            while some := await reader.read(65_536):
                await self._open.wait()
                writer.write(change(some))
                await writer.drain()
        writer.close()


@asynccontextmanager
async def valve(
    connect: Callable[[], Awaitable[_Streams]], named: int | None = None
) -> AsyncIterator[Valve]:
    """Yield an open valve before the server that ``connect`` connects to."""
    made = Valve(connect, named)
    async with serving(made.serve) as made.port:
        yield made
