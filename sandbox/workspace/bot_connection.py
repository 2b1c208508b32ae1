"""Deliver Slack's requests to the bot over Socket Mode or signed HTTP, with acknowledgements and redelivery.

https://docs.slack.dev/apis/events-api/using-socket-mode · https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import itertools
import json
import secrets
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urlencode

import aiohttp
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
        self,
        options: WorkspaceOptions,
        clock: Callable[[], datetime],
        receive: Callable[[str], None],
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
        details = {"num_connections": len(self._open), "connection_info": {"app_id": APP_ID}}
        await socket.send_json({"type": "hello", **details})
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


_ENVELOPE_TYPES = {"command": "slash_commands", "interactive": "interactive", "event": "events_api"}


class NotAcknowledged(Exception):
    """The bot did not acknowledge a request; the code is the one that Slackbot would show.

    ``reason`` is Slack's word for it, which comes with the next delivery. ``no_retry`` is true if the bot
    asked Slack not to deliver the event again.
    """

    def __init__(self, code: str, reason: str, *, no_retry: bool = False) -> None:
        super().__init__(code)
        self.reason = reason
        self.no_retry = no_retry


class BotConnection:
    """Sends commands, interactions and events to the bot and waits for acknowledgements."""

    def __init__(
        self, options: WorkspaceOptions, log: list[Json], clock: Callable[[], datetime]
    ) -> None:
        self.options = options
        self.sockets = Sockets(options, clock, self._receive_ack)
        self._log = log
        self._waiting: dict[str, asyncio.Future[Json]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._session: aiohttp.ClientSession | None = None
        self.repeats = 0
        """Number of acknowledged events to deliver again, as if the acknowledgement had been lost."""

    @property
    def mode(self) -> str:
        """Return how the bot is reached: "http" or "socket"."""
        return "http" if self.options.events_url else "socket"

    def is_reachable(self) -> bool:
        """Return whether the bot has an open socket, or is reached over HTTP."""
        return bool(self.options.events_url or self.sockets)

    def _receive_ack(self, text: str) -> None:
        try:
            answer = json.loads(text)
        except ValueError:
            return
        waiting = self._waiting.pop(str(answer.get("envelope_id")), None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer.get("payload") or {})

    async def deliver(
        self, kind: str, payload: Json, *, attempt: int = 0, reason: str = ""
    ) -> Json:
        """Deliver a request once and return the payload of the acknowledgement, or raise NotAcknowledged.

        ``attempt`` and ``reason`` are the number of the retry of an event, and why the last delivery failed.
        """
        entry: Json = {
            "to": "bot",
            "kind": kind,
            "attempt": attempt,
            "acked": False,
            "at": time.time(),
        }
        entry["event_id"] = payload.get("event_id")
        event: Json = payload.get("event") or {}
        entry |= {"event": event.get("type"), "ts": event.get("ts")}
        self._log.append(entry)
        send = self._over_http if self.options.events_url else self._over_socket
        try:
            answer = await send(kind, payload, attempt, reason)
        except NotAcknowledged as error:
            entry["error"] = error.reason
            raise
        finally:
            entry["seconds"] = time.time() - entry["at"]
        entry["acked"] = True
        return answer

    def log_unshown(self, complaints: list[str]) -> None:
        """Log why the message in an acknowledgement was not shown; no person learns of it."""
        entry = {
            "to": "person",
            "kind": "acknowledgement",
            "error": complaints[0],
            "at": time.time(),
        }
        self._log.append(entry)

    async def _over_socket(self, kind: str, payload: Json, attempt: int, reason: str) -> Json:
        if not self.sockets:
            raise NotAcknowledged("dispatch_failed", "connection_failed")
        envelope: Json = {
            "envelope_id": secrets.token_hex(16),
            "type": _ENVELOPE_TYPES[kind],
            "accepts_response_payload": kind != "event",
            "payload": payload,
        }
        if attempt:
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[envelope["envelope_id"]] = answer
        try:
            await self.sockets.send(envelope)
            return await asyncio.wait_for(answer, self.options.ack_seconds)
        except (ConnectionError, aiohttp.ClientError):
            raise NotAcknowledged("dispatch_failed", "connection_failed") from None
        except TimeoutError:
            raise NotAcknowledged("operation_timeout", "timeout") from None
        finally:
            self._waiting.pop(envelope["envelope_id"], None)

    async def _over_http(self, kind: str, payload: Json, attempt: int, reason: str) -> Json:
        if kind == "event":
            body, content_type = json.dumps(payload), "application/json"
        else:
            form = payload if kind == "command" else {"payload": json.dumps(payload)}
            body, content_type = urlencode(form), "application/x-www-form-urlencoded"
        headers = signature_headers(self.options.signing_secret, body) | {
            "Content-Type": content_type
        }
        if attempt:
            headers |= {"x-slack-retry-num": str(attempt), "x-slack-retry-reason": reason}
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self.options.ack_seconds), trust_env=False
            )
        try:
            async with self._session.post(
                self.options.events_url or "", data=body, headers=headers
            ) as answer:
                text = await answer.text()
                if not 200 <= answer.status < 300:
                    no_retry = answer.headers.get("x-slack-no-retry") == "1"
                    raise NotAcknowledged("dispatch_failed", "http_error", no_retry=no_retry)
        except TimeoutError:
            raise NotAcknowledged("operation_timeout", "http_timeout") from None
        except aiohttp.ClientError:
            raise NotAcknowledged("dispatch_failed", "connection_failed") from None
        if not text:
            return {}
        try:
            read = json.loads(text)
        except ValueError:
            return {"text": text}
        return read if isinstance(read, dict) else {"text": text}

    def send_event(self, payload: Json) -> None:
        """Deliver an event in the background, and again while it is not acknowledged."""
        task = asyncio.create_task(self._send_until_acknowledged(payload))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_until_acknowledged(self, payload: Json) -> None:
        """Deliver an event at most as often as Slack does. A delivery without a connection fails, too."""
        reason = ""
        for attempt, wait in enumerate((0.0, *self.options.redeliver_after_seconds)):
            await asyncio.sleep(wait)
            try:
                await self.deliver("event", payload, attempt=attempt, reason=reason)
            except NotAcknowledged as error:
                if error.no_retry:
                    return
                reason = error.reason
                continue
            if self.repeats <= 0:
                return
            self.repeats -= 1
            reason = "timeout" if self.mode == "socket" else "http_timeout"

    def has_pending_events(self) -> bool:
        """Return whether an event still waits for delivery or acknowledgement."""
        return bool(self._tasks)

    async def drop_events(self) -> None:
        """Deliver nothing more of the events so far."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def stop(self) -> None:
        """Cancel deliveries and close all connections."""
        await self.drop_events()
        await self.sockets.disconnect(warn=False)
        if self._session is not None:
            await self._session.close()


def signature_headers(secret: str, body: str, at: float | None = None) -> dict[str, str]:
    """Return the headers by which the bot verifies that a request is from Slack."""
    stamp = str(int(time.time() if at is None else at))
    mac = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={mac}"}
