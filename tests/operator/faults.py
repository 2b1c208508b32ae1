"""Small servers with faults: a web page, silence, a proxy, TLS, a PostgreSQL."""

from __future__ import annotations

import asyncio
import sqlite3
import ssl
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from tests.command_line import make_tables
from tests.servers import Handle

CERTIFICATE = Path(__file__).parents[1] / "data" / "localhost.pem"
_SSL_REQUEST = (80877103).to_bytes(4, "big")


def sending(response: bytes) -> Handle:
    """Return a server that sends this response to every request."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65_536)
        writer.write(response)
        await writer.drain()

    return handle


async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Read without an answer until the other side leaves."""
    await reader.read()


HALF = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"


async def stalling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send the first half of an answer and wait until the other side leaves."""
    await sending(HALF)(reader, writer)
    await reader.read()


def http(status: str, body: str, content_type: str = "text/html", **headers: str) -> Handle:
    """Return a server that sends this page."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return sending("\r\n".join([*lines, "Connection: close", "", body]).encode())


def tunnel(ports: Mapping[str, int]) -> Handle:
    """Return a proxy that opens tunnels to these hosts only, each to a port of this machine.

    https://www.rfc-editor.org/rfc/rfc9110#CONNECT
    """

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.decode().split(" ", 2)
        host, _, port = target.partition(":")
        assert (method, port) == ("CONNECT", "443"), head
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", ports[host])
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))

    return handle


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


def postgres_refusing(code: str, message: str) -> Handle:
    """Return a PostgreSQL without TLS that refuses every start with this error.

    https://www.postgresql.org/docs/current/protocol-message-formats.html
    """

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            length = int.from_bytes(await reader.readexactly(4), "big")
            if await reader.readexactly(length - 4) != _SSL_REQUEST:
                break
            writer.write(b"N")
        fields = f"SFATAL\0C{code}\0M{message}\0".encode()
        writer.write(b"E" + (len(fields) + 5).to_bytes(4, "big") + fields + b"\0")
        await writer.drain()

    return handle


def tls() -> ssl.SSLContext:
    """Return a server's TLS with a self-signed certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def bad(finding: Any) -> str:
    """Return the text and the advice of a bad finding."""
    assert not finding.ok
    assert finding.advice
    return f"{finding.seen} | {finding.advice}"


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


_ADD_SUBSCRIPTION = """
INSERT INTO subscriptions (key, channel, project, weekday, time_of_day, zone, owner, state, created_at)
VALUES (?, ?, 'acme-docs', 0, '09:00', 'UTC', 'U1', 'active', '2026-11-02 09:00:00.000000')
"""


async def database_with_subscriptions(folder: Path, *channels: str) -> str:
    """Make a SQLite file with a subscription in each channel, and return its URL."""
    url = f"sqlite:///{folder}/bot.db"
    await asyncio.to_thread(make_tables, url)
    with closing(sqlite3.connect(folder / "bot.db")) as database, database:
        database.executemany(_ADD_SUBSCRIPTION, zip(channels, channels, strict=True))
    return url


def stamp_otherwise(file: Path) -> None:
    """Mark a SQLite file as if a version of the bot that was never released had made it."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE revision SET version_num = '0001_other'")
