"""How many connections are open, for how long, and which of them makes room for a new one."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from bot.ops.connections import Connections, most_connections
from tests.limits import HANG_SECONDS

REQUEST = b"GET /now HTTP/1.1\r\nHost: bot\r\n\r\n"
SLOW = b"GET /slow HTTP/1.1\r\nHost: bot\r\n\r\n"


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
            length = next((line for line in head.split(b"\r\n") if line.startswith(b"Content-Length")), b":0")
            await self.reader.readexactly(int(length.partition(b":")[2]))
        return head.partition(b"\r\n")[0]

    async def ends(self) -> bool:
        """Wait until the other side closes the connection."""
        async with asyncio.timeout(HANG_SECONDS):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True


class Site:
    """A small application behind ``Connections``."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        self.go_on = asyncio.Event()
        self.begun: asyncio.Queue[None] = asyncio.Queue()
        self.port = 0
        self._lines = AsyncExitStack()

    def application(self) -> web.Application:
        """Return an application that answers at once, or when it is told to."""
        application = web.Application()
        application.router.add_get("/now", self._now)
        application.router.add_get("/slow", self._slow)
        return application

    async def _now(self, _request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _slow(self, request: web.Request) -> web.Response:
        with self.connections.keep(request):
            self.begun.put_nowait(None)
            await self.go_on.wait()
        return web.Response(text="ok")

    async def line(self) -> Line:
        """Open a connection."""
        line = Line(*await asyncio.open_connection("127.0.0.1", self.port))
        self._lines.callback(line.writer.close)
        return line

    async def close(self) -> None:
        """Close the clients' connections."""
        await self._lines.aclose()


Opener = Callable[..., "asyncio.Future[Site]"]


@pytest.fixture
async def open_site() -> AsyncIterator[Callable[..., object]]:
    async with AsyncExitStack() as stack:

        async def opened(most: int = 10, head_seconds: float = HANG_SECONDS, idle: float = 60.0) -> Site:
            site = Site(Connections(most, head_seconds))
            listening = site.connections.listening(site.application(), "127.0.0.1", 0, idle_seconds=idle)
            site.port = await stack.enter_async_context(listening)
            stack.push_async_callback(site.close)
            return site

        yield opened


async def test_a_connection_serves_several_requests(open_site: Opener) -> None:
    line = await (await open_site()).line()
    assert [await line.ask() for _ in range(3)] == [b"HTTP/1.1 200 OK"] * 3


@pytest.mark.parametrize("sent", [b"", b"GET /now HTTP/1.1\r\nHost: bot\r\n"])
async def test_a_head_that_does_not_come_is_not_waited_for(open_site: Opener, sent: bytes) -> None:
    line = await (await open_site(head_seconds=0.1)).line()
    line.writer.write(sent)
    assert await line.ends()


async def test_a_connection_that_has_asked_is_kept_for_its_own_time(open_site: Opener) -> None:
    line = await (await open_site(head_seconds=0.05, idle=HANG_SECONDS)).line()
    assert await line.ask()
    await asyncio.sleep(0.2)
    assert await line.ask() == b"HTTP/1.1 200 OK"


async def test_a_connection_is_not_kept_for_ever(open_site: Opener) -> None:
    line = await (await open_site(idle=0.05)).line()
    assert await line.ask()
    assert await line.ends()


async def test_the_one_that_has_waited_longest_makes_room(open_site: Opener) -> None:
    site = await open_site(most=3)
    lines = [await site.line() for _ in range(4)]
    assert await lines[0].ends()
    assert [await line.ask() for line in lines[1:]] == [b"HTTP/1.1 200 OK"] * 3


async def test_genuine_requests_are_not_closed_for_others(open_site: Opener) -> None:
    site = await open_site(most=2)
    asked = [asyncio.create_task((await site.line()).ask(SLOW)) for _ in range(2)]
    for _ in asked:
        await site.begun.get()
    assert await (await site.line()).ends()
    site.go_on.set()
    assert await asyncio.gather(*asked) == [b"HTTP/1.1 200 OK"] * 2
    assert await (await site.line()).ask() == b"HTTP/1.1 200 OK", "there is room again"


async def test_whoever_is_refused_keeps_no_place(open_site: Opener) -> None:
    line = await (await open_site()).line()
    assert (await line.ask(b"GET /nothing HTTP/1.1\r\nHost: bot\r\n\r\n")).startswith(b"HTTP/1.1 404")
    assert await line.ends()


@pytest.mark.parametrize(
    "sent",
    [
        b"this is not HTTP\r\n\r\n",
        b"GET /now HTTP/1.1\r\nHost: bot\r\n" + b"X: y\r\n" * 100 + b"\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /now HTTP/1.1\r\nHo st: bot\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
async def test_what_is_not_http_is_refused_with_one_line_in_the_log(open_site: Opener, sent: bytes) -> None:
    site = await open_site()
    with capture_logs() as logs:
        for _ in range(3):
            assert (await (await site.line()).ask(sent)).startswith(b"HTTP/1.0 400")
    assert [line["kind"] for line in logs] == ["not HTTP"]


async def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"127.0.0.1, port {port}") as error:
            async with Connections(10).listening(web.Application(), "127.0.0.1", port, idle_seconds=5.0):
                pass
    assert "\n" not in str(error.value)


def test_files_are_left_for_the_database_and_for_slack() -> None:
    assert most_connections(20) == 20
    assert most_connections(500, open_files=1_024) == 500
    assert most_connections(5_000, open_files=1_024) == 724
    assert most_connections(500, open_files=256) == 128


async def test_a_connection_that_arrives_at_the_moment_of_the_stop_is_no_error() -> None:
    loop, errors = asyncio.get_running_loop(), list[object]()
    loop.set_exception_handler(lambda _, context: errors.append(context["message"]))
    async with Connections(10).listening(web.Application(), "127.0.0.1", 0, idle_seconds=5.0) as port:
        await asyncio.sleep(0)
        client = socket.create_connection(("127.0.0.1", port))
        # The loop sees the connection in this step, and goes on here before it accepts it.
        await asyncio.sleep(0)
    client.close()
    assert errors == []
