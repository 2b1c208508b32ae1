"""GitHub's REST API over HTTP: one call, about one pull request.

https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Self, cast

import httpx
from pydantic import SecretStr, ValidationError

from bot.github.errors import GithubError, Limited, NotVisible, RefusedToken, Unavailable
from bot.github.models import MAX_TEXT_LENGTH, PullRequest, PullRequestId, pull_request_of, site_of

API_URL = "https://api.github.com"
MAX_RESPONSE_BYTES = 2_000_000
_LONGEST_LIMIT = timedelta(days=1)
_MOST_REDIRECTS = 3
_MOVED = (301, 302, 307, 308)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class GithubClient:
    """A client of GitHub with its own connections. Close it, or use it in `async with`.

    Safe to share between tasks. Calls raise the errors of `bot.github.errors`, and none is retried. The token
    goes to the host of ``api_url`` only, and no error, repr or log contains it.
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
    ) -> None:
        """Raise ValueError for an address that is not an API of GitHub.

        ``token`` is a fine-grained token with *Pull requests: read*; without one, public pull requests are
        visible. ``timeout_seconds`` limits a whole call. ``transport`` replaces the connections, for tests.
        """
        site_of(api_url)
        self._api_url = api_url.rstrip("/")
        self._token = token
        self._timeout_seconds = timeout_seconds
        self._transport = transport
        self._proxy = proxy
        self._now = now

    def __repr__(self) -> str:
        return f"GithubClient(api_url={self._api_url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        if self._transport is not None:
            await self._transport.aclose()

    def pull_request_of(self, link: str) -> PullRequestId | None:
        """Return to which pull request of this server a link leads; None for any other address."""
        return pull_request_of(link, self._api_url)

    async def pull_request(self, which: PullRequestId, etag: str = "") -> PullRequest | None:
        """Return a pull request; None when it is as it was when the ``etag`` was given."""
        url = httpx.URL(self._api_url + which.path)
        response, body = await self._get(url, etag)
        for _ in range(_MOST_REDIRECTS):
            if response.status_code in _MOVED:
                url = self._moved(url, response.headers.get("location", ""))
                response, body = await self._get(url, etag)
        if response.status_code == 304 and etag:
            return None
        if response.status_code != 200:
            raise self._error(response, body)
        return _read(body, response.headers.get("etag", ""))

    def _moved(self, url: httpx.URL, location: str) -> httpx.URL:
        """Return where a redirect leads. Raises Unavailable if that is not this API."""
        try:
            moved = url.join(location)
        except httpx.InvalidURL:
            moved = httpx.URL("")
        if not str(moved).startswith(f"{self._api_url}/"):
            raise Unavailable("GitHub redirects to another address")
        return moved

    async def _get(self, url: httpx.URL, etag: str) -> tuple[httpx.Response, bytes]:
        headers = {
            "Accept": "application/vnd.github+json",
            "Accept-Encoding": "identity",
            "User-Agent": "docs-bot",
            "X-GitHub-Api-Version": "2022-11-28",
            **({"Authorization": f"Bearer {self._token.get_secret_value()}"} if self._token else {}),
            **({"If-None-Match": etag} if etag else {}),
        }
        extensions = {"timeout": httpx.Timeout(self._timeout_seconds).as_dict()}
        request = httpx.Request("GET", url, headers=headers, extensions=extensions)
        try:
            async with (
                asyncio.timeout(self._timeout_seconds),
                aclosing(await self._connections().handle_async_request(request)) as response,
            ):
                return response, await _body(response)
        except (httpx.HTTPError, httpx.StreamError, OSError, UnicodeError) as error:
            # The cause refers to the request with its token.
            raise Unavailable(f"GitHub did not answer: {type(error).__name__}") from None

    def _connections(self) -> httpx.AsyncBaseTransport:
        # Made at the first call: the known authorities take 1 MB. OpenSSL, unlike httpx, reads SSL_CERT_FILE.
        if self._transport is None:
            verify, limits = ssl.create_default_context(), httpx.Limits(keepalive_expiry=5.0)
            self._transport = httpx.AsyncHTTPTransport(
                verify=verify, trust_env=False, limits=limits, proxy=self._proxy
            )
        return self._transport

    def _error(self, response: httpx.Response, body: bytes) -> GithubError:
        """Return the error that an answer stands for.

        https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
        """
        status, headers = response.status_code, response.headers
        said = f"GitHub answered {status}"
        is_used_up = headers.get("x-ratelimit-remaining") == "0"
        if status == 429 or (
            status == 403 and (is_used_up or "retry-after" in headers or b"rate limit" in body.lower())
        ):
            return Limited(said, self._until(headers, is_used_up=is_used_up))
        if status == 401:
            return RefusedToken(said)
        return NotVisible(said) if status in (403, 404, 410, 451) else Unavailable(said)

    def _until(self, headers: httpx.Headers, *, is_used_up: bool) -> datetime | None:
        """Return when to call again by the headers of an answer, within a day."""
        now, wait = self._now(), headers.get("retry-after", "")
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
        return min(max(until, now), now + _LONGEST_LIMIT)


async def _body(response: httpx.Response) -> bytes:
    raw = bytearray()
    async for chunk in cast("httpx.AsyncByteStream", response.stream):
        raw += chunk
        if len(raw) > MAX_RESPONSE_BYTES:
            raise Unavailable(f"GitHub answered with more than {MAX_RESPONSE_BYTES} bytes")
    return bytes(raw)


def _read(body: bytes, etag: str) -> PullRequest:
    try:
        found = PullRequest.model_validate_json(body)
    except ValidationError:
        raise Unavailable("GitHub's answer has not the expected shape") from None
    # One that is too long to keep, or that no header can hold, only costs the next call a full answer.
    is_usable = len(etag) <= MAX_TEXT_LENGTH and etag.isascii() and etag.isprintable()
    return found.model_copy(update={"etag": etag if is_usable else ""})
