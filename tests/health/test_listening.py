"""Listening for HTTP: time limits of connections, and the limit of open files."""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
from aiohttp import web

from bot.health.listening import allow_open_files, listening
from bot.logs import configure
from tests.limits import HANG_SECONDS

REQUEST = b"GET /now HTTP/1.1\r\nHost: bot\r\n\r\n"


class Line:
    """A client's connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, request: bytes = REQUEST) -> bytes:
        """Send a request and return the response's first line; empty when the connection is closed."""
        self.writer.write(request)
        async with asyncio.timeout(HANG_SECONDS):
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                return b""
            length = next(
                (line for line in head.split(b"\r\n") if line.startswith(b"Content-Length")), b":0"
            )
            await self.reader.readexactly(int(length.partition(b":")[2]))
        return head.partition(b"\r\n")[0]

    async def ends(self) -> bool:
        """Wait until the other side closes the connection."""
        async with asyncio.timeout(HANG_SECONDS):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True


Opener = Callable[..., "asyncio.Future[Callable[[], asyncio.Future[Line]]]"]


@pytest.fixture
async def open_site() -> AsyncIterator[Callable[..., object]]:
    """Start a small application, and return a function that connects to it."""
    async with AsyncExitStack() as stack:

        async def now(_request: web.Request) -> web.Response:
            return web.Response(text="ok")

        async def opened(head_seconds: float = HANG_SECONDS, idle: float = 60.0) -> object:
            application = web.Application()
            application.router.add_get("/now", now)
            site = listening(
                application, "127.0.0.1", 0, idle_seconds=idle, head_seconds=head_seconds
            )
            port = await stack.enter_async_context(site)

            async def line() -> Line:
                line = Line(*await asyncio.open_connection("127.0.0.1", port))
                stack.callback(line.writer.close)
                return line

            return line

        yield opened


@pytest.mark.parametrize("sent", [b"", b"GET /now HTTP/1.1\r\nHost: bot\r\n"])
async def test_connection_without_head_is_closed(open_site: Opener, sent: bytes) -> None:
    line = await (await open_site(head_seconds=0.1))()
    line.writer.write(sent)
    assert await line.ends()


async def test_idle_connection_is_closed(open_site: Opener) -> None:
    line = await (await open_site(idle=0.05))()
    assert await line.ask()
    assert await line.ends()


@pytest.mark.parametrize(
    "sent",
    [
        b"this is not HTTP\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /now HTTP/1.1\r\nHo st: bot\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
async def test_bytes_other_than_http_are_refused_and_logged_once(
    open_site: Opener, sent: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("INFO")
    connect = await open_site()
    for _ in range(3):
        assert (await (await connect()).ask(sent)).startswith(b"HTTP/1.0 400")
    assert [json.loads(line)["kind"] for line in capsys.readouterr().err.splitlines()] == [
        "not HTTP"
    ]


async def test_used_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(OSError, match=f"127.0.0.1, port {port}") as error:
            async with listening(web.Application(), "127.0.0.1", port, idle_seconds=5.0):
                pass
    assert "\n" not in str(error.value)


def test_limit_of_open_files_is_raised() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        allow_open_files()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] in (hard, 10_240)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("steps", range(5))
async def test_connection_during_stop_is_no_error(steps: int) -> None:
    loop, errors = asyncio.get_running_loop(), list[object]()
    loop.set_exception_handler(lambda _, context: errors.append(context["message"]))
    async with listening(web.Application(), "127.0.0.1", 0, idle_seconds=5.0) as port:
        await asyncio.sleep(0)
        client = socket.create_connection(("127.0.0.1", port))
        for _ in range(
            steps
        ):  # the loop reports the connection, accepts it and passes it to the server
            await asyncio.sleep(0)
    client.close()
    loop.set_exception_handler(None)
    assert errors == []
    gc.collect()  # warns of an open connection
