"""GitHub's REST API: calls about a pull request and the token.

https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Self, TypeAlias, TypeVar

import httpx
from pydantic import SecretStr, TypeAdapter, ValidationError

from bot.github.models import (
    MAX_TEXT_LENGTH,
    Comparison,
    FileContents,
    GithubError,
    GithubUnavailable,
    Limited,
    NotVisible,
    Paused,
    PullRequest,
    PullRequestFile,
    PullRequestId,
    RefusedToken,
    pull_request_of,
    site_of,
)
from bot.response_body import ACCEPTED_ENCODING, UnreadableBody, read_body

API_URL = "https://api.github.com"
_MAX_PAUSE = timedelta(days=1)
_MAX_REDIRECTS = 3
_MAX_CACHED = 10
"""Answers with files that stay in memory:

GitHub does not count a call that finds them unchanged.
"""
_MAX_CACHED_BYTES = 200_000
"""The size of the longest answer that stays in memory."""
_PULL_REQUEST_ADAPTER = TypeAdapter(PullRequest)
_COMPARISON_ADAPTER = TypeAdapter(Comparison)
_CONTENTS_ADAPTER = TypeAdapter(FileContents)
_FILES_ADAPTER = TypeAdapter(tuple[PullRequestFile, ...])
ModelT = TypeVar("ModelT")

OnAnswer: TypeAlias = Callable[[str, int, bytes, float], None]
"""Gets a call's path and its answer: status, body, and after how many seconds."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response of GitHub, read completely and decompressed."""

    status_code: int
    headers: httpx.Headers
    body: bytes


def _utc_now() -> datetime:
    return datetime.now(UTC)


class GithubClient:
    """A client of GitHub with its own connections.

    Close it, or use it in `async with`.

    Safe to share between tasks. Calls raise the errors of `bot.github.models`, and none is retried.
    The token goes to the host of ``api_url`` only, and no error, repr or log contains it.
    """

    def __init__(
        self,
        *,
        api_url: str = API_URL,
        token: SecretStr | None = None,
        timeout_seconds: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | None = None,
        now: Callable[[], datetime] = _utc_now,
        on_answer: OnAnswer | None = None,
    ) -> None:
        """Raise ValueError for an address that is not an API of GitHub.

        ``token`` is a fine-grained token with *Pull requests: read*; without one, public pull
        requests are visible. ``timeout_seconds`` limits a whole call. ``transport`` replaces the
        connections, for tests. ``on_answer`` gets each answer, also an unsuccessful one.
        """
        self._site = site_of(api_url)
        self._api_url = api_url.rstrip("/")
        # As httpx writes it: small letters, without the usual port.
        self._base = str(httpx.URL(f"{self._api_url}/"))
        self._timeout_seconds = timeout_seconds
        self.has_token = bool(token)
        """Whether there is a token, without which GitHub answers 60 calls an hour."""
        self._now = now
        self._on_answer = on_answer
        self._files: dict[PullRequestId, tuple[str, tuple[PullRequestFile, ...]]] = {}
        self._paused_until = now()
        headers = {
            "Accept": "application/vnd.github+json",
            "Accept-Encoding": ACCEPTED_ENCODING,
            "User-Agent": "docs-bot",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        if token:
            headers["Authorization"] = f"Bearer {token.get_secret_value()}"
        self._http = httpx.AsyncClient(
            headers=headers,
            timeout=timeout_seconds,
            transport=transport,
            proxy=proxy,
            trust_env=False,
            # OpenSSL, unlike httpx, reads SSL_CERT_FILE, which takes 17 ms. A given transport needs
            # none.
            verify=True if transport else ssl.create_default_context(),
        )

    def __repr__(self) -> str:
        return f"GithubClient(api_url={self._api_url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_to_error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def pull_request_of(self, link: str, repository: str | None = None) -> PullRequestId | None:
        """Return the pull request of a link; None for any other link.

        It is one of this server and of this repository.
        """
        return pull_request_of(link, self._site, repository)

    def address_of(self, repository: str) -> str:
        """Return the address of a repository's pages, given as ``owner/repo``."""
        scheme = self._api_url.partition("://")[0]
        return f"{scheme}://{self._site}/{repository}"

    def pause(self, until: datetime) -> None:
        """Make no call about a pull request before ``until``: each raises Paused."""
        self._paused_until = until

    async def check(self) -> None:
        """Check that GitHub answers and takes the token, at no cost.

        A server without limits answers 404.

        https://docs.github.com/en/rest/rate-limit/rate-limit
        """
        answer = await self._get("/rate_limit")
        if answer.status_code not in (200, 404):
            raise self._to_error(answer)

    async def pull_request(
        self, pull_request_id: PullRequestId, etag: str = ""
    ) -> PullRequest | None:
        """Return a pull request.

        Returns None if it has not changed since the answer with this ``etag``.
        """
        answer = await self._fetch(pull_request_id.path, etag)
        if answer.status_code == 304:
            return None
        return _parse_answer(_PULL_REQUEST_ADAPTER, answer).model_copy(
            update={"etag": _read_etag(answer)}
        )

    async def files(self, pull_request_id: PullRequestId) -> Sequence[PullRequestFile]:
        """Return the first 100 files that a pull request changes.

        https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files
        """
        etag, cached = self._files.get(pull_request_id, ("", ()))
        answer = await self._fetch(f"{pull_request_id.path}/files?per_page=100", etag)
        if answer.status_code == 304:
            return cached
        files = _parse_answer(_FILES_ADAPTER, answer)
        while len(self._files) >= _MAX_CACHED:
            del self._files[next(iter(self._files))]
        new_etag = _read_etag(answer)
        if new_etag and len(answer.body) <= _MAX_CACHED_BYTES:
            self._files[pull_request_id] = new_etag, files
        return files

    async def text(self, pull_request_id: PullRequestId, path: str, commit: str) -> str:
        """Return the beginning of a text file of a commit. Requires *Contents: read*.

        https://docs.github.com/en/rest/repos/contents#get-repository-content
        """
        answer = await self._fetch(pull_request_id.contents_path(path, commit))
        return _parse_answer(_CONTENTS_ADAPTER, answer).text

    async def compare(self, pull_request_id: PullRequestId, base: str, head: str) -> Comparison:
        """Compare two commits of a pull request in the first 300 files.

        Requires *Contents: read*.

        https://docs.github.com/en/rest/commits/commits#compare-two-commits
        """
        return _parse_answer(
            _COMPARISON_ADAPTER, await self._fetch(pull_request_id.compare_path(base, head))
        )

    async def _fetch(self, path: str, etag: str = "") -> _Answer:
        """Return an answer with status 200, or with 304 for its ``etag``."""
        if self._now() < self._paused_until <= self._now() + _MAX_PAUSE:
            raise Paused("No call before the pause is over", self._paused_until)
        answer = await self._get(path, {"If-None-Match": etag} if etag else None)
        if answer.status_code == 200 or (answer.status_code == 304 and etag):
            return answer
        raise self._to_error(answer)

    async def _get(self, path: str, headers: Mapping[str, str] | None = None) -> _Answer:
        begun_at = monotonic()
        try:
            async with asyncio.timeout(self._timeout_seconds):
                request = self._http.build_request("GET", self._api_url + path, headers=headers)
                answer = await self._follow(request)
        except UnreadableBody as problem:
            raise GithubUnavailable(f"GitHub answered with {problem}") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            # The cause refers to the request with its token.
            raise GithubUnavailable(f"GitHub did not answer: {type(error).__name__}") from None
        if self._on_answer is not None:
            self._on_answer(path, answer.status_code, answer.body, monotonic() - begun_at)
        return answer

    async def _follow(self, request: httpx.Request) -> _Answer:
        """Send a request and return the answer, also after redirects on the same server.

        httpx would read the whole body of a redirect.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            if not str(request.url).startswith(self._base):
                raise GithubUnavailable("GitHub redirects to another address")
            response = await self._http.send(request, stream=True)
            try:
                if response.next_request is None:
                    body = await read_body(response)
                    return _Answer(response.status_code, response.headers, body)
            finally:
                await response.aclose()
            request = response.next_request
        raise GithubUnavailable("GitHub redirects too often")

    def _to_error(self, answer: _Answer) -> GithubError:
        """Return the error that an answer stands for.

        https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
        """
        status = answer.status_code
        headers = answer.headers
        message = f"GitHub answered {status}"
        is_used_up = headers.get("x-ratelimit-remaining") == "0"
        is_limit = is_used_up or "retry-after" in headers or b"rate limit" in answer.body.lower()
        if status == 429 or (status == 403 and is_limit):
            return Limited(message, self._find_retry_time(headers, is_used_up=is_used_up))
        if status == 401:
            return RefusedToken(message)
        if status in (403, 404, 410, 451):
            return NotVisible(message)
        return GithubUnavailable(message)

    def _find_retry_time(self, headers: httpx.Headers, *, is_used_up: bool) -> datetime | None:
        """Return the time of the next call, within a day.

        It comes from the headers of an answer; None without them.
        """
        now = self._now()
        wait = headers.get("retry-after", "")
        try:
            if wait.isdecimal():
                until = now + timedelta(seconds=int(wait))
            elif wait:
                until = parsedate_to_datetime(wait).astimezone(UTC)
            elif is_used_up:
                until = datetime.fromtimestamp(int(headers.get("x-ratelimit-reset", "")), UTC)
            else:
                return None
        except (ValueError, OverflowError, OSError):
            return None
        return min(max(until, now), now + _MAX_PAUSE)


def _read_etag(answer: _Answer) -> str:
    """Return the ETag; empty if it cannot be kept or sent.

    Without one the next call gets a full answer.
    """
    etag: str = answer.headers.get("etag", "")
    if len(etag) > MAX_TEXT_LENGTH or not etag.isascii() or not etag.isprintable():
        return ""
    return etag


def _parse_answer(kind: TypeAdapter[ModelT], answer: _Answer) -> ModelT:
    try:
        return kind.validate_json(answer.body)
    except ValidationError:
        raise GithubUnavailable("GitHub's answer has not the expected shape") from None
