"""The OpenAPI document of the API."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from typing_extensions import is_typeddict

from sandbox.docs_service import wire
from sandbox.docs_service.options import BODY_LIMIT_BYTES, DocsServiceOptions

Json = dict[str, Any]
_BODIES = [one for one in vars(wire).values() if is_typeddict(one) or one in (wire.Prompt, wire.Branch)]


def document(address: str, options: DocsServiceOptions) -> Json:
    """Return the OpenAPI 3.1 document for a service at this address."""
    text = {"type": "string", "minLength": 1}
    project = _parameter("path", "projectId", "The project's id.", text) | {"example": options.projects[0]}
    job = [project, _parameter("path", "id", "The job's id.", text)]
    first, end = (
        {"type": "string", "pattern": wire.DATE_PATTERN, "examples": [day]}
        for day in ("2026-10-01", "2026-11-01")
    )
    number = {"type": "integer", "minimum": 1, "maximum": 999_999_999, "examples": [1]}
    pull = [
        _parameter("path", "owner", "Whose repository it is.", text) | {"example": "acme"},
        project,
        _parameter("path", "number", "The pull request's number.", number),
    ]
    rows = {"type": "integer", "minimum": 1, "maximum": wire.MOST_ROWS, "default": 50}
    period = [
        _parameter("query", "dateFrom", "The first day, or moment, of the window.", first),
        _parameter("query", "dateTo", "After dateFrom. Its whole day is left out, also with a time.", end),
    ]
    query = [
        *period,
        _parameter("query", "limit", "Rows on a page.", rows),
        _parameter("query", "offset", "Rows to skip.", {"type": "integer", "minimum": 0, "default": 0}),
    ]
    uses = f"The project's {options.uses_an_hour} uses of the last hour are used up."
    calls = f"The organisation's {options.analytics_calls_an_hour} calls of the last hour are used up."
    create = _operation(
        "createAgentJob", 201, "The job was created and runs.", "JobAnswer", uses, takes="Prompt"
    )
    send = _operation("sendFollowUp", 200, "The job is active again.", "JobAnswer", uses, takes="Prompt")
    visitors = _operation("getVisitors", 200, "Counts, for each page the most read first.", "Visitors", calls)
    previews = "Five previews were asked for in the last minute."
    preview = _operation("createPreview", 202, "It builds.", "PreviewAnswer", previews, takes="Branch")
    build = [_parameter("path", "statusId", "The build's id.", text)]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Agent jobs and visitor analytics", "version": "2.0.0"},
        "servers": [{"url": address}],
        "security": [{"adminKey": []}],
        "paths": {
            wire.JOBS_PATH: {"parameters": [project], "post": create},
            wire.JOB_PATH: {
                "parameters": job,
                "get": _operation("getAgentJob", 200, "The job.", "JobAnswer"),
            },
            wire.MESSAGE_PATH: {"parameters": job, "post": send},
            wire.VISITORS_PATH: {"parameters": [project], "get": visitors | {"parameters": query}},
            wire.PREVIEW_PATH: {"parameters": [project], "post": preview},
            wire.BUILD_PATH: {
                "parameters": build,
                "get": _operation("getBuild", 200, "The build.", "BuildAnswer"),
            },
            wire.PULL_PATH: {"parameters": pull, "get": _pull_operation()},
            **{
                one.path: {
                    "parameters": [project],
                    "get": _operation(name, 200, one.answer.__doc__, one.answer.__name__, calls)
                    | {"parameters": [*period, *_listing_parameters(one)]},
                }
                for name, one in wire.LISTINGS.items()
            },
        },
        "components": {
            "securitySchemes": {"adminKey": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
    }


def _schemas() -> Json:
    adapters: list[TypeAdapter[Any]] = [TypeAdapter(one) for one in _BODIES]
    wanted = [(number, "validation", adapter) for number, adapter in enumerate(adapters)]
    _, made = TypeAdapter.json_schemas(wanted, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    found: Json = made["$defs"]
    return found


def _listing_parameters(listing: wire.Listing) -> list[Json]:
    rows = {"type": "integer", "minimum": 1, "maximum": listing.most_rows, "default": listing.default_rows}
    found = [_parameter("query", "limit", "Rows on a page.", rows)]
    if listing.has_cursor:
        cursor = {"type": "string", "pattern": wire.CURSOR_PATTERN}
        found.append(_parameter("query", "cursor", "The page: nextCursor of the one before.", cursor))
    return found


def _parameter(where: str, name: str, about: str, schema: Json) -> Json:
    return {"name": name, "in": where, "required": where == "path", "description": about, "schema": schema}


def _content(schema: str) -> Json:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _pull_operation() -> Json:
    """Return GitHub's operation: a public repository may be read without a token."""
    refusals = {"401": "The token is not known.", "403": "The limit is reached.", "404": "There is none."}
    allow = {"headers": {"Allow": {"required": True, "schema": {"type": "string"}}}}
    responses: Json = {
        "200": {"description": "The pull request.", "content": _content("PullAnswer")},
        "304": {"description": "It is as it was when the ETag of If-None-Match was given."},
        "405": {"description": "The method is not possible here.", "content": _content("Error"), **allow},
    }
    for code, said in refusals.items():
        responses[code] = {"description": said, "content": _content("GithubError")}
    return {"operationId": "getPullRequest", "security": [], "responses": responses}


def _operation(name: str, status: int, about: str, answer: str, limit: str = "", *, takes: str = "") -> Json:
    """Return an operation with its refusals; `takes` its body, `limit` what its 429 says."""
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
    body = {"requestBody": {"required": True, "content": _content(takes)}} if takes else {}
    return {"operationId": name, "responses": responses, **body}
