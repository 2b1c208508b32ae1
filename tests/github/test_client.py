"""The client of GitHub, with a transport as the seam."""

from __future__ import annotations

import json
import traceback
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot.github
from bot.github import (
    GithubClient,
    GithubError,
    GithubUnavailable,
    Limited,
    NotVisible,
    PullRequestId,
    PullRequestState,
    RefusedToken,
    pull_request_of,
    site_of,
)
from tests.docs_api.builders import FakeService
from tests.docs_api.test_over_http import answering_bytes
from tests.github.builders import CLOSED, MERGED, NOW, OPEN, TOKEN, WHICH, client_of


@pytest.mark.parametrize(
    ("repository", "is_same"),
    [
        ("https://github.com/acme/docs", True),
        ("https://github.com/Acme/Docs.git/", True),
        ("git@github.com:acme/docs.git", True),
        ("https://x-access-token:key@github.com/acme/docs", True),
        ("github.com/acme/docs", True),
        ("acme/docs", True),
        ("https://github.com/acme/secrets", False),
        ("https://gitlab.com/acme/docs", False),
        ("https://github.com/acme/docs/pull/7", False),
        ("https://github.com/evil/acme/docs", False),
        ("docs", False),
        ("", False),
        ("/" * 10_000, False),
        ("a" * 10_000 + "@", False),
    ],
)
def test_link_leads_only_to_pull_request_of_named_repository(
    repository: str, is_same: bool
) -> None:
    link = "https://github.com/acme/docs/pull/7"
    assert pull_request_of(link, "github.com", repository) == (WHICH if is_same else None)


async def failure_of(answer: httpx.Response | Exception) -> GithubError:
    async with client_of(FakeService(answer)) as github:
        with pytest.raises(GithubError) as caught:
            await github.pull_request(WHICH)
    return caught.value


def test_the_public_names_are_these() -> None:
    assert bot.github.__all__ == sorted(bot.github.__all__)
    assert {name for name in vars(bot.github) if name[0].isupper()} <= set(bot.github.__all__)


@pytest.mark.parametrize(
    ("link", "api_url", "expected"),
    [
        ("https://github.com/acme/docs/pull/7", "https://api.github.com", WHICH),
        ("https://GitHub.com/acme/docs/pull/7/", "https://api.github.com/", WHICH),
        ("https://git.acme.example/acme/docs/pull/7", "https://git.acme.example/api/v3", WHICH),
        ("http://127.0.0.1:8801/acme/docs/pull/7", "http://127.0.0.1:8801/api/v3", WHICH),
        ("https://acme.ghe.com/acme/docs/pull/7", "https://api.acme.ghe.com", WHICH),
        (
            "https://github.com/a/b.c-d_e/pull/1",
            "https://api.github.com",
            PullRequestId("a", "b.c-d_e", 1),
        ),
        ("https://github.com/acme/docs/pull/7", "https://git.acme.example/api/v3", None),
        ("https://github.com.evil.example/acme/docs/pull/7", "https://api.github.com", None),
        ("https://ana@github.com/acme/docs/pull/7", "https://api.github.com", None),
        ("https://github.com/acme/docs/issues/7", "https://api.github.com", None),
        ("https://github.com/acme/../pull/7", "https://api.github.com", None),
        ("https://github.com/acme/docs/pull/07", "https://api.github.com", None),
        ("https://github.com/acme/docs/pull/" + "9" * 30, "https://api.github.com", None),
        ("https://github.com/a%2Fb/docs/pull/7", "https://api.github.com", None),
        ("https://[github", "https://api.github.com", None),
    ],
)
def test_link_leads_to_a_pull_request_of_the_configured_site(
    link: str, api_url: str, expected: PullRequestId | None
) -> None:
    assert pull_request_of(link, site_of(api_url)) == expected


@pytest.mark.parametrize(
    "address",
    ["https://github.com", "https://git.example", "https://api.example", "https://a.b.ghe.com"],
)
def test_address_without_a_github_api_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        site_of(address)
    assert address not in str(caught.value)
    with pytest.raises(ValueError, match="must be"):
        GithubClient(api_url=address)


async def test_pull_request_is_one_call_with_token_and_version() -> None:
    service = FakeService(httpx.Response(200, json=OPEN, headers={"etag": 'W/"1"'}))
    async with client_of(service, api_url="https://git.example/api/v3/") as github:
        pull = await github.pull_request(WHICH)
    assert pull is not None
    assert (pull.title, pull.branch) == ("Add a quickstart for the Python SDK", "agent/job-1")
    assert (pull.additions, pull.deletions, pull.changed_files) == (46, 1, 2)
    assert (pull.state, pull.draft, pull.merged_by, pull.etag) == ("open", False, None, 'W/"1"')
    [request] = service.requests
    assert str(request.url) == "https://git.example/api/v3/repos/acme/docs/pulls/7"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["x-github-api-version"] == "2022-11-28"
    assert "if-none-match" not in request.headers


async def test_pull_request_is_closed_or_merged() -> None:
    service = FakeService(httpx.Response(200, json=CLOSED), httpx.Response(200, json=MERGED))
    async with client_of(service) as github:
        closed, merged = await github.pull_request(WHICH), await github.pull_request(WHICH)
    assert closed is not None
    assert merged is not None
    assert (closed.state, closed.closed_at) == (PullRequestState.CLOSED, NOW - timedelta(hours=1))
    assert (merged.state, merged.merged_by) == (PullRequestState.MERGED, "ana-b")
    assert merged.merged_at == NOW - timedelta(hours=1)


async def test_unchanged_pull_request_is_none() -> None:
    service = FakeService(httpx.Response(304))
    async with client_of(service) as github:
        assert await github.pull_request(WHICH, etag='W/"1"') is None
        assert service.requests[0].headers["if-none-match"] == 'W/"1"'
        with pytest.raises(GithubUnavailable):  # it was not asked whether something changed
            await github.pull_request(WHICH)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_renamed_repository_is_found_on_the_same_host(status: int) -> None:
    moved = httpx.Response(
        status, headers={"location": "https://api.github.com/repositories/1/pulls/7"}
    )
    service = FakeService(moved, httpx.Response(200, json=OPEN))
    async with client_of(service) as github:
        assert await github.pull_request(WHICH)
    assert [request.url.path for request in service.requests] == [
        "/repos/acme/docs/pulls/7",
        "/repositories/1/pulls/7",
    ]


@pytest.mark.parametrize(
    "location",
    [
        "https://elsewhere.example/",
        "https://api.github.com.evil.example/",
        "//evil.example/",
        "http://api.github.com/",
        "https://api.github.com:8443/",
        "https://[",
    ],
)
async def test_no_redirect_takes_the_token_elsewhere(location: str) -> None:
    service = FakeService(httpx.Response(302, headers={"location": location}))
    async with client_of(service) as github:
        with pytest.raises(GithubUnavailable, match="another address"):
            await github.pull_request(WHICH)
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [200, 404])
async def test_check_of_the_token_reads_the_free_rate_limits(status: int) -> None:
    service = FakeService(httpx.Response(status, json={}))
    async with client_of(service) as github:
        await github.check()
    [request] = service.requests
    assert request.url.path == "/rate_limit"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("status", "kind"), [(401, RefusedToken), (429, Limited), (502, GithubUnavailable)]
)
async def test_check_of_the_token_fails_like_a_call(status: int, kind: type[GithubError]) -> None:
    async with client_of(FakeService(httpx.Response(status))) as github:
        with pytest.raises(kind):
            await github.check()


@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (401, {}, RefusedToken),
        (403, {"x-ratelimit-remaining": "59"}, NotVisible),
        (404, {}, NotVisible),
        (410, {}, NotVisible),
        (451, {}, NotVisible),
        (403, {"retry-after": "60"}, Limited),
        (403, {"x-ratelimit-remaining": "0"}, Limited),
        (429, {}, Limited),
        (500, {}, GithubUnavailable),
        (502, {}, GithubUnavailable),
        (204, {}, GithubUnavailable),
    ],
)
async def test_each_refusal_is_a_typed_error(
    status: int, headers: dict[str, str], kind: type[GithubError]
) -> None:
    error = await failure_of(
        httpx.Response(status, headers=headers, json={"message": f"No, {TOKEN}"})
    )
    assert type(error) is kind
    assert TOKEN not in "".join(traceback.format_exception(error))


async def test_403_with_a_rate_limit_message_is_a_limit() -> None:
    body = {"message": "You have exceeded a secondary rate limit."}
    error = await failure_of(httpx.Response(403, json=body))
    assert isinstance(error, Limited)
    assert error.until is None


@pytest.mark.parametrize(
    ("headers", "until"),
    [
        ({"retry-after": "90"}, NOW + timedelta(seconds=90)),
        ({"retry-after": "Fri, 20 Nov 2026 12:05:00 GMT"}, NOW + timedelta(minutes=5)),
        (
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW.timestamp()) + 600)},
            NOW + timedelta(minutes=10),
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "0"}, NOW),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 30}, None),
        ({"x-ratelimit-remaining": "0"}, None),
        ({"retry-after": "9" * 9}, NOW + timedelta(days=1)),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
async def test_limit_has_its_end(headers: dict[str, str], until: datetime | None) -> None:
    error = await failure_of(httpx.Response(429, headers=headers))
    assert isinstance(error, Limited)
    assert error.until == until
    assert until is None or until.tzinfo is UTC


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={**OPEN, "additions": "46"}),
        httpx.Response(200, json={**OPEN, "deletions": 2**31}),
        httpx.Response(200, json={**OPEN, "title": None}),
        httpx.Response(200, json={**MERGED, "merged_at": "yesterday"}),
        httpx.Response(200, json={**MERGED, "merged_at": "0001-01-01T00:00:00+02:00"}),
        httpx.ConnectError(TOKEN),
        httpx.ReadTimeout(TOKEN),
        OSError(TOKEN),
    ],
)
async def test_unusable_response_is_unavailable_without_the_token(
    answer: httpx.Response | Exception,
) -> None:
    error = await failure_of(answer)
    assert type(error) is GithubUnavailable
    assert TOKEN not in "".join(traceback.format_exception(error))


@given(title=st.text(st.characters()), etag=st.text(st.characters(codec="latin-1"), max_size=400))
async def test_title_can_be_stored_and_etag_sent_again(title: str, etag: str) -> None:
    headers = [(b"etag", etag.encode("latin-1"))]
    # Escaped, as GitHub does it: httpx would refuse half a surrogate pair.
    content = json.dumps({**OPEN, "title": title})
    service = FakeService(httpx.Response(200, content=content, headers=headers))
    async with client_of(service) as github:
        pull = await github.pull_request(WHICH)
        assert pull is not None
        assert "\x00" not in pull.title
        assert len(pull.title.encode()) <= 4 * 300
        assert await github.pull_request(WHICH, pull.etag)


async def test_title_is_read_up_to_its_limit_alone() -> None:
    title = "Add " + " " * 200 + "a page" + " " * 1_000 + "on keys"
    service = FakeService(httpx.Response(200, json={**OPEN, "title": title}))
    async with client_of(service) as github:
        pull = await github.pull_request(WHICH)
    assert pull is not None
    assert pull.title == "Add a page"


async def test_silent_server_ends_in_time() -> None:
    body = httpx.Response(200, json=OPEN).content
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with (
        answering_bytes(head + body) as (url, heads),
        GithubClient(api_url=f"{url}/api/v3") as github,
    ):
        assert await github.pull_request(WHICH)
    assert heads[0].startswith(b"GET /api/v3/repos/acme/docs/pulls/7 HTTP/1.1\r\n")
    async with (
        answering_bytes(head, hold=True) as (url, _),
        GithubClient(api_url=f"{url}/api/v3", timeout_seconds=0.1) as github,
    ):
        with pytest.raises(GithubUnavailable):
            await github.pull_request(WHICH)
