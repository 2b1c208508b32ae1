"""The wire of the API: what callers send and get, errors, and the OpenAPI document of it all."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from aiohttp import web
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from sandbox.docs_service.options import BODY_LIMIT_BYTES, EXPIRED_KEY, READ_KEY, DocsServiceOptions

JOBS_PATH = "/v2/agent/{projectId}/job"
JOB_PATH = "/v2/agent/{projectId}/job/{id}"
MESSAGE_PATH = "/v2/agent/{projectId}/job/{id}/message"
VISITORS_PATH = "/v1/analytics/{projectId}/visitors"
DATE_PATTERN = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])?)?$"
)
"""The accepted ISO 8601 forms: a date, or a date with a time; UTC unless an offset is given."""

_DATE = re.compile(DATE_PATTERN.removesuffix("$"))
_INTEGER = re.compile(r"-?[0-9]+")
_MAX_INTEGER = 2**62
_DAY_SECONDS = 86_400
_MOST_ROWS = 250

Json = dict[str, Any]
Count = Annotated[int, Field(ge=0)]
Url = Annotated[str, Field(json_schema_extra={"format": "uri"})]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class RefusedError(Exception):
    """The request is rejected with this status and `{"error": text}`; it has no effect."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = dict(headers or {})

    def response(self) -> web.Response:
        """Return the error as a JSON response."""
        return web.json_response({"error": self.text}, status=self.status, headers=self.headers)


# The bodies. The OpenAPI document has their schemas.


class Error(TypedDict):
    """The body of each refusal."""

    error: Annotated[str, Field(min_length=1)]


class Prompt(BaseModel):
    """The body of a new job and of a follow-up."""

    prompt: Annotated[str, Field(min_length=1, description="The instruction for the agent.")]


class Source(TypedDict):
    """Where the agent works."""

    repository: Url
    ref: Annotated[str | None, Field(description="The branch that the agent works on.")]


class JobAnswer(TypedDict):
    """A job."""

    id: str
    status: Annotated[str, Field(json_schema_extra={"enum": ["active", "completed", "archived", "failed"]})]
    source: Source
    model: str
    prLink: Annotated[
        Url | None, Field(description="The pull request; null while the job is active and without changes.")
    ]
    createdAt: Moment
    archivedAt: Moment | None


class Counts(TypedDict):
    """Distinct visitors. `total` is distinct over people and AI, so it is not the sum of both."""

    human: Count
    ai: Count
    total: Count


class PageCounts(Counts):
    """The distinct visitors of one page."""

    path: str


class Visitors(TypedDict):
    """The counts of a period: for the whole site, and for one page of the list of pages."""

    totals: Counts
    visitors: Annotated[list[PageCounts], Field(max_length=_MOST_ROWS)]
    hasMore: bool


@dataclass(frozen=True)
class VisitorsQuery:
    """A query for visitors; its period is half open, in Unix seconds, and unbounded where None."""

    begin: float | None
    end: float | None
    limit: int
    offset: int


# Reading requests


def check_key(request: web.Request, options: DocsServiceOptions, *, write: bool) -> None:
    """Raise `RefusedError` 401 without a valid key, and 403 if the key lacks the scope."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")

    def is_key(known: str) -> bool:
        return hmac.compare_digest(key.strip().encode("utf-8", "surrogateescape"), known.encode())

    if scheme.lower() == "bearer" and is_key(options.api_key):
        return
    if scheme.lower() != "bearer" or not is_key(READ_KEY):
        what = "has expired" if is_key(EXPIRED_KEY) else "is missing or not known"
        raise RefusedError(
            401, f"the API key {what}: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"}
        )
    if write:
        raise RefusedError(403, "this API key lacks the scope write")


async def read_prompt(request: web.Request) -> str:
    """Return the prompt of a JSON body; raise `RefusedError` 415, 413 or 400."""
    charset = (request.charset or "utf-8").lower()
    if "Content-Type" not in request.headers or request.content_type != "application/json":
        raise RefusedError(415, "send JSON with Content-Type: application/json")
    if charset not in ("utf-8", "utf8"):
        raise RefusedError(415, "send JSON in UTF-8")
    try:
        return Prompt.model_validate_json(await request.read(), strict=True).prompt
    except web.HTTPRequestEntityTooLarge as error:
        raise RefusedError(413, "the body is too long") from error
    except (web.RequestPayloadError, ConnectionError) as error:  # the sender may have gone in its middle
        raise RefusedError(400, "the body cannot be read") from error
    except ValidationError as error:
        raise RefusedError(400, said_of(error)) from error


def said_of(error: ValidationError) -> str:
    """Return where the first mistake is and what is wrong, without what was sent."""
    first = error.errors(include_input=False, include_url=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))


def read_visitors_query(request: web.Request) -> VisitorsQuery:
    """Return the query for visitors; raise `RefusedError` 400 that names the invalid parameter.

    The period ends before the UTC day of dateTo, also when dateTo has a time.
    """
    begin, end = _timestamp(request, "dateFrom"), _timestamp(request, "dateTo")
    if begin is not None and end is not None and begin >= end:
        raise RefusedError(400, "dateFrom must be before dateTo")
    end = None if end is None else end - end % _DAY_SECONDS
    limit = _integer(request, "limit", 50)
    offset = _integer(request, "offset", 0)
    if not 1 <= limit <= _MOST_ROWS:
        raise RefusedError(400, f"limit must be from 1 to {_MOST_ROWS}")
    if offset < 0:
        raise RefusedError(400, "offset must be at least 0")
    return VisitorsQuery(begin, end, limit, offset)


def _single(request: web.Request, name: str) -> str | None:
    given = request.query.getall(name, [])
    if len(given) > 1:
        raise RefusedError(400, f"{name} is given more than once")
    return given[0] if given else None


def _integer(request: web.Request, name: str, default: int) -> int:
    text = _single(request, name)
    if text is None:
        return default
    if not _INTEGER.fullmatch(text):
        raise RefusedError(400, f"{name} must be a whole number")
    # SQLite integers end at 2**63 and int() refuses very long text, so clamp: no site has that many rows.
    return int(text) if len(text) <= 18 else (-1 if text.startswith("-") else _MAX_INTEGER)


def _timestamp(request: web.Request, name: str) -> float | None:
    text = _single(request, name)
    if text is None:
        return None
    try:
        if not _DATE.fullmatch(text):
            raise ValueError(text)
        at = datetime.fromisoformat(text.upper())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise RefusedError(400, f"{name} must be a date such as 2026-10-01") from error


# The OpenAPI document


def document(address: str, options: DocsServiceOptions) -> Json:
    """Return the OpenAPI 3.1 document for a service at this address."""
    text = {"type": "string", "minLength": 1}
    project = _parameter("path", "projectId", "The project's id.", text) | {"example": options.projects[0]}
    job = [project, _parameter("path", "id", "The job's id.", text)]
    first, end = (
        {"type": "string", "pattern": DATE_PATTERN, "examples": [day]} for day in ("2026-10-01", "2026-11-01")
    )
    rows = {"type": "integer", "minimum": 1, "maximum": _MOST_ROWS, "default": 50}
    query = [
        _parameter("query", "dateFrom", "The first day, or moment, of the window.", first),
        _parameter("query", "dateTo", "After dateFrom. Its whole day is left out, also with a time.", end),
        _parameter("query", "limit", "Rows on a page.", rows),
        _parameter("query", "offset", "Rows to skip.", {"type": "integer", "minimum": 0, "default": 0}),
    ]
    uses = f"The project's {options.uses_an_hour} uses of the last hour are used up."
    calls = f"The organisation's {options.analytics_calls_an_hour} calls of the last hour are used up."
    create = _operation("createAgentJob", 201, "The job was created and runs.", "JobAnswer", uses, takes=True)
    send = _operation("sendFollowUp", 200, "The job is active again.", "JobAnswer", uses, takes=True)
    visitors = _operation("getVisitors", 200, "Counts, for each page the most read first.", "Visitors", calls)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Agent jobs and visitor analytics", "version": "2.0.0"},
        "servers": [{"url": address}],
        "security": [{"adminKey": []}],
        "paths": {
            JOBS_PATH: {"parameters": [project], "post": create},
            JOB_PATH: {"parameters": job, "get": _operation("getAgentJob", 200, "The job.", "JobAnswer")},
            MESSAGE_PATH: {"parameters": job, "post": send},
            VISITORS_PATH: {"parameters": [project], "get": visitors | {"parameters": query}},
        },
        "components": {
            "securitySchemes": {"adminKey": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
    }


def _schemas() -> Json:
    adapters: list[TypeAdapter[Any]] = [TypeAdapter(one) for one in (Error, Prompt, JobAnswer, Visitors)]
    wanted = [(number, "validation", adapter) for number, adapter in enumerate(adapters)]
    _, made = TypeAdapter.json_schemas(wanted, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    found: Json = made["$defs"]
    return found


def _parameter(where: str, name: str, about: str, schema: Json) -> Json:
    return {"name": name, "in": where, "required": where == "path", "description": about, "schema": schema}


def _content(schema: str) -> Json:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _operation(
    name: str, status: int, about: str, answer: str, limit: str = "", *, takes: bool = False
) -> Json:
    """Return an operation with its refusals; `takes` whether it takes a prompt, `limit` what its 429 says."""
    errors = {
        "400": ("The request is invalid, or the job takes no more messages.", ""),
        "401": ("The key is missing, unknown or expired.", "WWW-Authenticate"),
        "404": ("There is no such project or job.", ""),
        "405": ("The method is not possible here.", "Allow"),
    }
    if limit:
        errors["429"] = (limit, "Retry-After")
    if takes:
        errors["403"] = ("The key lacks the scope write.", "")
        errors["413"] = (f"The body is longer than {BODY_LIMIT_BYTES} bytes.", "")
        errors["415"] = ("The body is not application/json in UTF-8.", "")
    responses: Json = {str(status): {"description": about, "content": _content(answer)}}
    for code, (said, header) in errors.items():
        kind = {"type": "integer", "minimum": 1} if header == "Retry-After" else {"type": "string"}
        headers = {"headers": {header: {"required": True, "schema": kind}}} if header else {}
        responses[code] = {"description": said, "content": _content("Error"), **headers}
    body = {"requestBody": {"required": True, "content": _content("Prompt")}} if takes else {}
    return {"operationId": name, "responses": responses, **body}
