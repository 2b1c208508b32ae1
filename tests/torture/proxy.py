"""A plain proxy before several processes: each connection goes to the next one that accepts it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from tests.servers import Connections, close_server

_PIECE_BYTES = 65_536


class Proxy:
    """Passes connections on to these ports of this machine in turn, without reading them.

    A connection ends with the process behind it. One that no process accepts is closed at once.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports
        self._next = 0
        self._connections = Connections(self._pass_on)
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        """Listen, and return the port."""
        self._server = await asyncio.start_server(self._connections.serve, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Stop listening, and close all connections."""
        if self._server is not None:
            await close_server(self._server)
        await self._connections.end()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._next += 1
        for number in range(len(self._ports)):
            port = self._ports[(self._next + number) % len(self._ports)]
            with contextlib.suppress(OSError):
                from_bot, to_bot = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(_copy(reader, to_bot), _copy(from_bot, writer))
                return


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
    writer.close()
