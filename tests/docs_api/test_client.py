"""The client's calls, with a transport as the seam."""

from __future__ import annotations

import gzip
import json
from datetime import date

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot.docs_api
from bot.docs_api import InvalidArgument, RateLimited, Unavailable
from tests.docs_api.builders import JOB, KEY, PROMPT, FakeService, client_of, visitors_json


def test_the_public_names_are_these() -> None:
    assert bot.docs_api.__all__ == sorted(bot.docs_api.__all__)
    public = {name for name in vars(bot.docs_api) if name[0].isupper()}
    assert public == set(bot.docs_api.__all__)


async def test_a_created_job_comes_back() -> None:
    service = FakeService(httpx.Response(201, json=JOB))
    async with client_of(service, base_url="https://docs.example.com/prefix/") as docs:
        job = await docs.create_job("acme", "Grüße 👋")
    [request] = service.requests
    assert job.id == "job-1"
    assert str(request.url) == "https://docs.example.com/prefix/v2/agent/acme/job"
    assert service.last_json == {"prompt": "Grüße 👋"}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"


async def test_a_job_is_looked_at_by_its_id() -> None:
    service = FakeService(httpx.Response(200, json=JOB))
    async with client_of(service) as docs:
        await docs.get_job("acme", "a/b ?#")
    [request] = service.requests
    assert (request.method, request.content) == ("GET", b"")
    assert request.url.raw_path == b"/v2/agent/acme/job/a%2Fb%20%3F%23"
    assert "content-type" not in request.headers


async def test_a_follow_up_goes_to_the_jobs_messages() -> None:
    service = FakeService(httpx.Response(200, json=JOB))
    async with client_of(service) as docs:
        await docs.send_follow_up("acme", "job-1", "Shorter")
    assert service.requests[-1].url.path == "/v2/agent/acme/job/job-1/message"
    assert service.last_json == {"prompt": "Shorter"}


async def test_nothing_is_sent_when_an_argument_is_wrong() -> None:
    service = FakeService(httpx.Response(200, json=JOB))
    async with client_of(service) as docs:
        for call in (
            docs.create_job("acme", " "),
            docs.get_job("..", "j"),
            docs.send_follow_up("acme", "j", ""),
            docs.visitors("acme", limit=251),
            docs.visitors("acme", date_from=date(2026, 1, 2), date_to=date(2026, 1, 2)),
            docs.get_job("acme", "j" * 100_000),
        ):
            with pytest.raises(InvalidArgument):
                await call
        with pytest.raises(ValueError, match="limit must be from 1 to 250"):
            docs.all_visitors("acme", page_size=0)
    assert service.requests == []


@pytest.mark.parametrize("host", [".example.com", "a..b", "a" * 70 + ".example.com", "[v1.x]", "xn--"])
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
async def test_a_create_is_sent_once_and_tells_whether_it_may_have_arrived(
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
    ("status_code", "kind"), [(429, RateLimited), (500, Unavailable), (502, Unavailable), (503, Unavailable)]
)
async def test_no_answer_makes_the_client_ask_again(
    status_code: int, kind: type[RateLimited | Unavailable]
) -> None:
    service = FakeService(httpx.Response(status_code, headers={"retry-after": "7"}))
    async with client_of(service) as docs:
        with pytest.raises(kind) as caught:
            await docs.create_job("acme", PROMPT)
    assert isinstance(caught.value, RateLimited | Unavailable)
    assert caught.value.retry_after_seconds == 7
    assert len(service.requests) == 1


async def test_cookies_are_not_kept() -> None:
    service = FakeService(httpx.Response(200, json=JOB, headers={"set-cookie": "track=me; Path=/"}))
    async with client_of(service) as docs:
        await docs.get_job("acme", "j")
        await docs.get_job("acme", "j")
    assert "cookie" not in service.requests[1].headers


async def test_a_redirect_is_refused_and_the_key_sent_nowhere_else() -> None:
    service = FakeService(httpx.Response(302, headers={"location": "https://elsewhere.example.com/"}))
    async with client_of(service) as docs:
        with pytest.raises(Unavailable, match="redirects"):
            await docs.get_job("acme", "j")
    [request] = service.requests
    assert str(request.url) == "https://docs.example.com/v2/agent/acme/job/j"


async def test_a_closed_client_sends_nothing() -> None:
    service = FakeService(httpx.Response(200, json=JOB))
    async with client_of(service) as docs:
        await docs.get_job("acme", "j")
    with pytest.raises(RuntimeError, match="closed"):
        await docs.get_job("acme", "j")
    assert len(service.requests) == 1


async def test_a_compressed_answer_is_read() -> None:
    service = FakeService()

    async def respond(request: httpx.Request) -> httpx.Response:
        service.requests.append(request)
        body = gzip.compress(json.dumps(JOB).encode())
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(body))

    async with client_of(httpx.MockTransport(respond)) as docs:
        assert (await docs.get_job("acme", "j")).id == "job-1"
    assert service.requests[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("compressed", [False, True])
async def test_an_answer_over_the_limit_is_refused_and_one_at_the_limit_is_read(compressed: bool) -> None:
    body = json.dumps(JOB).encode()

    async def respond(request: httpx.Request) -> httpx.Response:
        headers = {"content-encoding": "gzip"} if compressed else {}
        sent = gzip.compress(body) if compressed else body
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(sent))

    async with client_of(httpx.MockTransport(respond), max_response_bytes=len(body)) as docs:
        assert (await docs.get_job("acme", "j")).id == "job-1"
    async with client_of(httpx.MockTransport(respond), max_response_bytes=len(body) - 1) as docs:
        with pytest.raises(Unavailable, match="more than") as caught:
            await docs.get_job("acme", "j")
    assert caught.value.sent


# ---- visitors


async def test_one_page_of_visitors_is_asked_for_by_day() -> None:
    service = FakeService(httpx.Response(200, json=visitors_json("/a")))
    async with client_of(service) as docs:
        page = await docs.visitors("acme", date_from=date(2026, 11, 1), date_to=date(2026, 11, 8))
    assert dict(service.requests[0].url.params) == {
        "dateFrom": "2026-11-01",
        "dateTo": "2026-11-08",
        "limit": "250",
        "offset": "0",
    }
    assert page.visitors[0].path == "/a"


async def paths_of(service: FakeService, page_size: int = 2) -> list[list[str]]:
    """The paths of all pages, one list for each."""
    async with client_of(service) as docs:
        return [
            [row.path for row in page.visitors]
            async for page in docs.all_visitors("acme", page_size=page_size)
        ]


@given(rows=st.integers(0, 30), page_size=st.integers(1, 10))
async def test_all_pages_together_are_all_rows(rows: int, page_size: int) -> None:
    every = [f"/page-{number}" for number in range(rows)]

    async def respond(request: httpx.Request) -> httpx.Response:
        offset, limit = int(request.url.params["offset"]), int(request.url.params["limit"])
        more = offset + limit < rows
        return httpx.Response(200, json=visitors_json(*every[offset : offset + limit], has_more=more))

    async with client_of(httpx.MockTransport(respond)) as docs:
        pages = [page async for page in docs.all_visitors("acme", page_size=page_size)]
    assert [row.path for page in pages for row in page.visitors] == every
    assert len(pages) == max(1, -(-rows // page_size))


async def test_a_site_without_visitors_is_one_empty_page() -> None:
    assert await paths_of(FakeService(httpx.Response(200, json=visitors_json()))) == [[]]


async def test_a_row_told_again_is_left_out() -> None:
    first, last = visitors_json("/a", "/b", has_more=True), visitors_json("/b", "/c")
    service = FakeService(httpx.Response(200, json=first), httpx.Response(200, json=last))
    assert await paths_of(service) == [["/a", "/b"], ["/c"]]


async def test_a_last_page_of_repeated_rows_is_an_end_like_another() -> None:
    first, last = visitors_json("/a", "/b", has_more=True), visitors_json("/b")
    service = FakeService(httpx.Response(200, json=first), httpx.Response(200, json=last))
    assert await paths_of(service) == [["/a", "/b"], []]


@pytest.mark.parametrize(("again", "words"), [(("/a", "/b"), "told before"), ((), "an empty page")])
async def test_more_without_anything_new_ends_with_an_error(again: tuple[str, ...], words: str) -> None:
    first = httpx.Response(200, json=visitors_json("/a", "/b", has_more=True))
    service = FakeService(first, httpx.Response(200, json=visitors_json(*again, has_more=True)))
    with pytest.raises(Unavailable, match=words):
        await paths_of(service)
    assert len(service.requests) == 2
