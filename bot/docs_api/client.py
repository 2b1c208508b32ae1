"""The docs service over HTTP, with httpx's requests and responses and aiohttp's connections.

Requests go directly to the httpx transport. What `httpx.AsyncClient` adds (cookies, redirects, credentials
from the environment) is not wanted here and takes two fifths of a call's processor time.
https://www.python-httpx.org/advanced/transports/
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime
from types import TracebackType
from typing import Self, TypeVar

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport
from pydantic import BaseModel, SecretStr

from bot.docs_api import _wire
from bot.docs_api.errors import InvalidArgument, Unavailable
from bot.docs_api.models import Job, VisitorsPage

MAX_RESPONSE_BYTES = 5_000_000
MAX_ROWS = 1_000_000
"""`DocsClient.all_visitors` raises an error when the service claims to have more rows than this."""

ModelT = TypeVar("ModelT", bound=BaseModel)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class DocsClient:
    """A client of the docs service. Create it with `DocsClient.open`, and close it or use it in `async with`.

    Safe to share between tasks. Calls raise the errors of `bot.docs_api.errors`. No call is retried, except
    that aiohttp repeats a GET once when a kept-alive connection turns out to be closed.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        *,
        base_url: str,
        api_key: SecretStr,
        timeout: httpx.Timeout,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._transport = transport
        self._is_closed = False
        self._base_url = _wire.checked_base_url(base_url)
        _checked_address(self._base_url, "base_url")
        self._api_key = _wire.checked_key(api_key)
        self._timeout = timeout.as_dict()
        self._deadline_seconds = _deadline_seconds(timeout)
        self._max_response_bytes = max_response_bytes
        self._now = now

    @classmethod
    def open(
        cls,
        *,
        base_url: str,
        api_key: SecretStr,
        connect_timeout_seconds: float = 5.0,
        read_timeout_seconds: float = 30.0,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> Self:
        """Return a client with its own connection pool.

        ``read_timeout_seconds`` limits the time between two chunks; plus the connect time-out, it limits the
        whole call. Proxies from the environment are ignored; ``proxy`` is the address of one to use.
        ``transport`` replaces the connection pool, for tests.
        Raises `InvalidArgument` for an address or key that cannot be used.
        """
        return cls(
            transport or _aiohttp_transport(proxy),
            base_url=base_url,
            api_key=api_key,
            timeout=httpx.Timeout(
                read_timeout_seconds, connect=connect_timeout_seconds, pool=connect_timeout_seconds
            ),
            max_response_bytes=max_response_bytes,
            now=now,
        )

    def __repr__(self) -> str:
        return f"DocsClient(base_url={self._base_url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections. Later calls raise RuntimeError."""
        self._is_closed = True
        await self._transport.aclose()

    async def create_job(self, project_id: str, prompt: str) -> Job:
        """Start a job. After an `Unavailable` with ``sent`` it may or may not exist."""
        return await self._send(_wire.create_job(self._base_url, project_id, prompt), Job)

    async def get_job(self, project_id: str, job_id: str) -> Job:
        """Return a job's current state. Raises `NotFound` when the service does not know it."""
        return await self._send(_wire.get_job(self._base_url, project_id, job_id), Job)

    async def send_follow_up(self, project_id: str, job_id: str, prompt: str) -> Job:
        """Send a further prompt to a job. The returned job may still show the state before the prompt."""
        return await self._send(_wire.send_follow_up(self._base_url, project_id, job_id, prompt), Job)

    async def visitors(
        self,
        project_id: str,
        *,
        date_from: date | None = None,
        date_to: date | None = None,
        limit: int = _wire.MAX_PAGE_SIZE,
        offset: int = 0,
    ) -> VisitorsPage:
        """Return one page of the unique visitors from ``date_from`` until before the day of ``date_to``.

        Both are days or aware times. Days are the service's days, in UTC.
        """
        call = _wire.visitors(self._base_url, project_id, date_from, date_to, limit, offset)
        page = await self._send(call, VisitorsPage)
        if len(page.visitors) > limit:
            raise Unavailable(f"The service answered with more rows than the {limit} asked for", sent=True)
        return page

    def all_visitors(
        self,
        project_id: str,
        *,
        date_from: date | None = None,
        date_to: date | None = None,
        page_size: int = _wire.MAX_PAGE_SIZE,
    ) -> AsyncIterator[VisitorsPage]:
        """Yield page after page, one call each, until the service has no more.

        Repeated rows are left out; rows can move while pages are fetched. Raises `Unavailable` when the
        service claims to have more pages but returns nothing new, which would otherwise loop for ever.
        """
        _wire.visitors(self._base_url, project_id, date_from, date_to, page_size, 0)
        return self._pages(project_id, date_from, date_to, page_size)

    async def _pages(
        self, project_id: str, date_from: date | None, date_to: date | None, page_size: int
    ) -> AsyncIterator[VisitorsPage]:
        seen: set[str] = set()
        for offset in range(0, MAX_ROWS, page_size):
            page = await self.visitors(
                project_id, date_from=date_from, date_to=date_to, limit=page_size, offset=offset
            )
            fresh = {row.path: row for row in page.visitors if row.path not in seen}
            if page.has_more and not fresh:
                what = "a page of rows it had told before" if page.visitors else "an empty page"
                raise Unavailable(f"The service says there are more visitors after {what}", sent=True)
            seen.update(fresh)
            yield page.model_copy(update={"visitors": tuple(fresh.values())})
            if not page.has_more:
                return
        raise Unavailable(f"The service says there are more than {MAX_ROWS} rows of visitors", sent=True)

    async def _send(self, call: _wire.Call, model: type[ModelT]) -> ModelT:
        if self._is_closed:
            raise RuntimeError("the client of the docs service is closed")
        secrets = (self._api_key.get_secret_value(), *call.secrets)
        try:
            async with asyncio.timeout(self._deadline_seconds):
                answer = await self._exchange(self._request(call))
        except (httpx.HTTPError, httpx.StreamError, aiohttp.ClientError, OSError, UnicodeError) as error:
            # The cause refers to the request with its key and prompt, so only its text is kept.
            raise _broken(error, secrets) from None
        return _wire.decode(answer, model, secrets=secrets, now=self._now())

    def _request(self, call: _wire.Call) -> httpx.Request:
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "Authorization": f"Bearer {self._api_key.get_secret_value()}",
            "User-Agent": "docs-bot",
        }
        if call.body:
            headers["Content-Type"] = "application/json"
        url = _checked_address(call.url, "base_url with the ids")
        extensions = {"timeout": self._timeout}
        return httpx.Request(call.method, url, headers=headers, content=call.body, extensions=extensions)

    async def _exchange(self, request: httpx.Request) -> _wire.Answer:
        response = await self._transport.handle_async_request(request)
        try:
            body = await self._read(response)
        finally:
            await response.aclose()
        return _wire.Answer(response.status_code, response.headers, body)

    async def _read(self, response: httpx.Response) -> bytes:
        encoding = response.headers.get("content-encoding", "")
        raw = bytearray()
        # The raw stream, because httpx's decoding does not limit the decompressed size.
        async for chunk in _stream(response):
            raw += chunk
            if len(raw) > self._max_response_bytes:
                raise self._unreadable(response, f"with more than {self._max_response_bytes} bytes")
        try:
            return _wire.inflate(bytes(raw), encoding, self._max_response_bytes)
        except ValueError as problem:
            raise self._unreadable(response, str(problem)) from None

    @staticmethod
    def _unreadable(response: httpx.Response, how: str) -> Unavailable:
        return Unavailable(f"The service answered {how}", sent=True, status_code=response.status_code)


def _stream(response: httpx.Response) -> httpx.AsyncByteStream:
    if not isinstance(response.stream, httpx.AsyncByteStream):
        raise httpx.StreamError("the transport answered with a stream that cannot be awaited")
    return response.stream


def _aiohttp_transport(proxy: str | None) -> httpx.AsyncBaseTransport:
    limits = httpx.Limits(keepalive_expiry=5.0)
    # Given none, httpx loads the known authorities again, in 30 ms and 1 MB. aiohttp uses its own.
    unused = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return _Connections(verify=unused, limits=limits, proxy=_proxy(proxy) if proxy else None)


def _proxy(address: str) -> httpx.Proxy:
    try:
        proxy = httpx.Proxy(address)
    except (ValueError, httpx.InvalidURL):
        raise InvalidArgument("proxy must be the address of an HTTP proxy") from None
    if proxy.auth is None:
        return proxy
    # httpx-aiohttp passes credentials in a parameter that aiohttp has deprecated, so a header is used.
    return httpx.Proxy(proxy.url, headers={"Proxy-Authorization": aiohttp.encode_basic_auth(*proxy.auth)})


def _checked_address(address: str, name: str) -> httpx.URL:
    try:
        url = httpx.URL(address)
        url.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError):
        raise InvalidArgument(f"{name} is not an address that can be called, or too long a one") from None
    return url


class _Connections(AiohttpTransport):
    """httpx-aiohttp's transport without cookies, which sends the proxy's header with every request."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # aiohttp sends proxy headers only to open a tunnel (https), not with a forwarded request (http).
        if self.proxy is not None and request.url.scheme == "http":
            request.headers.update(self.proxy.headers)
        return await super().handle_async_request(request)

    def get_client(self) -> aiohttp.ClientSession:
        # Not limited (0): a call that waited for a connection would seem not to reach the service. Callers
        # limit how many calls they make at once.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=self.limits.keepalive_expiry or 5.0)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


def _deadline_seconds(timeout: httpx.Timeout) -> float | None:
    if timeout.read is None:
        return None
    return (timeout.connect or 0.0) + timeout.read


def _broken(error: Exception, secrets: tuple[str, ...]) -> Unavailable:
    # httpx-aiohttp raises ConnectTimeout for every lost connection, even one that broke after the request
    # was sent. Only aiohttp's error, its cause, tells the two apart.
    # https://github.com/karpetrosyan/httpx-aiohttp/blob/main/httpx_aiohttp/transport.py
    root = error.__cause__ if isinstance(error.__cause__, aiohttp.ClientError) else error
    if isinstance(root, _NEVER_CONNECTED):
        how = "The service cannot be reached"
    elif isinstance(root, httpx.TimeoutException | TimeoutError):
        how = "The service did not answer in time"
    else:
        how = "The connection to the service broke"
    text = _wire.cleaned(f"{how}: {type(root).__name__} {root}", secrets)
    return Unavailable(text, sent=not isinstance(root, _NEVER_CONNECTED))


_NEVER_CONNECTED = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
)
"""Errors that mean that no connection was made, so that the request was certainly not sent."""
