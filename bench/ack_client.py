"""Sends slash commands over HTTP: signed requests over kept-alive connections, each one timed.

It uses plain streams, because the client's own processing is part of the measured time.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import time
from time import perf_counter
from urllib.parse import urlencode

from bench.ack_slack import LIMIT_SECONDS, command_fields

_UNANSWERED = (b"HTTP/1.1 404", b"HTTP/1.1 500")
"""Bolt's responses after three seconds without an acknowledgement, and after a listener has failed."""


class Typist:
    """Sends commands to one app."""

    def __init__(self, port: int, secret: str) -> None:
        self._port = port
        self._secret = secret.encode()
        self._numbers = itertools.count(1)

    async def type(self, count: int, at_once: int) -> list[float]:
        """Send ``count`` commands over ``at_once`` connections; return the seconds that each one took.

        An unacknowledged command counts with Slack's limit of three seconds or more.
        """
        each = [count // at_once] * at_once
        taken = await asyncio.gather(*(self._connection(commands) for commands in each))
        return [seconds for one in taken for seconds in one]

    async def _connection(self, count: int) -> list[float]:
        requests = [self._request(next(self._numbers)) for _ in range(count)]
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            return [await _exchange(reader, writer, request) for request in requests]
        finally:
            writer.close()
            await writer.wait_closed()

    def _request(self, number: int) -> bytes:
        body = urlencode(command_fields(number)).encode()
        timestamp = str(int(time.time()))
        signed = hmac.new(self._secret, b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256)
        lines = (
            "POST /slack/events HTTP/1.1",
            "Host: 127.0.0.1",
            "User-Agent: Slackbot 1.0 (+https://api.slack.com/robots)",
            "Accept: application/json,*/*",
            "Content-Type: application/x-www-form-urlencoded",
            f"Content-Length: {len(body)}",
            f"X-Slack-Request-Timestamp: {timestamp}",
            f"X-Slack-Signature: v0={signed.hexdigest()}",
        )
        return "\r\n".join((*lines, "", "")).encode() + body


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> float:
    began = perf_counter()
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
    )
    body = await reader.readexactly(length) if length else b""
    seconds = perf_counter() - began
    if head.startswith(_UNANSWERED):
        return max(seconds, LIMIT_SECONDS)
    if not head.startswith(b"HTTP/1.1 200") or body:
        raise RuntimeError(f"not a plain acknowledgement: {head[:30]!r} {body[:200]!r}")
    return seconds
