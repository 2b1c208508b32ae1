"""HTTP mode: one route for all requests of Slack, checked for signature, type, size and shape."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from urllib.parse import parse_qsl

import structlog
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from bot.store.deadline import Deadline, within

log = structlog.get_logger(__name__)
PATH = "/slack/events"
MAX_BODY_BYTES = 1_000_000
MAX_BODIES_BYTES = 2 * MAX_BODY_BYTES
"""The size of all bodies that are being read.

Above it the connection with the most bytes is closed.
"""
MAX_BODY_SECONDS = 5.0
"""How long Slack may take to send a body."""
_JSON_TYPE = "application/json"
_FORM_TYPE = "application/x-www-form-urlencoded"
_SIGNATURE_PATTERN = re.compile(r"v0=[0-9a-f]{64}")
_TIMESTAMP_PATTERN = re.compile(r"[0-9]{1,12}")
_MAX_AGE_SECONDS = 300
"""https://docs.slack.dev/authentication/verifying-requests-from-slack"""


class Signature(Enum):
    """The result of the check of a request's signature."""

    ACCEPTED = "accepted"
    WRONG = "wrong"
    AT_ANOTHER_TIME = "at another time"
    """Right, but of a time over five minutes away: a repeated request, or a wrong clock here."""


def add_slack_routes(
    server: web.Application,
    app: AsyncApp,
    signing_secret: SecretStr,
    *,
    intake_seconds: float,
    body_seconds: float = MAX_BODY_SECONDS,
    workspace: str = "",
    on_signature: Callable[[Signature], None] = lambda _signature: None,
    clock: Callable[[], float] = time.time,
) -> None:
    """Add the route ``/slack/events``.

    Requests without Slack's signature are refused, and nothing of them is stored.

    Args:
        intake_seconds: A request is stored within this time of its arrival, or not at all.
        body_seconds: A body that takes longer is refused.
        workspace: The id of the workspace.
        on_signature: Called for each body with this id, with the result of its signature.
        clock: Returns seconds since 1970.
    """
    verifier = SignatureVerifier(signing_secret.get_secret_value())

    def check(body: str, timestamp: str, signature: str) -> Signature:
        expected = verifier.generate_signature(timestamp=timestamp, body=body) or ""
        result = Signature.WRONG
        if hmac.compare_digest(expected, signature):
            is_now = abs(clock() - int(timestamp)) <= _MAX_AGE_SECONDS
            result = Signature.ACCEPTED if is_now else Signature.AT_ANOTHER_TIME
        if workspace in body:
            on_signature(result)
        return result

    server.router.add_post(PATH, _Intake(app, check, body_seconds, intake_seconds).take)


async def dispatch(
    app: AsyncApp, payload: dict[str, Any], intake_seconds: float
) -> tuple[int, str]:
    """Return the status and the body of Bolt's response to a payload."""
    with within(Deadline.after(intake_seconds)):
        response = await app.async_dispatch(AsyncBoltRequest(body=payload, mode="socket_mode"))
    return response.status, response.body


class _Refused(Exception):
    """A refused request. ``kind`` is the reason for the log."""

    def __init__(self, status: int, kind: str) -> None:
        super().__init__(kind)
        self.status = status
        self.kind = kind


@dataclass(frozen=True, slots=True)
class _Intake:
    """The handler of the route."""

    _app: AsyncApp
    _check: Callable[[str, str, str], Signature]
    _body_seconds: float
    _intake_seconds: float
    _reading: dict[web.RequestHandler, int] = field(default_factory=dict)
    """The connections whose bodies are being read, the oldest first, each with its bytes so far."""

    async def take(self, request: web.Request) -> web.Response:
        """Return Bolt's response, or a refusal with a status from 400 to 499."""
        deadline = Deadline.after(self._intake_seconds)
        try:
            timestamp, signature = _read_signature(request)
            content_type = _check_content_type(request)
            body = await self._body(request)
            result = self._check(body, timestamp, signature)
            if result is Signature.WRONG:
                raise _Refused(401, "not signed by Slack")
            if result is Signature.AT_ANOTHER_TIME:
                raise _Refused(401, "signed at another time")
            with within(deadline):
                response = await self._app.async_dispatch(_make_bolt_request(body, content_type))
            return web.Response(
                status=response.status, text=response.body, headers=response.first_headers()
            )
        except _Refused as refused:
            log.warning("request_refused", kind=refused.kind)
            return web.Response(status=refused.status, text=refused.kind)

    async def _body(self, request: web.Request) -> str:
        if (request.content_length or 0) > MAX_BODY_BYTES:
            raise _Refused(413, "body too large")
        try:
            # Slack's bodies arrive together with their heads, and need no timer.
            if request.content.is_eof():
                return request.content.read_nowait().decode("utf-8")
            async with asyncio.timeout(self._body_seconds):
                return (await self._read(request)).decode("utf-8")
        except TimeoutError:
            raise _Refused(408, "body too slow") from None
        except UnicodeDecodeError:
            raise _Refused(400, "body is not UTF-8") from None
        except (web.RequestPayloadError, ConnectionError):
            raise _Refused(400, "body broken off") from None
        finally:
            self._reading.pop(request.protocol, None)

    async def _read(self, request: web.Request) -> bytes:
        raw = bytearray()
        async for piece in request.content.iter_any():
            raw += piece
            if len(raw) > MAX_BODY_BYTES:
                raise _Refused(413, "body too large")
            self._reading[request.protocol] = len(raw)
            self._limit_bodies()
        return bytes(raw)

    def _limit_bodies(self) -> None:
        while sum(self._reading.values()) > MAX_BODIES_BYTES:
            # Slack's requests are small, so large requests of strangers are closed first.
            largest = max(self._reading, key=self._reading.__getitem__)
            del self._reading[largest]
            if largest.transport is not None:
                largest.transport.abort()


def _read_signature(request: web.Request) -> tuple[str, str]:
    """Return the timestamp and the signature in the headers.

    Their form and age are checked before the body is read.
    """
    timestamp = request.headers.get("X-Slack-Request-Timestamp", "")
    signature = request.headers.get("X-Slack-Signature", "")
    if not _SIGNATURE_PATTERN.fullmatch(signature) or not _TIMESTAMP_PATTERN.fullmatch(timestamp):
        raise _Refused(401, "no signature of Slack")
    return timestamp, signature


def _check_content_type(request: web.Request) -> str:
    """Return the content type. Refuse compressed bodies and other types."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _Refused(415, "compressed body")
    if request.content_type not in (_JSON_TYPE, _FORM_TYPE):
        raise _Refused(415, "unsupported content type")
    return request.content_type


def _make_bolt_request(body: str, content_type: str) -> AsyncBoltRequest:
    """Return Bolt's request for a body.

    Bolt's own parser treats a form as empty if the word "payload" appears anywhere in it.
    """
    parsed = _parse_body(body, content_type)
    try:
        has_kind = isinstance(parsed.get("type", ""), str)
        if not has_kind or not isinstance(parsed.get("event", {}), dict):
            raise TypeError
        # In socket mode Bolt does not parse the body or check the signature a second time.
        return AsyncBoltRequest(body=parsed, mode="socket_mode")
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _Refused(400, "not a payload of Slack") from None


def _parse_body(body: str, content_type: str) -> Any:
    """Return the JSON of a body or of a form's ``payload``; the form itself without either."""
    form = dict(parse_qsl(body, keep_blank_values=True)) if content_type == _FORM_TYPE else {}
    if content_type != _JSON_TYPE and not form.get("payload"):
        return form
    try:
        parsed = json.loads(form.get("payload", body))
        # JSON can escape halves of characters, which no database stores.
        json.dumps(parsed, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise _Refused(400, "not JSON") from None
    return parsed
