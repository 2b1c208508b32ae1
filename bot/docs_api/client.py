"""The docs service over HTTP, with httpx's requests and responses and aiohttp's connections.

Requests go directly to the httpx transport. The extras of `httpx.AsyncClient` (cookies, redirects,
credentials from the environment) are not wanted and take two fifths of a call's processor time.
https://www.python-httpx.org/advanced/transports/
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable, Mapping, Sized
from contextlib import aclosing
from datetime import UTC, date, datetime
from time import monotonic
from typing import Self, TypeAlias, TypedDict, Unpack

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport
from pydantic import SecretStr

from bot.docs_api import _wire
from bot.docs_api.errors import InvalidArgument, NotConfigured, Unavailable
from bot.docs_api.models import (
    AssistantPage,
    Build,
    FeedbackByPage,
    FeedbackPage,
    Job,
    PreviewBuild,
    SearchesPage,
    ViewsPage,
    VisitorsPage,
)
from bot.response_body import ACCEPTED_ENCODING, MAX_RESPONSE_BYTES, UnreadableBody, read_body


def _utc_now() -> datetime:
    return datetime.now(UTC)


OnAnswer: TypeAlias = Callable[[str, Mapping[str, object], int, bytes, float], None]
"""Gets a call's path, the fields of its body, and its answer: status, body, and after how many
seconds."""


class Days(TypedDict, total=False):
    """The days of rows, which are the service's in UTC.

    They last from ``date_from`` until before the day of ``date_to``.
    """

    date_from: date | None
    date_to: date | None


class RowSelection(Days, total=False):
    """The period and number of rows about readers."""

    limit: int


class ServiceClient:
    """The connections to one address of the service, with its key.

    Safe to share between tasks.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: SecretStr,
        connect_timeout_seconds: float = 5.0,
        read_timeout_seconds: float = 30.0,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | None = None,
        now: Callable[[], datetime] = _utc_now,
        on_answer: OnAnswer | None = None,
    ) -> None:
        """Raise `InvalidArgument` for an address or key that cannot be used.

        ``read_timeout_seconds`` limits the time between two chunks; plus the connect time-out, it
        limits the whole call. Proxies from the environment are ignored; ``proxy`` is the address of
        one to use. ``transport`` replaces the connection pool, for tests. ``on_answer`` gets each
        complete answer, also an unsuccessful one.
        """
        self._base_url = _wire.checked_base_url(base_url)
        self._api_key = _wire.checked_key(api_key)
        self._timeout = httpx.Timeout(
            read_timeout_seconds,
            connect=connect_timeout_seconds,
            pool=connect_timeout_seconds,
        ).as_dict()
        self._deadline_seconds = connect_timeout_seconds + read_timeout_seconds
        self._max_response_bytes = max_response_bytes
        self._now = now
        self._on_answer = on_answer
        self._transport = transport or _make_transport(proxy)
        self._is_closed = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._base_url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections. Later calls raise RuntimeError."""
        self._is_closed = True
        await self._transport.aclose()

    async def _send(self, call: _wire.Call) -> _wire.Response:
        """Return the response to a call.

        Raises the error of an unsuccessful one.
        """
        if self._is_closed:
            raise RuntimeError("the client of the docs service is closed")
        texts = [field for field in call.fields.values() if isinstance(field, str)]
        secrets = (self._api_key.get_secret_value(), *texts, *call.quoted)
        request = self._build_request(call)
        begun_at = monotonic()
        try:
            async with asyncio.timeout(self._deadline_seconds):
                response = await self._transport.handle_async_request(request)
                async with aclosing(response):
                    body = await read_body(response, self._max_response_bytes)
        except UnreadableBody as problem:
            raise Unavailable(f"The service answered with {problem}") from None
        except (
            httpx.HTTPError,
            httpx.StreamError,
            aiohttp.ClientError,
            OSError,
            UnicodeError,
        ) as error:
            # The cause refers to the request with its key and prompt, so only its text is kept.
            raise _to_unavailable(error, secrets) from None
        answer = _wire.Response(response.status_code, response.headers, body, secrets)
        if self._on_answer is not None:
            seconds = monotonic() - begun_at
            self._on_answer(call.path, call.fields, answer.status_code, body, seconds)
        if not 200 <= answer.status_code <= 299:
            raise _wire.error_of(answer, self._now())
        return answer

    def _build_request(self, call: _wire.Call) -> httpx.Request:
        headers = {
            "Accept": call.accept,
            "Accept-Encoding": ACCEPTED_ENCODING,
            "Authorization": f"Bearer {self._api_key.get_secret_value()}",
            "User-Agent": "docs-bot",
        }
        method = "GET"
        body = b""
        if call.fields:
            method = "POST"
            body = json.dumps(dict(call.fields)).encode()
            headers["Content-Type"] = "application/json"
        url = self._base_url + call.path
        extensions = {"timeout": self._timeout}
        return httpx.Request(method, url, headers=headers, content=body, extensions=extensions)


class DocsClient(ServiceClient):
    """A client of the docs service with its own connection pool.

    Close it, or use it in `async with`.

    Safe to share between tasks. Calls raise the errors of `bot.docs_api.errors`. No call is
    retried, except that aiohttp repeats a GET once when a kept-alive connection turns out to be
    closed.
    """

    async def create_job(self, project_id: str, text: str) -> Job:
        """Start a job.

        After an `Unavailable` with ``sent`` it may or may not exist.
        """
        path = f"/v2/agent/{_wire.segment('project_id', project_id)}/job"
        fields = {"prompt": _wire.checked_text("prompt", text)}
        answer = await self._send(_wire.Call(project_id, path, fields))
        return _wire.decode(answer, Job)

    async def get_job(self, project_id: str, job_id: str) -> Job:
        """Return a job's current state.

        Raises `NotFound` when the service does not know it.
        """
        project = _wire.segment("project_id", project_id)
        job = _wire.segment("job_id", job_id)
        path = f"/v2/agent/{project}/job/{job}"
        answer = await self._send(_wire.Call(project_id, path))
        return _wire.decode(answer, Job)

    async def send_follow_up(self, project_id: str, job_id: str, text: str) -> Job:
        """Send a further prompt to a job.

        The returned job may still show the state before the prompt.
        """
        project = _wire.segment("project_id", project_id)
        job = _wire.segment("job_id", job_id)
        fields = {"prompt": _wire.checked_text("prompt", text)}
        path = f"/v2/agent/{project}/job/{job}/message"
        answer = await self._send(_wire.Call(project_id, path, fields))
        return _wire.decode(answer, Job)

    async def create_preview(self, project_id: str, branch: str) -> PreviewBuild:
        """Ask for a preview of a branch, or its new build.

        The service takes five of these a minute. Its address is empty until `get_build` returns
        success. https://www.mintlify.com/docs/api/preview/trigger
        """
        fields = {"branch": _wire.checked_text("branch", branch)}
        path = f"/v1/project/preview/{_wire.segment('project_id', project_id)}"
        answer = await self._send(_wire.Call(project_id, path, fields))
        return _wire.decode(answer, PreviewBuild)

    async def get_build(self, project_id: str, status_id: str) -> Build:
        """Return how far a preview's build is.

        Raises `NotFound` when the service does not know it.

        https://www.mintlify.com/docs/api/update/status
        """
        path = f"/v1/project/update-status/{_wire.segment('status_id', status_id)}"
        answer = await self._send(_wire.Call(project_id, path))
        return _wire.decode(answer, Build)

    async def visitors(
        self,
        project_id: str,
        *,
        limit: int = _wire.MAX_PAGE_SIZE,
        offset: int = 0,
        **days: Unpack[Days],
    ) -> VisitorsPage:
        """Return one page of the unique visitors."""
        call = _wire.analytics(
            project_id, "visitors", limit=limit, most=_wire.MAX_PAGE_SIZE, offset=offset, **days
        )
        answer = await self._send(call)
        page = _wire.decode(answer, VisitorsPage)
        _check_rows(page.visitors, limit)
        return page

    async def views(
        self,
        project_id: str,
        *,
        limit: int = _wire.MAX_PAGE_SIZE,
        offset: int = 0,
        **days: Unpack[Days],
    ) -> ViewsPage:
        """Return one page of the views of content, which are events.

        https://www.mintlify.com/docs/api/analytics/views
        """
        call = _wire.analytics(
            project_id, "views", limit=limit, most=_wire.MAX_PAGE_SIZE, offset=offset, **days
        )
        answer = await self._send(call)
        page = _wire.decode(answer, ViewsPage)
        _check_rows(page.views, limit)
        return page

    async def searches(self, project_id: str, **selection: Unpack[RowSelection]) -> SearchesPage:
        """Return the most frequent searches.

        As the three calls below it reads one page only: the service has an hourly limit for all of
        them. https://www.mintlify.com/docs/api/analytics/searches
        """
        answer = await self._send(_wire.analytics(project_id, "searches", **selection))
        page = _wire.decode(answer, SearchesPage)
        _check_rows(page.searches, selection.get("limit", _wire.MAX_READERS_PAGE_SIZE))
        return page

    async def feedback_by_page(
        self, project_id: str, **selection: Unpack[RowSelection]
    ) -> FeedbackByPage:
        """Return how often pages were marked as helpful and not.

        The service names no order of the rows.

        https://www.mintlify.com/docs/api/analytics/feedback-by-page
        """
        answer = await self._send(_wire.analytics(project_id, "feedback/by-page", **selection))
        page = _wire.decode(answer, FeedbackByPage)
        _check_rows(page.feedback, selection.get("limit", _wire.MAX_READERS_PAGE_SIZE))
        return page

    async def feedback(self, project_id: str, **selection: Unpack[RowSelection]) -> FeedbackPage:
        """Return single votes and comments.

        https://www.mintlify.com/docs/api/analytics/feedback
        """
        answer = await self._send(_wire.analytics(project_id, "feedback", **selection))
        page = _wire.decode(answer, FeedbackPage)
        _check_rows(page.feedback, selection.get("limit", _wire.MAX_READERS_PAGE_SIZE))
        return page

    async def assistant(self, project_id: str, **selection: Unpack[RowSelection]) -> AssistantPage:
        """Return questions that readers asked the service's assistant.

        https://www.mintlify.com/docs/api/analytics/assistant-conversations
        """
        answer = await self._send(_wire.analytics(project_id, "assistant", **selection))
        page = _wire.decode(answer, AssistantPage)
        _check_rows(page.conversations, selection.get("limit", _wire.MAX_READERS_PAGE_SIZE))
        return page


class DocsClients(DocsClient):
    """A client for each project id.

    A call about any other project raises `NotConfigured`.
    """

    def __init__(self, clients: Mapping[str, DocsClient]) -> None:
        self._clients = dict(clients)

    def __repr__(self) -> str:
        return f"DocsClients({self._clients!r})"

    async def aclose(self) -> None:
        """Close the connections of all clients."""
        for client in self._clients.values():
            await client.aclose()

    async def _send(self, call: _wire.Call) -> _wire.Response:
        if call.project_id not in self._clients:
            raise NotConfigured("The project is not set up here", sent=False)
        return await self._clients[call.project_id]._send(call)


def _check_rows(rows: Sized, limit: int) -> None:
    if len(rows) > limit:
        raise Unavailable(f"The service answered with more rows than the {limit} asked for")


def _make_transport(proxy: str | None) -> httpx.AsyncBaseTransport:
    limits = httpx.Limits(keepalive_expiry=5.0)
    # Given none, httpx loads the known authorities again, in 30 ms and 1 MB. aiohttp uses its own.
    unused = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if proxy is None:
        return _Connections(verify=unused, limits=limits)
    return _ProxiedConnections(verify=unused, limits=limits, proxy=_make_proxy(proxy))


def _make_proxy(address: str) -> httpx.Proxy:
    try:
        proxy = httpx.Proxy(address)
    except (ValueError, httpx.InvalidURL):
        raise InvalidArgument("proxy must be the address of an HTTP proxy") from None
    if proxy.auth is None:
        return proxy
    # httpx-aiohttp passes credentials in a parameter that aiohttp has deprecated, so a header is
    # used.
    credentials = aiohttp.encode_basic_auth(*proxy.auth)
    return httpx.Proxy(proxy.url, headers={"Proxy-Authorization": credentials})


class _Connections(AiohttpTransport):
    """httpx-aiohttp's transport without cookies."""

    def get_client(self) -> aiohttp.ClientSession:
        # Not limited (0): a call that waited for a connection would seem not to reach the service.
        # Callers limit how many calls they make at once.
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=self.limits.keepalive_expiry or 5.0
        )
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


class _ProxiedConnections(_Connections):
    """The transport through a proxy, whose header it sends with every request."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # aiohttp sends proxy headers only to open a tunnel (https), not with a forwarded request
        # (http).
        if self.proxy is not None and request.url.scheme == "http":
            request.headers.update(self.proxy.headers)
        return await super().handle_async_request(request)


def _to_unavailable(error: Exception, secrets: tuple[str, ...]) -> Unavailable:
    # httpx-aiohttp raises ConnectTimeout for every lost connection, even one that broke after the
    # request was sent. Only aiohttp's error, its cause, differs between the two.
    # https://github.com/karpetrosyan/httpx-aiohttp/blob/main/httpx_aiohttp/transport.py
    root = error.__cause__ if isinstance(error.__cause__, aiohttp.ClientError) else error
    if isinstance(root, _NEVER_CONNECTED):
        problem = "The service cannot be reached"
    elif isinstance(root, httpx.TimeoutException | TimeoutError):
        problem = "The service did not answer in time"
    else:
        problem = "The connection to the service broke"
    text = _wire.clean_error(f"{problem}: {type(root).__name__} {root}", secrets)
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
