"""A minimal Slack for the benchmarks: the bot's identity, users, and a socket that sends commands."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web
from slack_sdk.signature import SignatureVerifier

from bench.processes import SIGNING_SECRET

_IDENTITY = {
    "ok": True,
    "url": "https://acme.slack.com/",
    "team": "Acme",
    "team_id": "T1",
    "user": "docs-agent",
    "user_id": "U0BOT",
    "bot_id": "B0BOT",
}


LIMIT_SECONDS = 3.0
"""Slack's wait before it shows the person that the app did not respond:
https://docs.slack.dev/interactivity/implementing-slash-commands"""
PEOPLE = 1_000
"""How many users send commands: ten prompts of each may wait. The bot asks Slack about each one once."""


def command_fields(number: int) -> dict[str, Any]:
    """Return the fields of a slash command; each number makes a different request."""
    text = f"Add a quickstart number {number} for the Python SDK to the guides"
    return {
        "command": "/docs-agent",
        "text": text,
        "trigger_id": f"{number}.{number}.bench",
        "channel_id": f"C{number % 50:03}",
        "channel_name": "docs",
        "user_id": f"U{number % PEOPLE:03}",
        "user_name": "ana",
        "team_id": "T1",
        "team_domain": "acme",
        "api_app_id": "A1",
        "is_enterprise_install": "false",
        "response_url": f"https://hooks.slack.com/commands/T1/{number}/bench",
    }


def event_body(number: int, text: str) -> dict[str, Any]:
    """Return the body of an event: a message outside threads; each number makes a different one.

    https://docs.slack.dev/apis/events-api
    """
    ts = f"{1_800_000_000 + number}.000100"
    is_mention = "<@U0BOT>" in text
    return {
        "type": "event_callback",
        "team_id": "T1",
        "api_app_id": "A1",
        "event": {
            "type": "app_mention" if is_mention else "message",
            "channel": f"C{number % 50:03}",
            "channel_type": "channel",
            "user": f"U{number % PEOPLE:03}",
            "text": text,
            "ts": ts,
            "event_ts": ts,
        },
        "event_id": f"Ev{number}",
        "event_time": 1_800_000_000 + number,
        "authorizations": [{"team_id": "T1", "user_id": "U0BOT", "is_bot": True}],
    }


class PlayedSlack:
    """Serves the Web API methods for a start and for unknown users, and one socket for each app token."""

    def __init__(self) -> None:
        self.url = ""
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))
        self._sockets: dict[str, web.WebSocketResponse] = {}
        self._connected: dict[str, asyncio.Event] = {}
        self._waiting: dict[str, asyncio.Future[float]] = {}

    def application(self) -> web.Application:
        """Return the web application to serve."""
        server = web.Application()
        server.router.add_post("/api/auth.test", self._identity)
        server.router.add_post("/api/apps.connections.open", self._open)
        server.router.add_route("*", "/api/users.info", self._person)
        server.router.add_get("/socket/{token}", self._socket)
        return server

    @asynccontextmanager
    async def served(self, port: int) -> AsyncIterator[None]:
        """Serve until the block ends."""
        runner = web.AppRunner(self.application(), access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", port).start()
            self.url = f"http://127.0.0.1:{port}/api/"
            yield
        finally:
            await runner.cleanup()

    async def connected(self, token: str) -> None:
        """Wait until the app with this token has its socket."""
        await self._connected.setdefault(token, asyncio.Event()).wait()

    async def command(self, token: str) -> float:
        """Send one command through an app's socket; return the seconds until its acknowledgement.

        Returns the limit if there is none, because an app that fails sends nothing through its socket.
        """
        number = next(self._numbers[token])
        envelope = f"{token}-{number}"
        done: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._waiting[envelope] = done
        sent = {
            "envelope_id": envelope,
            "type": "slash_commands",
            "accepts_response_payload": True,
            "payload": command_fields(number),
        }
        text = json.dumps(sent)
        began = perf_counter()
        await self._sockets[token].send_str(text)
        try:
            return await asyncio.wait_for(done, LIMIT_SECONDS) - began
        except TimeoutError:
            return LIMIT_SECONDS
        finally:
            self._waiting.pop(envelope, None)

    async def _identity(self, _request: web.Request) -> web.Response:
        return web.json_response(_IDENTITY)

    async def _person(self, request: web.Request) -> web.Response:
        """Return an ordinary member of the workspace."""
        asked = {**request.query, **await request.post()}
        return web.json_response(
            {"ok": True, "user": {"id": asked.get("user", ""), "team_id": "T1"}}
        )

    async def _open(self, request: web.Request) -> web.Response:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        address = self.url.replace("http", "ws", 1).removesuffix("api/")
        return web.json_response({"ok": True, "url": f"{address}socket/{token}"})

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        token = request.match_info["token"]
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1, "debug_info": {}})
        self._sockets[token] = socket
        self._connected.setdefault(token, asyncio.Event()).set()
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                answered_at = perf_counter()
                waiting = self._waiting.pop(json.loads(message.data)["envelope_id"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answered_at)
        return socket


@asynccontextmanager
async def played_slack(port: int) -> AsyncIterator[PlayedSlack]:
    """Serve until the block ends."""
    slack = PlayedSlack()
    async with slack.served(port):
        yield slack


ANSWER_SECONDS = 0.08
"""The typical time of a call to Slack."""


@dataclass(frozen=True, slots=True)
class Said:
    """One call of an app: its method or path, all its arguments as text, and when it arrived."""

    method: str
    text: str
    at: float


class ReadingSlack(PlayedSlack):
    """Brings requests to apps, and notes their calls."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        super().__init__()
        self._session = session
        self._numbers_of_calls = itertools.count(1)
        self.said: list[Said] = []
        self._expected: list[tuple[Callable[[Said], bool], asyncio.Future[Said]]] = []

    def application(self) -> web.Application:
        """Return the web application to serve."""
        server = super().application()
        server.router.add_route("*", "/api/conversations.info", self._channel)
        server.router.add_route("*", "/api/{method}", self._call)
        server.router.add_post("/{method:respond/.*}", self._call)
        return server

    def expect(self, is_it: Callable[[Said], bool]) -> asyncio.Future[Said]:
        """Return a future of the next call for which this returns True."""
        call: asyncio.Future[Said] = asyncio.get_running_loop().create_future()
        self._expected.append((is_it, call))
        return call

    def response_url(self, number: int) -> str:
        """Return an address for private answers; calls of it have the method `respond/<number>`."""
        return f"{self.url.removesuffix('api/')}respond/{number}"

    async def bring(self, to: str | int, fields: Mapping[str, object], kind: str) -> float:
        """Send a request to the app with this token, or at this port; return when it was sent."""
        if isinstance(to, str):
            envelope = f"{to}-{next(self._numbers_of_calls)}"
            sent = {"envelope_id": envelope, "type": kind, "payload": fields}
            began = perf_counter()
            await self._sockets[to].send_json({**sent, "accepts_response_payload": True})
            return began
        body = urlencode(fields if kind == "slash_commands" else {"payload": json.dumps(fields)})
        timestamp = str(int(time.time()))
        signature = SignatureVerifier(SIGNING_SECRET).generate_signature(
            timestamp=timestamp, body=body
        )
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": str(signature),
        }
        began = perf_counter()
        address = f"http://127.0.0.1:{to}/slack/events"
        # At any status: Bolt's is 404 after a late acknowledgement, and its listener goes on.
        async with self._session.post(address, data=body, headers=headers):
            return began

    async def _channel(self, _request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "channel": {"id": "C1", "is_private": False}})

    async def _call(self, request: web.Request) -> web.Response:
        arguments = await _arguments(request)
        self._note(Said(request.match_info["method"], json.dumps(arguments), perf_counter()))
        await asyncio.sleep(ANSWER_SECONDS)
        ts = arguments.get("ts") or f"1700000000.{next(self._numbers_of_calls):06}"
        return web.json_response({"ok": True, "ts": ts, "channel": arguments.get("channel")})

    def _note(self, call: Said) -> None:
        self.said.append(call)
        for expectation in [expectation for expectation in self._expected if expectation[0](call)]:
            self._expected.remove(expectation)
            expectation[1].set_result(call)


async def _arguments(request: web.Request) -> dict[str, object]:
    if request.content_type == "application/json":
        arguments: dict[str, object] = await request.json()
        return arguments
    return {**request.query, **await request.post()}


@asynccontextmanager
async def reading_slack(port: int) -> AsyncIterator[ReadingSlack]:
    """Serve until the block ends."""
    async with aiohttp.ClientSession() as session:
        slack = ReadingSlack(session)
        async with slack.served(port):
            yield slack
