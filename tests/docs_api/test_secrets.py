"""The key goes only to the service; key and prompt are in no repr, log, error or trace."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from bot.docs_api import DocsApiError, InvalidArgument
from tests.docs_api.builders import JOB, KEY, PROMPT, FakeService, client_of
from tests.docs_api.test_over_http import answering_bytes, client, serving

ECHO = f"Key Bearer {KEY} may not ask: {PROMPT}"


def details_of(error: BaseException) -> str:
    """Return every text of an error that people or a log could see."""
    attributes = [repr(value) for value in vars(error).values()]
    return "\n".join([str(error), repr(error), *attributes, *traceback.format_exception(error)])


def assert_secret(output: str) -> None:
    """Assert that a text has no recognizable part of the key or the prompt."""
    assert KEY[:8] not in output
    assert "Nightingale" not in output


@pytest.mark.parametrize("status_code", [200, 302, 400, 401, 403, 404, 418, 429, 500])
async def test_echo_of_the_service_reveals_no_secret(status_code: int) -> None:
    answers = [
        httpx.Response(
            status_code, json={"error": ECHO}, headers={"retry-after": ECHO, "location": ECHO}
        ),
        httpx.Response(status_code, text=f"<p>{ECHO}</p>"),
        httpx.Response(status_code, json=[ECHO]),
    ]
    async with client_of(FakeService(*answers)) as docs:
        for _ in answers:
            with pytest.raises(DocsApiError) as caught:
                await docs.create_job("acme", PROMPT)
            assert_secret(details_of(caught.value))


async def test_error_has_no_branch() -> None:
    branch = "agent/nightingale-7"
    answer = httpx.Response(404, json={"error": f"No branch {branch} here"})
    async with client_of(FakeService(answer)) as docs:
        with pytest.raises(DocsApiError) as caught:
            await docs.create_preview("acme", branch)
    assert "nightingale" not in details_of(caught.value)


@pytest.mark.parametrize(
    "kind", [httpx.ConnectError, httpx.ReadError, httpx.ReadTimeout, OSError, UnicodeError]
)
async def test_network_failure_with_the_request_reveals_no_secret(kind: type[Exception]) -> None:
    async with client_of(FakeService(kind(ECHO))) as docs:
        with pytest.raises(DocsApiError) as caught:
            await docs.create_job("acme", PROMPT)
    assert_secret(details_of(caught.value))


async def test_refused_arguments_are_not_quoted() -> None:
    async with client_of(FakeService(httpx.Response(200, json=JOB))) as docs:
        with pytest.raises(InvalidArgument) as caught:
            await docs.create_job("acme", PROMPT + "\ud800")
        assert_secret(details_of(caught.value))
        assert_secret(repr(docs) + str(docs) + repr(vars(docs)))


@pytest.fixture
async def debugged_loop() -> AsyncIterator[None]:
    """Turn on debug logs of the loop that all tests share."""
    loop = asyncio.get_running_loop()
    loop.set_debug(True)
    yield
    loop.set_debug(False)


@pytest.mark.usefixtures("debugged_loop")
async def test_debug_logs_have_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore", "aiohttp", "aiohttp.client", "asyncio"):
        caplog.set_level(logging.DEBUG, logger=name)

    async def service(request: web.BaseRequest) -> web.Response:
        if request.method == "POST":
            return web.json_response({"error": ECHO}, status=400, reason="Bad Request")
        return web.json_response(dict(JOB))

    async with serving(service) as base_url, client(base_url) as docs:
        await docs.get_job("acme", "job-1")
        with pytest.raises(DocsApiError):
            await docs.create_job("acme", PROMPT)
    broken = f"HTTP/1.1 400 {ECHO}\r\nX: {ECHO}\r\nbroken".encode()
    async with answering_bytes(broken) as (base_url, _), client(base_url) as docs:
        with pytest.raises(DocsApiError) as caught:
            await docs.create_job("acme", PROMPT)
    assert_secret(details_of(caught.value))
    assert caplog.records
    assert_secret(caplog.text)


@given(project=st.text(min_size=1), job=st.text(min_size=1))
async def test_key_goes_to_the_configured_address_for_any_id(project: str, job: str) -> None:
    service = FakeService(
        httpx.Response(307, headers={"location": "https://elsewhere.example.com/"})
    )
    async with client_of(service, base_url="https://docs.example.com:8443/api") as docs:
        for call in (
            docs.get_job(project, job),
            docs.create_job(project, PROMPT),
            docs.visitors(project),
        ):
            with pytest.raises(DocsApiError):
                await call
    for request in service.requests:
        assert urlsplit(str(request.url)).netloc == "docs.example.com:8443"
        assert KEY not in str(request.url)
        assert KEY.encode() not in request.content
        carrying = [name for name, value in request.headers.items() if KEY in value]
        assert carrying == ["authorization"]
