"""A minimal Slack that brings requests to apps and notes what they say, as slow as the real one."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from urllib.parse import urlencode

import aiohttp
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from bench.ack_slack import PlayedSlack
from bench.bot_process import SIGNING_SECRET

ANSWER_SECONDS = 0.08
"""The typical time of a call to Slack."""


@dataclass(frozen=True, slots=True)
class Said:
    """One call of an app: its method or path, all its arguments as text, and when it arrived."""

    method: str
    text: str
    at: float


class ReadingSlack(PlayedSlack):
    """Brings requests to apps, and notes what they say."""

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
        found: asyncio.Future[Said] = asyncio.get_running_loop().create_future()
        self._expected.append((is_it, found))
        return found

    def response_url(self, number: int) -> str:
        """Return an address for what one person sees; calls of it have the method `respond/<number>`."""
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
        signature = SignatureVerifier(SIGNING_SECRET).generate_signature(timestamp=timestamp, body=body)
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": str(signature),
        }
        began = perf_counter()
        address = f"http://127.0.0.1:{to}/slack/events"
        # Whatever the status: Bolt's is 404 after a late acknowledgement, and its listener goes on.
        async with self._session.post(address, data=body, headers=headers):
            return began

    async def _channel(self, _request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "channel": {"id": "C1", "is_private": False}})

    async def _call(self, request: web.Request) -> web.Response:
        about = await _arguments(request)
        self._note(Said(request.match_info["method"], json.dumps(about), perf_counter()))
        await asyncio.sleep(ANSWER_SECONDS)
        ts = about.get("ts") or f"1700000000.{next(self._numbers_of_calls):06}"
        return web.json_response({"ok": True, "ts": ts, "channel": about.get("channel")})

    def _note(self, said: Said) -> None:
        self.said.append(said)
        for each in [each for each in self._expected if each[0](said)]:
            self._expected.remove(each)
            each[1].set_result(said)


async def _arguments(request: web.Request) -> dict[str, object]:
    if request.content_type == "application/json":
        found: dict[str, object] = await request.json()
        return found
    return {**request.query, **await request.post()}


@asynccontextmanager
async def reading_slack(port: int) -> AsyncIterator[ReadingSlack]:
    """Serve until the block ends."""
    async with aiohttp.ClientSession() as session:
        slack = ReadingSlack(session)
        async with slack.served(port):
            yield slack
