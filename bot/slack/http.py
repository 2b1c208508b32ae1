"""HTTP mode: one address for everything Slack sends, with limits before anything is read or stored."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

PATH = "/slack/events"
BODY_BYTES = 1_000_000
_TYPES = frozenset({"application/json", "application/x-www-form-urlencoded"})


def add_slack_routes(server: web.Application, app: AsyncApp) -> None:
    """Let Slack's requests arrive at ``/slack/events``. Anything else there is refused and stores nothing."""

    async def events(request: web.Request) -> web.Response:
        if request.content_type not in _TYPES:
            return web.Response(status=415, text="unsupported content type")
        raw = await request.content.read(BODY_BYTES + 1)
        while len(raw) <= BODY_BYTES and (more := await request.content.read(BODY_BYTES + 1 - len(raw))):
            raw += more
        if len(raw) > BODY_BYTES:
            return web.Response(status=413, text="too large")
        try:
            body = raw.decode("utf-8")
        except UnicodeDecodeError:
            return web.Response(status=400, text="not UTF-8")
        headers: dict[str, str | Sequence[str]] = {
            name: str(value) for name, value in request.headers.items()
        }
        asked = AsyncBoltRequest(body=body, query=request.query_string, headers=headers)
        if body and not asked.body:
            return web.Response(status=400, text="the body is not what its content type says")
        return await to_aiohttp_response(await app.async_dispatch(asked))

    server.router.add_post(PATH, events)
