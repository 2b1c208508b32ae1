"""The docs service's wire format without I/O: building requests and decoding responses."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import quote, urlencode

import httpx
from pydantic import BaseModel, SecretStr, ValidationError

from bot.docs_api.errors import (
    DocsApiError,
    Forbidden,
    InvalidArgument,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    Unavailable,
)
from bot.docs_api.models import MAX_ID_LENGTH, PageText

MAX_TEXT_LENGTH = 500
MAX_PAGE_SIZE = 250
MAX_READERS_PAGE_SIZE = 100
"""Upper limit for the rows of searches, feedback and questions that one call returns."""
MAX_RETRY_AFTER_SECONDS = 3_600.0
"""Upper limit for a `Retry-After`.

The service's limits are hourly, so a longer wait must be a mistake.
"""

MAX_LIST_BYTES = 1_000_000
"""Bytes of a list that are parsed, which keeps the loop for a hundredth of a second."""
_MAX_READ_LENGTH = 4 * MAX_TEXT_LENGTH
"""Characters of a text from the service that are read for an error."""
_SECRET_HEAD_CHARACTERS = 8
"""How many first characters identify a secret.

A shorter field is ordinary words, and not hidden.
"""

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call:
    """One request about a project.

    With fields it is a POST of these, otherwise a GET.

    ``path`` follows the base URL. No error repeats a field.
    """

    project_id: str
    path: str
    fields: Mapping[str, object] = field(default_factory=dict, repr=False)
    accept: str = "application/json"
    quoted: tuple[str, ...] = field(default=(), repr=False)
    """Further texts of people in the fields."""


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response, read completely and decompressed."""

    status_code: int
    headers: httpx.Headers = field(repr=False)
    body: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """The key and people's texts of the request, which no error repeats."""

    @property
    def has_texts_of_people(self) -> bool:
        """Return whether the request had texts of people, which the service may quote."""
        return len(self.secrets) > 1

    @property
    def is_json(self) -> bool:
        """Return whether the body is JSON by its type or its beginning.

        JSON of an object or a list is meant.
        """
        is_named = "json" in self.headers.get("content-type", "").lower()
        return is_named or self.body.lstrip()[:1] in (b"{", b"[")

    @property
    def is_web_page(self) -> bool:
        """Return whether the body is HTML."""
        is_named = "html" in self.headers.get("content-type", "").lower()
        return is_named or self.body.lstrip()[:1] == b"<"


# ---- requests


def checked_base_url(base_url: str) -> str:
    """Return the address without trailing slashes.

    Raises InvalidArgument unless it is a plain http(s) address. The error text does not quote the
    address, which may contain a password.
    """
    try:
        url = httpx.URL(base_url.strip())
        url.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError):
        raise InvalidArgument(
            "base_url is not an address that can be called, or too long a one"
        ) from None
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidArgument("base_url must begin with http:// or https:// and name a host")
    if url.userinfo or re.search(r"[?#\s\\]", base_url.strip()):
        raise InvalidArgument(
            "base_url must not hold a user, a password, a query, a fragment or blanks"
        )
    return str(url).rstrip("/")


def checked_key(api_key: SecretStr) -> SecretStr:
    """Return the key.

    Raises InvalidArgument, without quoting it, if it cannot be sent in a header.
    """
    if not re.fullmatch(r"[!-~]+", api_key.get_secret_value()):
        raise InvalidArgument("api_key must be printable ASCII without blanks or line ends")
    return api_key


def analytics(
    project_id: str,
    topic: str,
    *,
    date_from: date | None = None,
    date_to: date | None = None,
    limit: int = MAX_READERS_PAGE_SIZE,
    most: int = MAX_READERS_PAGE_SIZE,
    offset: int | None = None,
) -> Call:
    """Return the request for a page of analytics.

    The day of ``date_to`` is excluded.
    """
    if date_from is not None and date_to is not None and date_to <= date_from:
        raise InvalidArgument("date_to must be on a day after date_from: its whole day is left out")
    if not 1 <= limit <= most:
        raise InvalidArgument(f"limit must be from 1 to {most}")
    if offset is not None and offset < 0:
        raise InvalidArgument("offset must not be negative")
    parameters = {"dateFrom": date_from, "dateTo": date_to, "limit": limit, "offset": offset}
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return Call(project_id, f"/v1/analytics/{segment('project_id', project_id)}/{topic}?{query}")


def segment(name: str, raw: str) -> str:
    """Return a text as one segment of a path."""
    # Dots cannot be escaped: URL parsers resolve "%2E%2E" in the same way as "..".
    # https://url.spec.whatwg.org/#double-dot-path-segment
    if raw.strip() in ("", ".", "..") or len(raw) > MAX_ID_LENGTH:
        raise InvalidArgument(
            f"{name} must not be empty, made of dots, or longer than {MAX_ID_LENGTH}"
        )
    return quote(checked_text(name, raw), safe="", encoding="utf-8")


def checked_text(name: str, raw: str) -> str:
    """Return a text. Raises InvalidArgument if it is empty, or no Unicode."""
    if not raw.strip():
        raise InvalidArgument(f"{name} must not be empty")
    if any("\ud800" <= char <= "\udfff" for char in raw):
        raise InvalidArgument(f"{name} holds half a surrogate pair, which is no text")
    return raw


# ---- responses


def decode(answer: Response, model: type[ModelT]) -> ModelT:
    """Return a successful response as ``model``.

    Raises Unavailable if it is something else.
    """
    try:
        return model.model_validate(json.loads(answer.body))
    except ValidationError as wrong:
        fields = sorted({str(problem["loc"][0]) for problem in wrong.errors() if problem["loc"]})
        places = ", ".join(fields) or "all"
        text = f"The service's answer has not the expected shape: {places}"
    except (ValueError, RecursionError):
        text = f"The service answered with {_describe_content(answer)} instead of JSON"
    raise Unavailable(clean_error(text, answer.secrets), status_code=answer.status_code)


def decode_page(answer: Response) -> str:
    """Return the text of a page. Raises Unavailable for an answer that is too long or no page."""
    if len(answer.body) > MAX_LIST_BYTES:
        text = f"The service answered with more than {MAX_LIST_BYTES} bytes"
        raise Unavailable(text, status_code=answer.status_code)
    return decode(answer, PageText).content


def decode_list(answer: Response, model: type[ModelT], limit: int) -> tuple[ModelT, ...]:
    """Return up to ``limit`` elements of a successful response that are valid for ``model``.

    Raises Unavailable if the body is no list, or all of its elements are invalid.
    """
    if len(answer.body) > MAX_LIST_BYTES:
        text = f"The service answered with more than {MAX_LIST_BYTES} bytes"
        raise Unavailable(text, status_code=answer.status_code)
    try:
        elements = json.loads(answer.body)
    except (ValueError, RecursionError):
        text = f"The service answered with {_describe_content(answer)} instead of JSON"
        raise Unavailable(text, status_code=answer.status_code) from None
    found: list[ModelT] = []
    for element in elements[:MAX_PAGE_SIZE] if isinstance(elements, list) else ():
        if len(found) == limit:
            break
        with suppress(ValidationError):
            found.append(model.model_validate(element))
    if not isinstance(elements, list) or (elements and not found):
        text = "The service's answer has not the expected shape: all"
        raise Unavailable(text, status_code=answer.status_code)
    return tuple(found)


def error_of(answer: Response, now: datetime) -> DocsApiError:
    """Return the error of an unsuccessful response.

    ``now``: for a `Retry-After` with a date.
    """
    status_code = answer.status_code
    own_text = _read_error_text(answer)
    text = own_text
    # An HTML page comes from a proxy or gateway, not from the service. A gateway may rightly refuse
    # a key or an address, but its page must not be taken to mean that a job is gone or that a
    # prompt is invalid.
    kind: type[DocsApiError] = _ERRORS_BY_STATUS.get(status_code, Unavailable)
    if 300 <= status_code <= 399:
        text = "The service's address redirects elsewhere; redirects are not followed"
    elif (
        400 <= status_code <= 499
        and status_code not in _TRANSPORT_STATUSES
        and not answer.is_web_page
    ):
        kind = {**_ERRORS_BY_STATUS, 404: NotFound}.get(status_code, Rejected)
    retry_after = retry_after_seconds(answer.headers.get("retry-after", ""), now)
    quotes = answer.has_texts_of_people and text == own_text != ""
    text = text or f"The service answered with {_describe_content(answer)}"
    return kind(text, status_code=status_code, retry_after_seconds=retry_after, quotes=quotes)


_ERRORS_BY_STATUS: Mapping[int, type[DocsApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    429: RateLimited,
}
_TRANSPORT_STATUSES = frozenset({407, 408, 421, 425})


def retry_after_seconds(header: str, now: datetime) -> float | None:
    """Return the seconds to wait by a `Retry-After` header.

    They are from 0 to an hour. None for an unusable header.

    https://www.rfc-editor.org/rfc/rfc9110.html#field.retry-after
    """
    raw = header.strip()
    try:
        if re.fullmatch(r"[0-9]{1,20}(\.[0-9]{1,20})?", raw):
            seconds = float(raw)
        else:
            moment = parsedate_to_datetime(raw)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            seconds = (moment - now).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS)


def clean_error(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return the text made safe to show.

    It is one line of at most 500 characters, without controls or secrets.
    """
    plain = _join_lines(text[:_MAX_READ_LENGTH])
    for secret in secrets:
        # The text is cut at the same length, so it cannot contain more of a secret.
        plain = _remove_secret(plain, _join_lines(secret[:_MAX_READ_LENGTH]))
    return plain if len(plain) <= MAX_TEXT_LENGTH else plain[: MAX_TEXT_LENGTH - 1] + "…"


def _join_lines(text: str) -> str:
    return " ".join("".join(map(_blank_or_same, text)).split())


def _blank_or_same(sign: str) -> str:
    # C*: controls, formats (some reverse the reading direction), surrogates, private use. Z*:
    # separators.
    return " " if unicodedata.category(sign)[0] in "CZ" else sign


def _remove_secret(text: str, secret: str) -> str:
    """Replace every part of the text that equals the secret's start.

    The part is as long as it matches.
    """
    if len(secret) < _SECRET_HEAD_CHARACTERS:
        return text
    parts = []
    start = 0
    position = text.find(secret[:_SECRET_HEAD_CHARACTERS])
    while position >= 0:
        parts += [text[start:position], "[hidden]"]
        start = position + _count_common_characters(text[position : position + len(secret)], secret)
        position = text.find(secret[:_SECRET_HEAD_CHARACTERS], start)
    return "".join([*parts, text[start:]])


def _count_common_characters(text: str, secret: str) -> int:
    """Return how many first characters of two texts are equal."""
    length = 0
    for sign, other in zip(text, secret, strict=False):
        if sign != other:
            break
        length += 1
    return length


def _read_error_text(answer: Response) -> str:
    try:
        content = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ""
    error = content.get("error") if isinstance(content, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return clean_error(error, answer.secrets) if isinstance(error, str) else ""


def _describe_content(answer: Response) -> str:
    """Return a description of the body's kind of content."""
    if answer.is_web_page:
        return "a web page"
    return "something unreadable" if answer.body.strip() else "nothing"
