"""Socket Mode: Slack sends requests through a WebSocket that the bot opens.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

import structlog
from pydantic import SecretStr
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.engine import wait_for_ends
from bot.ports import SlackError
from bot.slack.client import answered, translating_errors
from bot.slack.intake import Background
from bot.store.deadline import Deadline, within

log = structlog.get_logger(__name__)
DEAF_SECONDS = 60.0
"""How long Slack's library may take to reconnect. A gap of this length loses no event.

Slack sends an event again after one minute, and after five: https://docs.slack.dev/apis/events-api
"""
_ACK_SECONDS = 3.0
"""How long Slack waits for an acknowledgement.

https://docs.slack.dev/interactivity/handling-user-interaction
"""
_GOODBYE_SECONDS = 0.5
"""How long Slack may take to answer the end of a connection."""
_EVENT_TYPE = "events_api"


class SocketIntake:
    """One Socket Mode connection, which reconnects after a minute without Slack.

    It is closed only after its current requests are acknowledged.
    """

    def __init__(
        self,
        app: AsyncApp,
        client: AsyncWebClient,
        app_token: SecretStr,
        *,
        intake_seconds: float,
        on_gap: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = monotonic,
        deaf_seconds: float = DEAF_SECONDS,
        ping_seconds: float = 10.0,
    ) -> None:
        """Take the parts of a connection, which ``open`` opens.

        Args:
            intake_seconds: A request is stored within this time of its arrival, or not at all.
            on_gap: Called when Slack is back after a time in which it may have dropped events,
                before the next request is handled.
            clock: Returns seconds.
            deaf_seconds: How long Slack may be away until a new ticket is requested.
            ping_seconds: The time between two pings. Four in a row may stay unanswered.
        """
        self._app = app
        self._client = client
        self._app_token = app_token
        self._on_gap = on_gap
        self._clock = clock
        self._max_deaf_seconds = deaf_seconds
        self._ping_seconds = ping_seconds
        self._intake_seconds = intake_seconds
        self._handler: AsyncSocketModeHandler | None = None
        self._current: set[asyncio.Task[None]] = set()
        self._background = Background()
        self._requested_at = clock()
        self._connected_at = self._requested_at
        self._tried_at = self._requested_at
        self.sockets = 0
        """The app's sockets in all processes, as Slack reported last; 0 before the first report."""
        self._closing = False

    async def open(self, limit_seconds: float = 30.0) -> None:
        """Connect. After a failure this may be called again.

        Raises SlackRefused for a wrong token, with which Slack's library would retry for ever.
        """
        handler = self._use(await self._new_handler())
        async with translating_errors(), asyncio.timeout(limit_seconds):
            await handler.connect_async()  # type: ignore[no-untyped-call]
        self._connected_at = self._clock()

    async def _new_handler(self) -> AsyncSocketModeHandler:
        """Return a handler with a new ticket, which is not connected yet. Raises a SlackError."""
        token = self._app_token.get_secret_value()
        answer = await answered(self._client.apps_connections_open(app_token=token))
        handler = AsyncSocketModeHandler(
            self._app, token, web_client=self._client, ping_interval=self._ping_seconds
        )
        # The library takes proxies from the environment; see client.py.
        handler.client.proxy = self._client.proxy
        handler.client.wss_uri = str(answer["url"])
        handler.client.message_listeners.append(self._greeted)
        handler.client.socket_mode_request_listeners.clear()
        handler.client.socket_mode_request_listeners.append(self._take)
        return handler

    async def _greeted(
        self, _client: AsyncBaseSocketModeClient, message: dict[str, Any], _raw: str | None
    ) -> None:
        if message.get("type") == "hello":
            self.sockets = int(message.get("num_connections") or 0)

    async def _take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        if self._closing and request.type == _EVENT_TYPE:
            # Without an acknowledgement Slack sends an event to another connection. It repeats
            # no other request.
            return
        self._mark_connected()
        self._requested_at = self._clock()
        task = asyncio.ensure_future(self._answer(client, request))
        self._current.add(task)
        task.add_done_callback(self._current.discard)
        await asyncio.shield(task)

    async def _answer(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        began = monotonic()
        session = await client.session_id()
        with within(Deadline(began + self._intake_seconds)):
            response = await run_async_bolt_app(self._app, request)
        if not await client.is_connected() or await client.session_id() != session:
            # Slack may accept the response only on the connection of the request.
            log.warning("answer_may_be_lost", kind=request.type)
        await send_async_response(client, request, response, began)

    async def is_connected(self) -> bool:
        """Return whether the connection is open and Slack has recently answered a ping."""
        return self._handler is not None and bool(await self._handler.client.is_connected())

    async def check(self) -> None:
        """Report the end of a gap, or request a new ticket after a minute without Slack.

        Call this every few seconds. Slack's library tries its ticket for ever, even a dead one.
        """
        if await self.is_connected():
            self._mark_connected()
        elif not self._closing:
            untried_seconds = self._clock() - max(self._connected_at, self._tried_at)
            if untried_seconds >= self._max_deaf_seconds:
                self._tried_at = self._clock()
                await self._reconnect()

    def _mark_connected(self) -> None:
        if self.deaf_seconds() >= self._max_deaf_seconds:
            log.info("socket_back", deaf_seconds=round(self.deaf_seconds()))
            self._on_gap()
        self._connected_at = self._clock()

    async def _reconnect(self) -> None:
        log.warning("socket_deaf", deaf_seconds=round(self.deaf_seconds()))
        try:
            handler = await self._new_handler()
        except SlackError as error:
            log.warning("socket_has_no_ticket", reason=str(error))
            return
        self._use(handler)
        if not self._closing:
            # Ends when it is connected or closed.
            connecting = handler.connect_async()  # type: ignore[no-untyped-call]
            self._background.start("open a socket", connecting)

    def _use(self, handler: AsyncSocketModeHandler) -> AsyncSocketModeHandler:
        """Replace the handler, and close the previous one."""
        abandoned = self._handler
        self._handler = handler
        if abandoned is not None:
            self._background.start("close a socket", _close(abandoned))
        return handler

    def silent_seconds(self) -> float:
        """Return the seconds since the last request, or since the start without one."""
        return self._clock() - self._requested_at

    def deaf_seconds(self) -> float:
        """Return the seconds since the connection was last known to be open."""
        return self._clock() - self._connected_at

    async def close(self, grace_seconds: float) -> list[str]:
        """Leave events to other processes, acknowledge the current requests, and disconnect.

        Requests get no more time than Slack waits. Return descriptions of unfinished ones.
        """
        self._closing = True
        await wait_for_ends(self._current, min(grace_seconds, _ACK_SECONDS))
        if self._handler is not None:
            await _close(self._handler)
        await self._background.drain(_GOODBYE_SECONDS)
        # Requests that arrived while the connection was closing use parts that are closed next.
        unfinished = await wait_for_ends(self._current, min(grace_seconds, _GOODBYE_SECONDS))
        return [f"requests of Slack: {len(unfinished)}"] if unfinished else []


async def _close(handler: AsyncSocketModeHandler) -> None:
    """Close a connection, at once if Slack does not answer or the task is cancelled."""
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await handler.close_async()  # type: ignore[no-untyped-call]
    finally:
        # Without an answer to the close frame the library leaves the session open.
        await handler.client.aiohttp_client_session.close()
        await handler.close_async()  # type: ignore[no-untyped-call]
