"""The sides of benchmark `command`: processes that receive slash commands over HTTP or through a socket."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from urllib.parse import urlencode

from bench.processes import (
    BOT_TOKEN,
    DOCS_BOT_RUN,
    NO_DOCS,
    READY,
    SIGNING_SECRET,
    Child,
    child,
    environment,
    running_bot,
)
from bench.slack import LIMIT_SECONDS, BenchWorkspace, command_fields, event_body, workspace
from sandbox.ports import free_port

_UNANSWERED = (b"HTTP/1.1 404", b"HTTP/1.1 500")
"""Bolt's responses after three seconds without an acknowledgement, and after a listener has failed."""


class Typist:
    """Sends commands, or messages with a text, to one app."""

    def __init__(self, port: int, secret: str, text: str | None = None) -> None:
        self._port = port
        self._secret = secret.encode()
        self._text = text
        self._numbers = itertools.count(1)

    async def type(self, count: int, at_once: int) -> list[float]:
        """Send ``count`` commands over ``at_once`` connections; return the seconds that each one took.

        An unacknowledged command counts with Slack's limit of three seconds or more.
        """
        counts = [count // at_once] * at_once
        times = await asyncio.gather(*(self._connection(commands) for commands in counts))
        return [seconds for one in times for seconds in one]

    async def _connection(self, count: int) -> list[float]:
        requests = [self._request(next(self._numbers)) for _ in range(count)]
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            return [await _exchange(reader, writer, request) for request in requests]
        finally:
            writer.close()
            await writer.wait_closed()

    def _request(self, number: int) -> bytes:
        kind = "application/x-www-form-urlencoded"
        body = urlencode(command_fields(number)).encode()
        if self._text is not None:
            kind = "application/json"
            body = json.dumps(event_body(number, self._text)).encode()
        timestamp = str(int(time.time()))
        signed = hmac.new(self._secret, b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256)
        lines = (
            "POST /slack/events HTTP/1.1",
            "Host: 127.0.0.1",
            "User-Agent: Slackbot 1.0 (+https://api.slack.com/robots)",
            "Accept: application/json,*/*",
            f"Content-Type: {kind}",
            f"Content-Length: {len(body)}",
            f"X-Slack-Request-Timestamp: {timestamp}",
            f"X-Slack-Signature: v0={signed.hexdigest()}",
        )
        return "\r\n".join((*lines, "", "")).encode() + body


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> float:
    began = perf_counter()
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (
            int(line[15:])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ),
        0,
    )
    body = await reader.readexactly(length) if length else b""
    seconds = perf_counter() - began
    if head.startswith(_UNANSWERED):
        return max(seconds, LIMIT_SECONDS)
    if not head.startswith(b"HTTP/1.1 200") or body:
        raise RuntimeError(f"not a plain acknowledgement: {head[:30]!r} {body[:200]!r}")
    return seconds


Burst = Callable[[int, int], Awaitable[list[float]]]
"""Sends a number of commands, some at once; returns the seconds that each one took."""


class Way(StrEnum):
    """How commands reach an app."""

    HTTP = "http"
    SOCKET = "socket"


NAMES = {Way.HTTP: "over HTTP", Way.SOCKET: "through Socket Mode"}


@dataclass(frozen=True, slots=True)
class Side:
    """A running app, its port, its workspace, and how to send it commands."""

    process: Child
    port: int
    slack: BenchWorkspace
    burst: Burst


@asynccontextmanager
async def bot_side(
    way: Way,
    folder: Path,
    *,
    docs_url: str = NO_DOCS,
    program: Sequence[str] = DOCS_BOT_RUN,
) -> AsyncIterator[Side]:
    """Run the bot, or another program with its settings, on SQLite on disk."""
    name = f"bot-{way}"
    async with workspace(folder / f"{name}-slack") as slack:
        env = environment(
            slack.url,
            f"sqlite:///{folder}/{name}.db",
            docs_url=docs_url,
            app_token=slack.token if way is Way.SOCKET else "",
        )
        async with running_bot(env, program=program, log=folder / f"{name}.log") as (bot, port, _):
            yield Side(bot, port, slack, await _burst(way, slack, port))


@asynccontextmanager
async def bolt_side(module: str, way: Way, folder: Path) -> AsyncIterator[Side]:
    """Run one of the benchmarks' Bolt apps until the block ends."""
    port = free_port()
    name = f"{module}-{way}"
    async with workspace(folder / f"{name}-slack") as slack:
        env = {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": slack.url,
            "SLACK_APP_TOKEN": slack.token,
            "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/{name}.db",
        }
        async with child("-m", module, way, str(port), env=env, log=folder / f"{name}.log") as app:
            if await app.hear() != READY:
                raise RuntimeError(f"{module} did not start")
            yield Side(app, port, slack, await _burst(way, slack, port))


async def _burst(way: Way, slack: BenchWorkspace, port: int) -> Burst:
    if way is Way.HTTP:
        return Typist(port, SIGNING_SECRET).type
    await slack.connected()

    async def one(commands: int) -> list[float]:
        return [await slack.command() for _ in range(commands)]

    async def burst(count: int, at_once: int) -> list[float]:
        times = await asyncio.gather(*(one(count // at_once) for _ in range(at_once)))
        return [seconds for times_of_one in times for seconds in times_of_one]

    return burst
