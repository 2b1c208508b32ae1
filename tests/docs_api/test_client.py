"""The client's calls, with a transport as the seam."""

from __future__ import annotations

import gzip
import json
from collections.abc import Awaitable, Callable
from datetime import date

import httpx
import pytest
from pydantic import SecretStr

import bot.docs_api
from bot.docs_api import (
    DocsClient,
    DocsClients,
    InvalidArgument,
    NotConfigured,
    RateLimited,
    Unavailable,
)
from tests.docs_api.builders import (
    JOB,
    KEY,
    PROMPT,
    READERS,
    FakeService,
    client_of,
    views_json,
    visitors_json,
)


def test_the_public_names_are_these() -> None:
    assert bot.docs_api.__all__ == sorted(bot.docs_api.__all__)
    public = {name for name in vars(bot.docs_api) if name[0].isupper()}
    assert public == set(bot.docs_api.__all__)


async def test_each_call_goes_where_the_interface_says() -> None:
    answers = [httpx.Response(201, json=JOB)] * 3 + [httpx.Response(200, json=visitors_json("/a"))]
    service = FakeService(
        *answers, httpx.Response(202, json={"statusId": "build-1"}), httpx.Response(200, json={})
    )
    async with client_of(service, base_url="https://docs.example.com/api/") as docs:
        assert (await docs.create_job("p", "Grüße 👋")).id == "job-1"
        await docs.get_job("p", "a/b ?#")
        await docs.send_follow_up("p", "j", "More")
        await docs.visitors("p", date_from=date(2026, 11, 1), date_to=date(2026, 11, 8), offset=500)
        assert (await docs.create_preview("p", "agent/quick start")).status_id == "build-1"
        await docs.get_build("p", "build/1")
    base, days = "https://docs.example.com/api", "dateFrom=2026-11-01&dateTo=2026-11-08"
    assert [
        (request.method, str(request.url).removeprefix(base)) for request in service.requests
    ] == [
        ("POST", "/v2/agent/p/job"),
        ("GET", "/v2/agent/p/job/a%2Fb%20%3F%23"),
        ("POST", "/v2/agent/p/job/j/message"),
        ("GET", f"/v1/analytics/p/visitors?{days}&limit=250&offset=500"),
        ("POST", "/v1/project/preview/p"),
        ("GET", "/v1/project/update-status/build%2F1"),
    ]
    assert [request.content for request in service.requests[1::2]] == [b"", b"", b""]
    assert json.loads(service.requests[0].content) == {"prompt": "Grüße 👋"}
    assert json.loads(service.requests[2].content) == {"prompt": "More"}
    assert json.loads(service.requests[4].content) == {"branch": "agent/quick start"}
    kinds = [request.headers.get("content-type") for request in service.requests]
    assert kinds == ["application/json", None] * 3
    assert {request.headers["authorization"] for request in service.requests} == {f"Bearer {KEY}"}


async def test_views_are_read_in_pages_as_visitors_are() -> None:
    service = FakeService(httpx.Response(200, json=views_json("/a", "/b", has_more=True)))
    async with client_of(service) as docs:
        page = await docs.views(
            "p/q", date_from=date(2026, 11, 1), date_to=date(2026, 11, 8), offset=250
        )
        with pytest.raises(Unavailable, match="more rows than the 1 asked for"):
            await docs.views("p/q", limit=1)
    assert page.totals.total == 70
    assert [(row.path, row.human, row.ai, row.total) for row in page.views] == [
        ("/a", 5, 2, 7),
        ("/b", 5, 2, 7),
    ]
    assert page.has_more
    days = "dateFrom=2026-11-01&dateTo=2026-11-08"
    assert str(service.requests[0].url).endswith(
        f"/v1/analytics/p%2Fq/views?{days}&limit=250&offset=250"
    )


async def test_rows_about_readers_are_one_page_of_a_hundred() -> None:
    service = FakeService(*(httpx.Response(200, json=dict(body)) for body in READERS.values()))
    first, last = date(2026, 11, 1), date(2026, 11, 8)
    async with client_of(service) as docs:
        assert (await docs.searches("p/q", date_from=first, date_to=last)).has_more
        assert not (await docs.feedback_by_page("p", limit=20)).has_more
        assert not (await docs.feedback("p", date_from=first)).has_more
        assert not (await docs.assistant("p", date_to=last)).has_more
    assert [
        str(request.url).removeprefix("https://docs.example.com") for request in service.requests
    ] == [
        "/v1/analytics/p%2Fq/searches?dateFrom=2026-11-01&dateTo=2026-11-08&limit=100",
        "/v1/analytics/p/feedback/by-page?limit=20",
        "/v1/analytics/p/feedback?dateFrom=2026-11-01&limit=100",
        "/v1/analytics/p/assistant?dateTo=2026-11-08&limit=100",
    ]


BAD_CALLS: list[Callable[[DocsClient], Awaitable[object]]] = [
    *(lambda docs, bad=bad: docs.create_job("acme", bad) for bad in ("", " ", "\n\t", "\u2003")),
    *(
        lambda docs, bad=bad: docs.get_job(bad, "j")
        for bad in ("", " ", ".", "..", "\ud800", "p" * 401)
    ),
    *(
        lambda docs, bad=bad: docs.get_job("acme", bad)
        for bad in ("", " ", ".", "..", "\ud800", "j" * 401)
    ),
    lambda docs: docs.send_follow_up("acme", "j", ""),
    lambda docs: docs.create_preview("acme", " "),
    lambda docs: docs.get_build("acme", ".."),
    lambda docs: docs.visitors("acme", limit=251),
    lambda docs: docs.visitors("acme", limit=0),
    lambda docs: docs.visitors("acme", offset=-1),
    lambda docs: docs.visitors("acme", date_from=date(2026, 1, 2), date_to=date(2026, 1, 2)),
    lambda docs: docs.views("acme", limit=251),
    lambda docs: docs.views("acme", offset=-1),
    lambda docs: docs.searches("acme", limit=101),
    lambda docs: docs.feedback_by_page("acme", limit=0),
    lambda docs: docs.feedback("acme", date_from=date(2026, 1, 2), date_to=date(2026, 1, 1)),
    lambda docs: docs.assistant("..", limit=1),
]


async def test_nothing_is_sent_when_an_argument_is_wrong() -> None:
    service = FakeService(httpx.Response(200, json=JOB))
    async with client_of(service) as docs:
        for call in BAD_CALLS:
            with pytest.raises(InvalidArgument):
                await call(docs)
    assert service.requests == []


@pytest.mark.parametrize(
    "host", [".example.com", "a..b", "a" * 70 + ".example.com", "[v1.x]", "xn--"]
)
def test_a_host_that_cannot_be_looked_up_is_refused_at_once(host: str) -> None:
    with pytest.raises(InvalidArgument):
        client_of(FakeService(), base_url=f"https://{host}")


@pytest.mark.parametrize(
    ("failure", "sent"),
    [
        (httpx.ConnectError("refused"), False),
        (httpx.ConnectTimeout("slow"), False),
        (httpx.PoolTimeout("busy"), False),
        (httpx.ReadTimeout("silent"), True),
        (httpx.WriteError("cut"), True),
        (httpx.ReadError("cut"), True),
        (httpx.RemoteProtocolError("garbage"), True),
        (OSError("odd"), True),
    ],
)
async def test_failed_create_is_not_repeated_and_may_have_arrived(
    failure: Exception, sent: bool
) -> None:
    service = FakeService(failure)
    async with client_of(service) as docs:
        with pytest.raises(Unavailable) as caught:
            await docs.create_job("acme", PROMPT)
    assert caught.value.sent is sent
    assert caught.value.status_code is None
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("status_code", "kind"),
    [(429, RateLimited), (500, Unavailable), (502, Unavailable), (503, Unavailable)],
)
async def test_no_status_code_makes_the_client_repeat_a_call(
    status_code: int, kind: type[RateLimited | Unavailable]
) -> None:
    service = FakeService(httpx.Response(status_code, headers={"retry-after": "7"}))
    async with client_of(service) as docs:
        with pytest.raises(kind) as caught:
            await docs.create_job("acme", PROMPT)
    assert isinstance(caught.value, RateLimited | Unavailable)
    assert caught.value.retry_after_seconds == 7
    assert len(service.requests) == 1


async def test_closed_client_sends_nothing() -> None:
    service = FakeService(httpx.Response(200, json=JOB))
    async with client_of(service) as docs:
        await docs.get_job("acme", "j")
    with pytest.raises(RuntimeError, match="closed"):
        await docs.get_job("acme", "j")
    assert len(service.requests) == 1


@pytest.mark.parametrize("compressed", [False, True])
async def test_response_over_the_limit_is_refused(compressed: bool) -> None:
    body = json.dumps(JOB).encode()

    async def respond(request: httpx.Request) -> httpx.Response:
        assert request.headers["accept-encoding"] == "gzip"
        headers = {"content-encoding": "gzip"} if compressed else {}
        sent = gzip.compress(body) if compressed else body
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(sent))

    async with client_of(httpx.MockTransport(respond), max_response_bytes=len(body)) as docs:
        assert (await docs.get_job("acme", "j")).id == "job-1"
    async with client_of(httpx.MockTransport(respond), max_response_bytes=len(body) - 1) as docs:
        with pytest.raises(Unavailable, match="more than") as caught:
            await docs.get_job("acme", "j")
    assert caught.value.sent


async def test_call_goes_to_the_address_of_its_project_with_its_key() -> None:
    services = {name: FakeService(httpx.Response(200, json=JOB)) for name in ("acme", "beta")}
    clients = {
        name: DocsClient(
            base_url=f"https://{name}.example",
            api_key=SecretStr(f"key-of-{name}"),
            transport=service,
        )
        for name, service in services.items()
    }
    async with DocsClients(clients) as docs:
        for name in services:
            await docs.create_job(name, "Add a page on keys")
        with pytest.raises(NotConfigured):
            await docs.get_job("gone", "job-1")
        with pytest.raises(NotConfigured):
            await docs.visitors("gone")
    for name, service in services.items():
        [request] = service.requests
        assert str(request.url) == f"https://{name}.example/v2/agent/{name}/job"
        assert request.headers["authorization"] == f"Bearer key-of-{name}"
    with pytest.raises(RuntimeError, match="closed"):
        await clients["beta"].get_job("beta", "job-1")
