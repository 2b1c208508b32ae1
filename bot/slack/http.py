"""HTTP mode: one route for all requests of Slack, checked for type, size and signature."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

PATH = "/slack/events"
BODY_BYTES = 1_000_000
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


def add_slack_routes(server: web.Application, app: AsyncApp, signing_secret: SecretStr) -> None:
    """Add the route ``/slack/events``. Requests that Slack has not signed are refused and store nothing."""
    verifier = SignatureVerifier(signing_secret.get_secret_value())

    async def events(request: web.Request) -> web.Response:
        if request.content_type not in (_JSON, _FORM):
            return web.Response(status=415, text="unsupported content type")
        raw = await _read(request)
        if raw is None:
            return web.Response(status=413, text="too large")
        try:
            body = raw.decode("utf-8")
        except UnicodeDecodeError:
            return web.Response(status=400, text="not UTF-8")
        if not _is_signed(verifier, body, request):
            return web.Response(status=401, text="not signed by Slack")
        parsed = _parsed(body, request.content_type)
        if parsed is None:
            return web.Response(status=400, text="the body is not what its content type says")
        # In socket mode Bolt does not parse the body or check the signature a second time.
        asked = AsyncBoltRequest(body=parsed, mode="socket_mode")
        return await to_aiohttp_response(await app.async_dispatch(asked))

    server.router.add_post(PATH, events)


def _is_signed(verifier: SignatureVerifier, body: str, request: web.Request) -> bool:
    headers = {name: str(text) for name, text in request.headers.items()}
    try:
        return bool(verifier.is_valid_request(body, headers))
    except ValueError:  # the timestamp is not a number
        return False


async def _read(request: web.Request) -> bytes | None:
    """Return the body; None when it is too large. The rest of a large body is read and discarded."""
    raw, length = bytearray(), 0
    async for piece in request.content.iter_chunked(65_536):
        length += len(piece)
        if length <= BODY_BYTES:
            raw += piece
        elif length > 16 * BODY_BYTES:
            break
    return bytes(raw) if length <= BODY_BYTES else None


def _parsed(body: str, content_type: str) -> dict[str, Any] | None:
    """Return the JSON object, the form, or the JSON object in a form's ``payload``; None for anything else.

    Bolt's own parser treats a form as empty if the word "payload" appears anywhere in it.
    """
    try:
        if content_type == _FORM:
            form = dict(parse_qsl(body, keep_blank_values=True))
            body = form.get("payload", "")
            if not body:
                return form
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
