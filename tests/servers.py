"""Servers of the tests' own."""

from __future__ import annotations

import asyncio


async def close_server(server: asyncio.Server) -> None:
    """Close a server with the connection that it accepts at this moment.

    asyncio alone would lose it: https://github.com/python/cpython/issues/109564
    """
    for socket in server.sockets:
        asyncio.get_running_loop().remove_reader(socket)
    for _ in range(2):  # the server gets the connections of this step, and then its protocol does
        await asyncio.sleep(0)
    server.close()
