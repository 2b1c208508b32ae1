"""The client against real sockets on this machine, with faults of a network."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.docs_api import DocsClient, InvalidArgument, Unavailable
from sandbox.doors import HOST, Door
from tests.docs_api.builders import JOB, KEY, PROMPT
from tests.limits import HANG_SECONDS
from tests.properties import share
from tests.servers import serving as connections

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """Run an aiohttp server for every path and yield its address."""
    server = web.Server(handler, access_log=None, handler_cancellation=True)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    await Door(runner, HOST, 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def answering_bytes(
    *pieces: bytes, pause_seconds: float = 0.0, hold: bool = False
) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Run a server that answers with these bytes; yield its address and the received heads."""
    heads: list[bytes] = []

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_seconds)
        if hold:
            await reader.read()

    async with connections(converse) as port:
        yield f"http://127.0.0.1:{port}", heads


def client(
    base_url: str,
    *,
    connect: float = HANG_SECONDS,
    read: float = HANG_SECONDS,
    limit: int = 5_000_000,
    proxy: str | None = None,
) -> DocsClient:
    """Return the real client with the timeouts of tests."""
    return DocsClient(
        base_url=base_url,
        api_key=SecretStr(KEY),
        connect_timeout_seconds=connect,
        read_timeout_seconds=read,
        max_response_bytes=limit,
        proxy=proxy,
    )


async def failure_of(base_url: str, **options: Any) -> Unavailable:
    """Return the error of a failed create."""
    async with client(base_url, **options) as docs:
        with pytest.raises(Unavailable) as caught:
            await docs.create_job("acme", PROMPT)
    return caught.value


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Return a bound port without a listener."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        yield server.getsockname()[1]


@settings(max_examples=share(4))
@given(ids=st.lists(st.text(min_size=1), min_size=1, max_size=10))
async def test_any_id_arrives_unchanged(ids: list[str]) -> None:
    arrived: list[list[str]] = []

    async def service(request: web.BaseRequest) -> web.Response:
        arrived.append([unquote(part) for part in request.raw_path.split("/")])
        return web.json_response(dict(JOB))

    expected: list[list[str]] = []
    odd = ["../../admin", "//evil.example.com/", "a?b#c", "%2e%2e", "\\", "x;y=z", "+ \r\n\x00"]
    async with serving(service) as base_url, client(base_url) as docs:
        for id_ in [*ids, *odd]:
            with contextlib.suppress(InvalidArgument):
                await docs.get_job(id_, id_)
                expected.append(["", "v2", "agent", id_, "job", id_])
    assert arrived == expected


async def test_call_on_a_refused_connection_is_not_sent(closed_port: int) -> None:
    error = await failure_of(f"http://127.0.0.1:{closed_port}")
    assert not error.sent
    assert "cannot be reached" in error.text


async def test_call_without_a_connection_is_not_sent() -> None:
    # The server accepts and stays silent during the TLS handshake: connecting would take for ever.
    async with answering_bytes(hold=True) as (base_url, _):
        error = await failure_of(base_url.replace("http:", "https:"), connect=0.2)
    assert not error.sent


async def test_call_to_a_server_without_tls_is_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answer = asyncio.get_running_loop().run_in_executor(None, _greet_in_plain_text, listener)
        error = await failure_of(f"https://127.0.0.1:{listener.getsockname()[1]}")
        await answer
    assert not error.sent


def _greet_in_plain_text(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


async def test_call_without_a_response_may_have_been_executed() -> None:
    async with answering_bytes(hold=True) as (base_url, heads):
        error = await failure_of(base_url, read=0.5)
    assert error.sent
    assert "in time" in error.text
    assert len(heads) == 1


async def test_call_cut_before_its_response_is_not_repeated() -> None:
    async with answering_bytes() as (base_url, heads):
        error = await failure_of(base_url)
    assert error.sent
    assert len(heads) == 1


async def test_create_on_a_broken_keep_alive_connection_is_not_repeated() -> None:
    methods: list[str] = []

    async def service(request: web.BaseRequest) -> web.Response:
        methods.append(request.method)
        if request.method == "POST" and request.transport is not None:
            request.transport.close()
        return web.json_response(dict(JOB))

    async with serving(service) as base_url, client(base_url) as docs:
        await docs.get_job("acme", "j")
        with pytest.raises(Unavailable) as caught:
            await docs.create_job("acme", PROMPT)
    assert caught.value.sent
    assert methods == ["GET", "POST"]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 500 Erreur \xe9\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 20_000 + b"\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n\r\n",
    ],
    ids=["half a body", "broken chunks", "odd reason", "endless header", "not http"],
)
async def test_call_with_a_broken_response_may_have_been_executed(answer: bytes) -> None:
    async with answering_bytes(answer) as (base_url, _):
        assert (await failure_of(base_url)).sent


async def test_slow_response_ends_at_its_deadline() -> None:
    drops = [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", *[b" "] * 1_000]
    began = time.monotonic()
    async with answering_bytes(*drops, pause_seconds=0.05) as (base_url, _):
        error = await failure_of(base_url, connect=1.0, read=0.3)
    assert error.sent
    assert time.monotonic() - began < 25, "all of it takes fifty seconds"


async def test_endless_body_is_cut_off_at_the_limit() -> None:
    written = 0

    async def service(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal written
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while written < 500_000_000:
                await response.write(b" " * 65_536)
                written += 65_536
        return response

    async with serving(service) as base_url:
        error = await failure_of(base_url, limit=100_000)
    assert "more than 100000 bytes" in error.text
    assert written < 100_000_000


async def test_redirect_is_not_followed() -> None:
    strangers: list[str] = []

    async def stranger(request: web.BaseRequest) -> web.Response:
        strangers.append(request.path)
        return web.json_response(dict(JOB))

    async with serving(stranger) as elsewhere:

        async def service(_: web.BaseRequest) -> web.Response:
            return web.Response(status=307, headers={"Location": elsewhere})

        async with serving(service) as base_url:
            error = await failure_of(base_url)
    assert "redirects" in error.text
    assert strangers == []


async def test_only_the_configured_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps(JOB).encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    async with (
        answering_bytes(answer) as (base_url, heads),
        answering_bytes(answer) as (proxy, through_proxy),
    ):
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        async with client(base_url) as docs:
            await docs.get_job("acme", "j")
        assert (len(heads), len(through_proxy)) == (1, 0)
        async with client(base_url, proxy=proxy.replace("//", "//user:word@")) as docs:
            await docs.get_job("acme", "j")
        assert (len(heads), len(through_proxy)) == (1, 1)
    assert through_proxy[0].startswith(f"GET {base_url}/v2/agent/acme/job/j ".encode())
    assert b"proxy-authorization: basic dxnlcjp3b3jk" in through_proxy[0].lower()


async def test_proxy_gets_its_password_and_never_the_key() -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with answering_bytes(refusal) as (address, heads):
        proxy = address.replace("//", "//user:word@")
        async with client("https://docs.invalid", proxy=proxy) as docs:
            with pytest.raises(Unavailable) as caught:
                await docs.create_job("acme", PROMPT)
    assert not caught.value.sent
    [head] = heads
    assert head.startswith(b"CONNECT docs.invalid:443 ")
    assert b"proxy-authorization: basic dxnlcjp3b3jk" in head.lower()
    assert KEY.encode() not in head


@pytest.mark.parametrize("bad", ["socks9://user:hunter2@host", "http://[::1"])
def test_invalid_proxy_is_refused_without_its_password(bad: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        client("http://127.0.0.1", proxy=bad)
    assert "hunter2" not in str(caught.value)


async def test_client_is_usable_after_a_cancelled_call() -> None:
    asked = asyncio.Event()

    async def service(request: web.BaseRequest) -> web.Response:
        if request.method == "POST":
            asked.set()
            await asyncio.Event().wait()
        return web.json_response(dict(JOB))

    async with serving(service) as base_url, client(base_url) as docs:
        call = asyncio.ensure_future(docs.create_job("acme", PROMPT))
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await docs.get_job("acme", "j")).id == "job-1"


async def test_job_is_created_while_many_reads_are_slow() -> None:
    all_asked, may_answer, asked = asyncio.Event(), asyncio.Event(), list[str]()

    async def service(request: web.BaseRequest) -> web.Response:
        if request.method == "GET":
            asked.append(request.path)
            if len(asked) == 150:
                all_asked.set()
            await may_answer.wait()
        return web.json_response(dict(JOB))

    async with serving(service) as base_url, client(base_url) as docs:
        reads = [asyncio.create_task(docs.get_job("acme", f"j{number}")) for number in range(150)]
        async with asyncio.timeout(HANG_SECONDS):
            await all_asked.wait()
        assert (await docs.create_job("acme", PROMPT)).id == "job-1"
        may_answer.set()
        await asyncio.gather(*reads)
