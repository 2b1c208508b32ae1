"""Socket Mode's connections: tickets that die, refused handshakes, silence, and at most ten connections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import pytest
from aiohttp import WSMsgType

from sandbox.workspace import Workspace
from tests.limits import HANG_SECONDS
from tests.sandbox.workspace.conftest import Opener
from tests.sandbox.workspace.small_bot import ANA, DOCS, HeldClock, Json


@asynccontextmanager
async def _socket(url: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open a raw connection that answers no pings by itself."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(url, autoping=False) as socket,
    ):
        yield socket


async def _hello(workspace: Workspace, stack: AsyncExitStack) -> Json:
    """Open one more connection until the stack ends, and return the first message."""
    socket = await stack.enter_async_context(_socket(workspace.bot_connection.sockets.new_url()))
    greeting: Json = await socket.receive_json(timeout=HANG_SECONDS)
    return greeting


async def _refused(url: str) -> int:
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        async with _socket(url):
            pass
    return caught.value.status


async def test_a_ticket_opens_one_connection_in_time(
    workspace: Workspace, clock: HeldClock
) -> None:
    young, old = (workspace.bot_connection.sockets.new_url() for _ in range(2))
    clock.forward(workspace.options.ticket_seconds - 1)
    async with _socket(young):
        assert await _refused(young) == 408
        clock.forward(2)
        assert await _refused(old) == 408


async def test_the_eleventh_connection_is_told_to_leave(workspace: Workspace) -> None:
    async with AsyncExitStack() as stack:
        greetings = [await _hello(workspace, stack) for _ in range(10)]
        assert [each["num_connections"] for each in greetings] == list(range(1, 11))
        last = await _hello(workspace, stack)
        assert last == {"type": "disconnect", "reason": "too_many_websockets"}
        assert len(workspace.bot_connection.sockets) == 10


async def test_a_connection_answers_pings_until_it_is_silenced(open_workspace: Opener) -> None:
    workspace = await open_workspace(ack_seconds=0.05, redeliver_after_seconds=())
    async with _socket(workspace.bot_connection.sockets.new_url()) as socket:
        await socket.receive_json()
        await socket.ping(b"one")
        answer = await socket.receive(timeout=HANG_SECONDS)
        assert (answer.type, answer.data) == (WSMsgType.PONG, b"one")
        workspace.bot_connection.sockets.silence()
        await socket.ping(b"two")
        told = await workspace.people.command(ANA, DOCS, "/docs-agent", "x")
        assert told["error"] == "operation_timeout"
        with pytest.raises(TimeoutError):
            await socket.receive(timeout=0.05)
        assert not socket.closed
