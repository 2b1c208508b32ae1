"""The OpenAPI 3.1 document of the API."""

from __future__ import annotations

from typing import Any

from sandbox.docs_service.api import JOB_PATH, JOBS_PATH, MESSAGE_PATH, VISITORS_PATH
from sandbox.docs_service.inputs import DATE_PATTERN
from sandbox.docs_service.options import BODY_LIMIT_BYTES, DocsServiceOptions

Json = dict[str, Any]


def document(address: str, options: DocsServiceOptions) -> Json:
    """Return the document for a service at this address."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agent jobs and visitor analytics",
            "version": "2.0.0",
            "description": "An agent that works on documentation, and counts of who reads it.",
        },
        "servers": [{"url": address}],
        "security": [{"adminKey": []}],
        "paths": {
            JOBS_PATH: {"parameters": [_project(options)], "post": _create(options)},
            JOB_PATH: {"parameters": [_project(options), _JOB_ID], "get": _get()},
            MESSAGE_PATH: {"parameters": [_project(options), _JOB_ID], "post": _follow_up(options)},
            VISITORS_PATH: {"parameters": [_project(options)], "get": _visitors(options)},
        },
        "components": {
            "securitySchemes": {"adminKey": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Job": _JOB,
                "Prompt": _PROMPT,
                "Visitors": _VISITORS,
                "Counts": _COUNTS,
                "Error": _ERROR,
            },
        },
    }


def _project(options: DocsServiceOptions) -> Json:
    return {
        "name": "projectId",
        "in": "path",
        "required": True,
        "description": "The project's id.",
        "schema": {"type": "string", "minLength": 1},
        "example": options.projects[0],
    }


_JOB_ID: Json = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "The job's id.",
    "schema": {"type": "string", "minLength": 1},
}
_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string", "minLength": 1}},
}
_PROMPT: Json = {
    "type": "object",
    "required": ["prompt"],
    "properties": {
        "prompt": {"type": "string", "minLength": 1, "description": "The instruction for the agent."}
    },
}
_JOB: Json = {
    "type": "object",
    "required": ["id", "status", "source", "model", "prLink", "createdAt", "archivedAt"],
    "properties": {
        "id": {"type": "string"},
        "status": {"type": "string", "enum": ["active", "completed", "archived", "failed"]},
        "source": {
            "type": "object",
            "required": ["repository", "ref"],
            "properties": {
                "repository": {"type": "string", "format": "uri"},
                "ref": {"type": ["string", "null"], "description": "The branch that the agent works on."},
            },
        },
        "model": {"type": "string"},
        "prLink": {
            "type": ["string", "null"],
            "format": "uri",
            "description": "The pull request; null while the job is active and when no files were changed.",
        },
        "createdAt": {"type": "string", "format": "date-time"},
        "archivedAt": {"type": ["string", "null"], "format": "date-time"},
    },
}
_COUNT: Json = {"type": "integer", "minimum": 0}
_COUNTS: Json = {
    "type": "object",
    "required": ["human", "ai", "total"],
    "properties": {
        "human": _COUNT,
        "ai": _COUNT,
        "total": _COUNT | {"description": "Distinct over people and AI: not the sum of both."},
    },
}
_VISITORS: Json = {
    "type": "object",
    "required": ["totals", "visitors", "hasMore"],
    "properties": {
        "totals": {"$ref": "#/components/schemas/Counts"},
        "visitors": {
            "type": "array",
            "maxItems": 250,
            "items": {
                "type": "object",
                "required": ["path", "human", "ai", "total"],
                "properties": {"path": {"type": "string"}, "human": _COUNT, "ai": _COUNT, "total": _COUNT},
            },
        },
        "hasMore": {"type": "boolean"},
    },
}


def _json(schema: str) -> Json:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _ok(text: str, schema: str) -> Json:
    return {"description": text, "content": _json(schema)}


def _error(text: str, headers: Json | None = None) -> Json:
    return {"description": text, "content": _json("Error")} | ({"headers": headers} if headers else {})


def _header(text: str, schema: Json) -> Json:
    return {"description": text, "required": True, "schema": schema}


def _errors() -> Json:
    allow = _header("The methods of this path", {"type": "string"})
    challenge = _header("Bearer", {"type": "string"})
    return {
        "400": _error("The request is invalid; the text says what is wrong with it."),
        "401": _error("The key is missing, unknown or expired.", {"WWW-Authenticate": challenge}),
        "404": _error("There is no such project or job."),
        "405": _error("The method is not possible here.", {"Allow": allow}),
    }


def _limit(text: str) -> Json:
    schema = {"type": "integer", "minimum": 1}
    return {"429": _error(text, {"Retry-After": _header("Seconds until the next is possible", schema)})}


def _write_errors(options: DocsServiceOptions) -> Json:
    return {
        **_errors(),
        "403": _error("The key lacks the scope write."),
        "413": _error(f"The body is longer than {BODY_LIMIT_BYTES} bytes."),
        "415": _error("The body is not application/json in UTF-8."),
        **_limit(f"The project's {options.uses_an_hour} uses of the last hour are used up."),
    }


def _body() -> Json:
    return {"required": True, "content": _json("Prompt")}


def _create(options: DocsServiceOptions) -> Json:
    return {
        "operationId": "createAgentJob",
        "summary": "Create agent job",
        "requestBody": _body(),
        "responses": {"201": _ok("The job was created and runs.", "Job"), **_write_errors(options)},
    }


def _get() -> Json:
    return {
        "operationId": "getAgentJob",
        "summary": "Get agent job",
        "responses": {"200": _ok("The job.", "Job"), **_errors()},
    }


def _follow_up(options: DocsServiceOptions) -> Json:
    responses = {
        "200": _ok("The message was sent; the job is active again.", "Job"),
        **_write_errors(options),
    }
    responses["400"] = _error("The request is invalid, or the job is archived and takes no more messages.")
    return {
        "operationId": "sendFollowUp",
        "summary": "Send follow-up message",
        "requestBody": _body(),
        "responses": responses,
    }


def _query(name: str, text: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "required": False, "description": text, "schema": schema}


def _visitors(options: DocsServiceOptions) -> Json:
    day: Json = {"type": "string", "pattern": DATE_PATTERN}
    first, end = day | {"examples": ["2026-10-01"]}, day | {"examples": ["2026-11-01"]}
    return {
        "operationId": "getVisitors",
        "summary": "Get unique visitors",
        "description": "Without dateFrom from the first visit on, without dateTo up to now; days are UTC.",
        "parameters": [
            _query("dateFrom", "The first day, or moment, of the window.", first),
            _query("dateTo", "After dateFrom. Its whole day is left out, also when it has a time.", end),
            _query(
                "limit", "Rows on a page.", {"type": "integer", "minimum": 1, "maximum": 250, "default": 50}
            ),
            _query("offset", "Rows to skip.", {"type": "integer", "minimum": 0, "default": 0}),
        ],
        "responses": {
            "200": _ok("Counts for the whole site and for each page, most read first.", "Visitors"),
            **_errors(),
            **_limit(
                f"The organisation's {options.analytics_calls_an_hour} calls of the last hour are used up."
            ),
        },
    }
