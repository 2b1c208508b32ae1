"""Reading what callers send: keys, bodies and query parameters, each wrong one refused with its reason."""

from __future__ import annotations

import hmac
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from aiohttp import web

from sandbox.docs_service.options import EXPIRED_KEY, READ_KEY, DocsServiceOptions
from sandbox.docs_service.refusals import RefusedError

DATE_PATTERN = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])?)?$"
)
"""ISO 8601 as the service takes it: a date, or a date with a time; without an offset it is UTC."""

_DATE = re.compile(DATE_PATTERN.removesuffix("$"))
_WHOLE = re.compile(r"-?[0-9]+")
_BIGGEST = 2**62


@dataclass(frozen=True)
class VisitorsQuery:
    """Which visitors are asked for; ends as seconds since 1970, half open, None for no end."""

    begin: float | None
    end: float | None
    limit: int
    offset: int


def check_key(request: web.Request, options: DocsServiceOptions, *, write: bool) -> None:
    """`RefusedError` 401 without a good key and 403 with one that may not do this."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key:
        raise _unauthorised("send an API key in the header Authorization: Bearer …")
    if _same(key, EXPIRED_KEY):
        raise _unauthorised("this API key has expired")
    if _same(key, options.api_key):
        return
    if not _same(key, READ_KEY):
        raise _unauthorised("this API key is not known")
    if write:
        raise RefusedError(403, "this API key lacks the scope write")


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), known.encode())


def _unauthorised(text: str) -> RefusedError:
    return RefusedError(401, text, {"WWW-Authenticate": "Bearer"})


async def read_json(request: web.Request) -> Any:
    """The body as JSON; `RefusedError` 415, 413 or 400."""
    if request.content_type != "application/json" or "Content-Type" not in request.headers:
        raise RefusedError(415, "send JSON with Content-Type: application/json")
    if (request.charset or "utf-8").lower() not in ("utf-8", "utf8"):
        raise RefusedError(415, "send JSON in UTF-8")
    try:
        raw = await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise RefusedError(413, "the body is too long") from error
    except web.RequestPayloadError as error:
        raise RefusedError(400, "the body cannot be read") from error
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise RefusedError(400, "the body is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "the body is not JSON") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def read_prompt(body: Any) -> str:
    """The body's prompt; `RefusedError` 400 when it is missing, no text, or empty."""
    if not isinstance(body, dict):
        raise RefusedError(400, "the body must be a JSON object")
    if "prompt" not in body:
        raise RefusedError(400, "prompt is required")
    prompt = body["prompt"]
    if not isinstance(prompt, str):
        raise RefusedError(400, "prompt must be a string")
    if not prompt:
        raise RefusedError(400, "prompt must have at least 1 character")
    try:
        prompt.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RefusedError(400, "prompt is not valid Unicode") from error
    return prompt


def read_visitors_query(request: web.Request) -> VisitorsQuery:
    """The query's window and page; `RefusedError` 400 naming the parameter that is wrong."""
    begin, end = _moment(request, "dateFrom"), _moment(request, "dateTo")
    if begin is not None and end is not None and begin >= end:
        raise RefusedError(400, "dateFrom must be before dateTo")
    limit = _whole(request, "limit", 50)
    offset = _whole(request, "offset", 0)
    if not 1 <= limit <= 250:
        raise RefusedError(400, "limit must be from 1 to 250")
    if offset < 0:
        raise RefusedError(400, "offset must be at least 0")
    return VisitorsQuery(begin, end, limit, offset)


def _single(request: web.Request, name: str) -> str | None:
    given = request.query.getall(name, [])
    if len(given) > 1:
        raise RefusedError(400, f"{name} is given more than once")
    return given[0] if given else None


def _whole(request: web.Request, name: str, default: int) -> int:
    text = _single(request, name)
    if text is None:
        return default
    if not _WHOLE.fullmatch(text):
        raise RefusedError(400, f"{name} must be a whole number")
    # SQLite counts to 2**63; nobody has that many rows, so more means the same. int() refuses very long text.
    return int(text) if len(text) <= 18 else (-1 if text.startswith("-") else _BIGGEST)


def _moment(request: web.Request, name: str) -> float | None:
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
