"""The docs service's wire format without I/O: building requests and decoding responses."""

from __future__ import annotations

import json
import re
import unicodedata
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import quote, urlencode, urlsplit

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

JOBS_PATH = "/v2/agent/{project_id}/job"
JOB_PATH = "/v2/agent/{project_id}/job/{job_id}"
MESSAGES_PATH = "/v2/agent/{project_id}/job/{job_id}/message"
VISITORS_PATH = "/v1/analytics/{project_id}/visitors"

MAX_TEXT_LENGTH = 500
MAX_PAGE_SIZE = 250
MAX_RETRY_AFTER_SECONDS = 86_400.0
"""Upper limit for a `Retry-After`: the service's limits are hourly, so a longer wait must be a mistake."""

_SECRET_HEAD = 8
"""How many first characters identify a secret. A shorter prompt is ordinary words and is not hidden."""

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call:
    """One request to send. ``prompt`` is also used to remove it from error texts that echo it."""

    method: str
    url: str
    prompt: str = field(default="", repr=False)

    @property
    def body(self) -> bytes:
        """Return the JSON body; empty for a request without a prompt."""
        return json.dumps({"prompt": self.prompt}).encode() if self.prompt else b""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the texts that must not appear in an error about this call."""
        return (self.prompt,) if len(self.prompt) >= _SECRET_HEAD else ()


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP response, read completely and decompressed."""

    status_code: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def header(self, name: str) -> str:
        """Return a header's value, or an empty string. ``name`` is in lower case and matches any case."""
        return next((value for key, value in self.headers.items() if key.lower() == name), "")


# ---- requests


def checked_base_url(base_url: str) -> str:
    """Return the address without trailing slashes.

    Raises InvalidArgument unless it is a plain http(s) address. The error text does not quote the address,
    which may contain a password.
    """
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidArgument("base_url is not an address") from None
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidArgument("base_url must begin with http:// or https:// and name a host")
    if "@" in parts.netloc:
        raise InvalidArgument("base_url must not hold a user or password")
    if parts.query or parts.fragment or re.search(r"[?#\s\\]", base_url.strip()):
        raise InvalidArgument("base_url must not hold a query, a fragment or blanks")
    return parts.geturl().rstrip("/")


def checked_key(api_key: SecretStr) -> SecretStr:
    """Return the key. Raises InvalidArgument, without quoting it, if it cannot be sent in a header."""
    if not re.fullmatch(r"[!-~]+", api_key.get_secret_value()):
        raise InvalidArgument("api_key must be printable ASCII without blanks or line ends")
    return api_key


def create_job(base_url: str, project_id: str, prompt: str) -> Call:
    """Return the request that starts a job."""
    path = JOBS_PATH.format(project_id=_segment("project_id", project_id))
    return Call("POST", base_url + path, _checked_prompt(prompt))


def get_job(base_url: str, project_id: str, job_id: str) -> Call:
    """Return the request that reads a job."""
    return Call("GET", base_url + _job_path(JOB_PATH, project_id, job_id))


def send_follow_up(base_url: str, project_id: str, job_id: str, prompt: str) -> Call:
    """Return the request that sends a further prompt to an existing job."""
    return Call("POST", base_url + _job_path(MESSAGES_PATH, project_id, job_id), _checked_prompt(prompt))


def visitors(
    base_url: str, project_id: str, date_from: date | None, date_to: date | None, limit: int, offset: int
) -> Call:
    """Return the request for one page of unique visitors.

    Both ends are days, or aware times (`datetime`), which are sent in UTC. The whole day of ``date_to`` is
    left out, also when it is a time.
    """
    path = VISITORS_PATH.format(project_id=_segment("project_id", project_id))
    ends = {"dateFrom": _utc("date_from", date_from), "dateTo": _utc("date_to", date_to)}
    _check_days(ends["dateFrom"], ends["dateTo"])
    if not 1 <= limit <= MAX_PAGE_SIZE:
        raise InvalidArgument(f"limit must be from 1 to {MAX_PAGE_SIZE}")
    if offset < 0:
        raise InvalidArgument("offset must not be negative")
    query = {name: _iso(end) for name, end in ends.items() if end is not None}
    return Call("GET", f"{base_url}{path}?{urlencode({**query, 'limit': limit, 'offset': offset})}")


def _utc(name: str, end: date | None) -> date | None:
    if not isinstance(end, datetime):
        return end
    if end.utcoffset() is None:
        raise InvalidArgument(f"{name} must have a time zone when it has a time")
    try:
        return end.astimezone(UTC)
    except OverflowError:
        raise InvalidArgument(f"{name} is not a time that UTC has") from None


def _check_days(date_from: date | None, date_to: date | None) -> None:
    if date_from is not None and date_to is not None and _day(date_to) <= _day(date_from):
        raise InvalidArgument("date_to must be on a day after date_from: its whole day is left out")


def _day(end: date) -> date:
    return end.date() if isinstance(end, datetime) else end


def _iso(end: date) -> str:
    return end.isoformat().replace("+00:00", "Z")


def _job_path(template: str, project_id: str, job_id: str) -> str:
    return template.format(project_id=_segment("project_id", project_id), job_id=_segment("job_id", job_id))


def _segment(name: str, raw: str) -> str:
    # Dots cannot be escaped: URL parsers resolve "%2E%2E" in the same way as "..".
    # https://url.spec.whatwg.org/#double-dot-path-segment
    if raw.strip() in ("", ".", ".."):
        raise InvalidArgument(f"{name} must not be empty or made of dots")
    return quote(_unicode(name, raw), safe="", encoding="utf-8")


def _checked_prompt(prompt: str) -> str:
    if not prompt.strip():
        raise InvalidArgument("prompt must not be empty")
    return _unicode("prompt", prompt)


def _unicode(name: str, raw: str) -> str:
    if any("\ud800" <= char <= "\udfff" for char in raw):
        raise InvalidArgument(f"{name} holds half a surrogate pair, which is no text")
    return raw


# ---- responses


def inflate(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Undo the content encoding without producing more than ``max_bytes``.

    Raises ValueError, whose text continues "The service answered …", when it cannot.
    """
    if encoding.strip().lower() in ("", "identity"):
        return body
    if encoding.strip().lower() not in ("gzip", "x-gzip"):
        raise ValueError("in an encoding that was not asked for")
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        plain = unpacker.decompress(body, max_bytes + 1)
    except zlib.error:
        raise ValueError("with a broken compression") from None
    if len(plain) > max_bytes:
        raise ValueError(f"with more than {max_bytes} bytes")
    if not unpacker.eof:
        raise ValueError("with a compression that breaks off")
    return plain


def decode(answer: Answer, model: type[ModelT], *, secrets: tuple[str, ...], now: datetime) -> ModelT:
    """Return the response as ``model``, or raise the `DocsApiError` that it stands for.

    ``secrets`` are removed from the service's texts. ``now`` is needed for a `Retry-After` with a date.
    """
    if not 200 <= answer.status_code <= 299:
        raise error_of(answer, secrets=secrets, now=now)
    try:
        return model.model_validate(json.loads(answer.body))
    except ValidationError as wrong:
        places = sorted({".".join(str(step) for step in one["loc"][:1]) for one in wrong.errors()})
        text = f"The service's answer has not the expected shape: {', '.join(filter(None, places)) or 'all'}"
    except (ValueError, RecursionError):
        text = f"The service answered with {_kind(answer)} instead of JSON"
    raise Unavailable(cleaned(text, secrets), sent=True, status_code=answer.status_code)


def error_of(answer: Answer, *, secrets: tuple[str, ...], now: datetime) -> DocsApiError:
    """Return the error that an unsuccessful response stands for."""
    status_code = answer.status_code
    retry_after = retry_after_seconds(answer.header("retry-after"), now)
    text = _error_text(answer, secrets) or f"The service answered with {_kind(answer)}"
    if status_code == 429:
        return RateLimited(text, status_code=status_code, retry_after_seconds=retry_after)
    if status_code in _REFUSALS:
        return _REFUSALS[status_code](text, status_code=status_code)
    if 300 <= status_code <= 399:
        text = "The service's address redirects elsewhere; redirects are not followed"
    elif 400 <= status_code <= 499 and status_code not in _TRANSPORT_STATUSES and not _is_html(answer):
        return (NotFound if status_code == 404 else Rejected)(text, status_code=status_code)
    return Unavailable(text, sent=True, status_code=status_code, retry_after_seconds=retry_after)


# An HTML page comes from a proxy or gateway, not from the service. A gateway may rightly refuse a key or an
# address, but its 4xx page must not be taken to mean that a job is gone or that a prompt is invalid.
_REFUSALS: dict[int, type[Unauthorized | Forbidden]] = {401: Unauthorized, 403: Forbidden}
_TRANSPORT_STATUSES = frozenset({407, 408, 421, 425})


def retry_after_seconds(header: str, now: datetime) -> float | None:
    """Return the seconds to wait by a `Retry-After` header, from 0 to a day; None when it is unusable.

    https://www.rfc-editor.org/rfc/rfc9110.html#field.retry-after
    """
    raw = header.strip()
    if re.fullmatch(r"[0-9]{1,20}(\.[0-9]{1,20})?", raw):
        return min(float(raw), MAX_RETRY_AFTER_SECONDS)
    try:
        moment = parsedate_to_datetime(raw)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return min(max((aware - now).total_seconds(), 0.0), MAX_RETRY_AFTER_SECONDS)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def cleaned(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return the text made safe to show: one line of at most 500 characters, without controls or secrets."""
    plain = _one_line(text)
    for secret in (_one_line(secret) for secret in secrets):
        plain = _without(plain, secret)
    return plain if len(plain) <= MAX_TEXT_LENGTH else plain[: MAX_TEXT_LENGTH - 1] + "…"


def _one_line(text: str) -> str:
    # C*: controls, formats (some reverse the reading direction), surrogates, private use; Z*: separators.
    return " ".join("".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text).split())


def _without(text: str, secret: str) -> str:
    """Replace every part of the text that equals the start of the secret, as far as it matches."""
    head = secret[:_SECRET_HEAD]
    if not head:
        return text
    kept, start = [], 0
    while (found := text.find(head, start)) >= 0:
        end = found + len(head)
        while end < len(text) and end - found < len(secret) and text[end] == secret[end - found]:
            end += 1
        kept += [text[start:found], "[hidden]"]
        start = end
    return "".join([*kept, text[start:]])


def _error_text(answer: Answer, secrets: tuple[str, ...]) -> str:
    try:
        content = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ""
    said = content.get("error") if isinstance(content, dict) else None
    if isinstance(said, dict):
        said = said.get("message")
    return cleaned(said, secrets) if isinstance(said, str) else ""


def _is_html(answer: Answer) -> bool:
    return "html" in answer.header("content-type").lower() or answer.body.lstrip()[:1] == b"<"


def _kind(answer: Answer) -> str:
    if not answer.body.strip():
        return "nothing"
    return "a web page" if _is_html(answer) else "something unreadable"
