"""The bot's Socket Mode connections, and the tickets that open them.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from aiohttp import WSMsgType, web

from sandbox.workspace.options import WorkspaceOptions
from sandbox.workspace.state import APP_ID, Json

MOST_SOCKETS = 10
"""The connections that one app may have open at the same time."""
_DEAD_TICKET = 408
"""Seen with Slack when a ticket was too old: https://github.com/slackapi/node-slack-sdk/issues/1472"""


class Sockets:
    """The open connections, which take turns. A ticket opens one connection, within ``ticket_seconds``."""

    def __init__(
        self, options: WorkspaceOptions, clock: Callable[[], datetime], receive: Callable[[str], None]
    ) -> None:
        """``receive`` gets every text that the bot sends."""
        self.base_url = ""
        self.connected = asyncio.Event()
        self._options = options
        self._clock = clock
        self._receive = receive
        self._tickets: dict[str, datetime] = {}
        self._open: list[web.WebSocketResponse] = []
        self._silent: set[web.WebSocketResponse] = set()
        self._turns = itertools.count()

    def __len__(self) -> int:
        return len(self._open)

    def new_url(self) -> str:
        """Return an address with a new ticket."""
        ticket = secrets.token_urlsafe(12)
        self._tickets[ticket] = self._clock() + timedelta(seconds=self._options.ticket_seconds)
        return f"{self.base_url.replace('http', 'ws', 1)}/link?ticket={ticket}&app_id={APP_ID}"

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection until it closes. Refuse a dead ticket, and a connection above the limit."""
        expires_at = self._tickets.pop(request.query.get("ticket", ""), None)
        if expires_at is None or self._clock() > expires_at:
            return web.Response(status=_DEAD_TICKET, text="dead ticket")
        # Pings are answered in ``_serve``, because a silent connection answers none.
        socket = web.WebSocketResponse(heartbeat=30, autoping=False)
        await socket.prepare(request)
        if len(self._open) >= MOST_SOCKETS:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await socket.close()
            return socket
        self._open.append(socket)
        self.connected.set()
        try:
            await self._serve(socket)
        finally:
            self._open.remove(socket)
            self._silent.discard(socket)
            if not self._open:
                self.connected.clear()
        return socket

    async def _serve(self, socket: web.WebSocketResponse) -> None:
        about = {"num_connections": len(self._open), "connection_info": {"app_id": APP_ID}}
        await socket.send_json({"type": "hello", **about})
        async for frame in socket:
            if socket in self._silent:
                continue
            if frame.type == WSMsgType.PING:
                await socket.pong(frame.data)
            elif frame.type == WSMsgType.TEXT:
                self._receive(frame.data)

    async def send(self, envelope: Json) -> None:
        """Send a request over the connection whose turn it is. Over a silent one it does not arrive."""
        socket = self._open[next(self._turns) % len(self._open)]
        if socket not in self._silent:
            await socket.send_json(envelope)

    def silence(self) -> None:
        """Let the open connections carry nothing any more, as when a router on the way forgets them."""
        self._silent.update(self._open)

    async def disconnect(self, *, warn: bool) -> None:
        """Close all connections, or with ``warn`` ask the bot to reconnect, as Slack does every few hours."""
        for socket in tuple(self._open):
            if warn:
                with contextlib.suppress(ConnectionError):  # the socket is closed already
                    await socket.send_json({"type": "disconnect", "reason": "refresh_requested"})
            else:
                await socket.close()
