"""Socket Mode: Slack sends requests through a WebSocket that the bot opens.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
from time import monotonic

import structlog
from pydantic import SecretStr
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.errors import translated

log = structlog.get_logger(__name__)


class SocketIntake:
    """One Socket Mode connection, which is closed only after its current requests are acknowledged."""

    def __init__(self, app: AsyncApp, client: AsyncWebClient, app_token: SecretStr) -> None:
        self._app = app
        self._client = client
        self._app_token = app_token
        self._handler: AsyncSocketModeHandler | None = None
        self._current: set[asyncio.Task[None]] = set()
        self._heard_at = monotonic()
        self._closing = False

    async def open(self, limit_seconds: float = 30.0) -> None:
        """Connect. Raises SlackRefused for a wrong token, which Slack's library would retry for ever."""
        async with translated():
            await self._client.apps_connections_open(app_token=self._app_token.get_secret_value())
        handler = AsyncSocketModeHandler(
            self._app, self._app_token.get_secret_value(), web_client=self._client
        )
        # The library takes proxies from the environment; see client.py.
        handler.client.proxy = None
        handler.client.socket_mode_request_listeners.clear()
        handler.client.socket_mode_request_listeners.append(self._take)
        self._handler = handler
        async with translated(), asyncio.timeout(limit_seconds):
            await handler.connect_async()  # type: ignore[no-untyped-call]

    async def _take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        if self._closing:
            return  # not acknowledged, so Slack sends it to another connection
        self._heard_at = monotonic()
        task = asyncio.ensure_future(self._answer(client, request))
        self._current.add(task)
        task.add_done_callback(self._current.discard)
        await asyncio.shield(task)

    async def _answer(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        began = monotonic()
        response = await run_async_bolt_app(self._app, request)
        await send_async_response(client, request, response, began)

    async def is_connected(self) -> bool:
        """Return whether the connection is open and Slack has recently answered a ping."""
        return self._handler is not None and bool(await self._handler.client.is_connected())

    def silent_seconds(self) -> float:
        """Return the seconds since the last request, or since the start if there was none."""
        return monotonic() - self._heard_at

    async def close(self, grace_seconds: float) -> None:
        """Refuse new requests, wait for the acknowledgement of current ones, then disconnect."""
        self._closing = True
        if self._current:
            await asyncio.wait(self._current, timeout=grace_seconds)
        if self._handler is not None:
            await self._handler.close_async()  # type: ignore[no-untyped-call]
