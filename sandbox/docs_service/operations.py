"""Operations of the API: route, checks, faults, log and OpenAPI page follow from a declaration."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import inspect
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, get_type_hints

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from pydantic import BaseModel

from sandbox.docs_service.direct import DirectRequest
from sandbox.docs_service.options import GITHUB_TOKEN, DocsServiceOptions
from sandbox.docs_service.wire import RefusedError, read_body, read_query
from sandbox.faults import Faults, Order, bad_gateway, drop_connection

log = logging.getLogger(__name__)

FAULTS: Mapping[str, str] = {
    "500": "answers 500 with a JSON error; nothing is done",
    "502_html": "answers 502 with a page of HTML, as a proxy does; nothing is done",
    "429": "answers 429 with Retry-After (seconds, 30 unless told)",
    "429_no_header": "answers 429 without Retry-After",
    "401": "answers 401, as for an expired key",
    "403": "answers 403, as for a key without the scope",
    "404": "answers 404, as for an unknown job",
    "timeout": "holds the request (seconds, 60 unless told), then closes it; nothing is done",
    "lost_answer": "carries the request out, then closes the connection without an answer",
    "slow": "waits (seconds, 5 unless told), then does as usual",
    "stale_status": "answers with the job as it was before its latest change",
    "odd_status": 'answers with a status that is in no document (value, "paused" unless told)',
    "bad_pr_link": "answers with a prLink that is no web address (value to choose it)",
    "broken_build": "begins the build of a preview that will fail",
    "broken_json": "carries the request out and answers with half of the JSON",
    "cut_answer": "carries the request out, sends half of the answer, then closes the connection",
    "never_live": "answers from the docs as they were before any merge, as if none had been deployed",
    "finds_nothing": "answers a search without a result",
    "error_part": "ends the assistant's stream in its middle with an error",
}
_PREFIXES = ("/v1/", "/v2/", "/api/v3/", "/discovery/")
EVENTS = "text/event-stream"
_EVENT_SECONDS = 0.01
"""The pause after an event of a stream."""


@dataclass
class LoggedRequest:
    """One request, filled in while it is handled. A status of None means that no response was sent."""

    at: str
    method: str
    path: str
    status: int | None = None
    operation: str | None = None
    project: str | None = None
    job_id: str | None = None
    prompt_sha256: str | None = None
    fault: str | None = None

    def note_prompt(self, prompt: str) -> None:
        """Keep a hash of the prompt, and not the prompt."""
        self.prompt_sha256 = hashlib.sha256(prompt.encode()).hexdigest()


LOG_ENTRY: web.RequestKey[LoggedRequest] = web.RequestKey("log_entry", LoggedRequest)
HEADERS: web.RequestKey[Mapping[str, str]] = web.RequestKey("headers", Mapping)
"""Headers that an operation adds to its answer."""
STALE: web.RequestKey[Mapping[str, Any]] = web.RequestKey("stale", Mapping)
"""The answer before the job's latest change."""


Answering = Callable[..., Awaitable[Mapping[str, Any] | Sequence[Any] | str]]


@dataclass(frozen=True)
class Operation:
    """An operation of the API.

    The parameter `body` or `query` of its handler is read by its type, and the handler's result has the
    type of the answer; its docstring describes it. An answer of type `str` is a stream of events. `limit`
    describes a 429. An operation of GitHub's API takes GitHub's token or none.
    """

    name: str
    method: str
    path: str
    handler: Answering
    status: int = 200
    limit: str = ""
    key: Literal["admin", "assistant", "github"] = "admin"

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """Return the types of `body` or `query`, and of `return`."""
        return get_type_hints(self.handler)

    @property
    def about(self) -> str:
        """Return the description of the answer."""
        return (inspect.getdoc(self.handler) or "").partition("\n")[0]

    async def carry_out(
        self, request: web.Request, scripted: Answering | None = None
    ) -> web.Response:
        """Read the request's fields, and answer it; `scripted` is called in place of the handler."""
        parameters: dict[str, BaseModel] = {}
        if "body" in self.types:
            parameters["body"] = await read_body(request, self.types["body"])
        if "query" in self.types:
            parameters["query"] = read_query(request, self.types["query"])
        answer = await (scripted or self.handler)(request, **parameters)
        if isinstance(answer, str):
            return web.Response(text=answer, content_type=EVENTS)
        return web.json_response(answer, status=self.status, headers=request.get(HEADERS))


class Operations:
    """Serves operations: checks keys and projects, injects faults, and logs each request."""

    def __init__(
        self, options: DocsServiceOptions, clock: Callable[[], datetime], all_: Sequence[Operation]
    ) -> None:
        self.all = all_
        self.faults = Faults([one.name for one in all_], FAULTS)
        self.log: list[dict[str, Any]] = []
        self.scripted: dict[str, Answering] = {}
        """Handlers in place of those of operations, by name; the checks before them stay."""
        self._direct = web.UrlDispatcher()
        self._options = options
        self._clock = clock

    def add_to(self, app: web.Application) -> None:
        """Add the routes of the operations, and the middleware that logs."""
        app.middlewares.append(self._log)
        for one in self.all:
            app.router.add_route(one.method, one.path, self._handler(one))

    async def answer(self, request: DirectRequest) -> web.Response:
        """Answer a request that comes without a server. Raise `ConnectionError` for a dropped one."""
        if not self._direct.routes():
            for one in self.all:
                self._direct.add_route(one.method, one.path, self._handler(one))
        found = await self._direct.resolve(request)
        request.route(found)
        response = await self._logged(request, found.handler)
        if request.is_dropped or not isinstance(response, web.Response):
            raise ConnectionResetError("the service closed the connection")
        return response

    def _handler(self, operation: Operation) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            entry, asked = request[LOG_ENTRY], request.match_info
            entry.operation, entry.project, entry.job_id = (
                operation.name,
                asked.get("projectId"),
                asked.get("id"),
            )
            fault = self.faults.take(operation.name)
            entry.fault = fault.fault if fault else None

            async def carry_out() -> web.Response:
                check_token(request) if operation.key == "github" else self._check_key(
                    request, operation
                )
                return await operation.carry_out(request, self.scripted.get(operation.name))

            response = (
                await carry_out() if fault is None else await _with_fault(fault, request, carry_out)
            )
            is_cut = fault is not None and fault.fault == "cut_answer"
            return (
                await _stream(request, response, is_cut)
                if is_cut or _is_stream(response)
                else response
            )

        return handle

    def _check_key(self, request: web.Request, operation: Operation) -> None:
        """Raise `RefusedError` 401 without the operation's key, and 404 for another project or domain."""
        is_admin = operation.key == "admin"
        known_keys = self._options.admin_keys if is_admin else (self._options.assistant_key,)
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        given_key = key.strip().encode("utf-8", "surrogateescape")
        is_known = any(hmac.compare_digest(given_key, known.encode()) for known in known_keys)
        if scheme.lower() != "bearer" or not is_known:
            problem = "the API key is missing or not known: Authorization: Bearer …"
            raise RefusedError(401, problem, {"WWW-Authenticate": "Bearer"})
        if request.match_info.get("projectId", self._options.project) not in self._options.projects:
            raise RefusedError(404, "there is no such project")
        if request.match_info.get("domain", self._options.domain) != self._options.domain:
            raise NotPublished("there is no such domain")

    @property
    def _log(self) -> Middleware:
        @web.middleware
        async def keep(request: web.Request, handler: Handler) -> web.StreamResponse:
            if not request.path.startswith(_PREFIXES):
                return await handler(request)
            return await self._logged(request, handler)

        return keep

    async def _logged(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        entry = request[LOG_ENTRY] = LoggedRequest(
            self._clock().isoformat(), request.method, request.path
        )
        response = await _response_or_error(request, handler)
        entry.status = None if entry.fault == "timeout" else response.status
        self.log.append(asdict(entry))
        return response


async def _response_or_error(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except RefusedError as refused:
        return refused.response()
    except web.HTTPMethodNotAllowed as error:
        headers = {"Allow": ", ".join(sorted(error.allowed_methods))}
        return RefusedError(405, f"{request.method} is not possible here", headers).response()
    except web.HTTPNotFound:
        return RefusedError(404, "there is nothing at this path").response()
    except Exception:
        log.exception("the docs service failed at a request")
        return RefusedError(500, "internal error").response()


async def _with_fault(
    order: Order, request: web.Request, carry_out: Callable[[], Awaitable[web.Response]]
) -> web.Response:
    """Answer as the order of the fault demands. Raise `RefusedError` for a fault that is a refusal."""
    match order.fault:
        case "502_html":
            return bad_gateway()
        case "429":
            wait_seconds = 30 if order.seconds is None else order.seconds
            raise RefusedError(429, "limit is reached", {"Retry-After": f"{wait_seconds:g}"})
        case "500" | "429_no_header" | "401" | "403" | "404" as status:
            about = {"WWW-Authenticate": "Bearer"} if status == "401" else {}
            raise RefusedError(int(status[:3]), "this was ordered as a fault", about)
        case "timeout":
            await asyncio.sleep(60 if order.seconds is None else order.seconds)
            return drop_connection(request)
        case "slow":
            await asyncio.sleep(5 if order.seconds is None else order.seconds)
    response = await carry_out()
    if order.fault == "lost_answer":
        return drop_connection(request, response.status)
    changes: Mapping[str, Mapping[str, Any]] = {
        "stale_status": request.get(STALE, {}),
        "odd_status": {"status": order.value or "paused"},
        "bad_pr_link": {"prLink": order.value or "javascript:alert(1)//not a link|>"},
    }
    text = response.text or ""
    if order.fault in changes and response.content_type == "application/json":
        answer = json.loads(text)
        # A list of passages has no fields.
        if isinstance(answer, dict):
            text = json.dumps({**answer, **changes[order.fault]})
    half = text[: len(text) // 2] if order.fault == "broken_json" else text
    headers, kind = request.get(HEADERS), response.content_type
    return web.Response(status=response.status, text=half, content_type=kind, headers=headers)


def _is_stream(response: web.Response) -> bool:
    return response.content_type == EVENTS


async def _stream(request: web.Request, whole: web.Response, is_cut: bool) -> web.StreamResponse:
    """Send an answer event by event; close the connection after half of it if it is cut."""
    if isinstance(request, DirectRequest):
        return drop_connection(request) if is_cut else whole
    text = whole.text or ""
    stream = web.StreamResponse(
        status=whole.status, headers={"Content-Type": whole.headers["Content-Type"]}
    )
    with suppress(ConnectionResetError):  # the caller has left
        await stream.prepare(request)
        for event in re.split(r"(?<=\n\n)", text[: len(text) // 2] if is_cut else text):
            await stream.write(event.encode())
            await asyncio.sleep(_EVENT_SECONDS)
    if is_cut:
        drop_connection(request)
    return stream


class NotPublished(RefusedError):
    """A refusal of the discovery API: there is no such domain or page."""

    def __init__(self, text: str) -> None:
        super().__init__(404, text)

    def response(self) -> web.Response:
        """Return the error as a JSON response."""
        return web.json_response({"message": self.text}, status=self.status)


def check_token(request: web.Request) -> bool:
    """Return whether GitHub's token came along. Raise `GithubRefused` for another one."""
    sent = request.headers.get("Authorization", "")
    if sent and not hmac.compare_digest(
        sent.encode("utf-8", "replace"), f"Bearer {GITHUB_TOKEN}".encode()
    ):
        raise GithubRefused(401, "Bad credentials")
    return bool(sent)


class GithubRefused(RefusedError):
    """A refusal in GitHub's form."""

    def response(self) -> web.Response:
        """Return the error as a JSON response."""
        more = {"documentation_url": "https://docs.github.com/rest", "status": str(self.status)}
        return web.json_response(
            {"message": self.text, **more}, status=self.status, headers=self.headers
        )
