"""Read and check what callers send: API keys, request bodies and query parameters."""

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
"""The accepted ISO 8601 forms: a date, or a date with a time; UTC unless an offset is given."""

_DATE = re.compile(DATE_PATTERN.removesuffix("$"))
_INTEGER = re.compile(r"-?[0-9]+")
_MAX_INTEGER = 2**62
_DAY_SECONDS = 86_400


@dataclass(frozen=True)
class VisitorsQuery:
    """A query for visitors; its period is half open, in Unix seconds, and unbounded where None."""

    begin: float | None
    end: float | None
    limit: int
    offset: int


def check_key(request: web.Request, options: DocsServiceOptions, *, write: bool) -> None:
    """Raise `RefusedError` 401 without a valid key, and 403 if the key lacks the scope."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key:
        raise _unauthorised("send an API key in the header Authorization: Bearer …")
    if _keys_equal(key, EXPIRED_KEY):
        raise _unauthorised("this API key has expired")
    if _keys_equal(key, options.api_key):
        return
    if not _keys_equal(key, READ_KEY):
        raise _unauthorised("this API key is not known")
    if write:
        raise RefusedError(403, "this API key lacks the scope write")


def _keys_equal(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), known.encode())


def _unauthorised(text: str) -> RefusedError:
    return RefusedError(401, text, {"WWW-Authenticate": "Bearer"})


async def read_json(request: web.Request) -> Any:
    """Return the body as JSON; raise `RefusedError` 415, 413 or 400."""
    if request.content_type != "application/json" or "Content-Type" not in request.headers:
        raise RefusedError(415, "send JSON with Content-Type: application/json")
    if (request.charset or "utf-8").lower() not in ("utf-8", "utf8"):
        raise RefusedError(415, "send JSON in UTF-8")
    try:
        raw = await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise RefusedError(413, "the body is too long") from error
    except (web.RequestPayloadError, ConnectionError) as error:  # the sender may have gone in its middle
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
    """Return the prompt of a body; raise `RefusedError` 400 if it is missing, empty or not a string."""
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
    """Return the query for visitors; raise `RefusedError` 400 that names the invalid parameter.

    The period ends before the UTC day of dateTo, also when dateTo has a time.
    """
    begin, end = _timestamp(request, "dateFrom"), _timestamp(request, "dateTo")
    if begin is not None and end is not None and begin >= end:
        raise RefusedError(400, "dateFrom must be before dateTo")
    end = None if end is None else end - end % _DAY_SECONDS
    limit = _integer(request, "limit", 50)
    offset = _integer(request, "offset", 0)
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
