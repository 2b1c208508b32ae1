"""A small bot made with Slack's own libraries, to test that the workspace is compatible with them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.doors import HOST, Door
from sandbox.workspace import Workspace
from tests.limits import HANG_SECONDS

ANA, BEN, GUS = "U01ANA", "U02BEN", "U04GUS"
DOCS, PRODUCT, SECRET, ANAS_DM = "C01DOCS", "C03PRODUCT", "G04SECRET", "D01ANA"
BOT = "U0DOCSBOT"
Json = dict[str, Any]
Found = TypeVar("Found")

FORM: Json = {
    "type": "modal",
    "callback_id": "form",
    "title": {"type": "plain_text", "text": "Ask"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "prompt",
            "label": {"type": "plain_text", "text": "What to write"},
            "element": {"type": "plain_text_input", "action_id": "prompt"},
        }
    ],
}
BUTTON: Json = {
    "type": "actions",
    "block_id": "doings",
    "elements": [
        {
            "type": "button",
            "action_id": "go",
            "value": "7",
            "text": {"type": "plain_text", "text": "Go"},
        }
    ],
}


class HeldClock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


@dataclass
class Heard:
    """The requests that the bot received."""

    commands: list[Json] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    interactions: list[Json] = field(default_factory=list)

    def of(self, kind: str) -> list[Json]:
        """Return the events of one type."""
        return [each["event"] for each in self.events if each["event"]["type"] == kind]


def small_app(client: AsyncWebClient, signing_secret: str) -> tuple[AsyncApp, Heard]:
    """Return an app that records its requests and gives simple responses."""
    # Without a name Bolt would read the source of every caller to find one.
    app = AsyncApp(
        name="small-bot", client=client, token=client.token, signing_secret=signing_secret
    )
    heard = Heard()

    @app.command("/docs-agent")
    async def on_command(ack: AsyncAck, body: Json) -> None:
        heard.commands.append(body)
        if body["text"] == "hi":
            await ack("Hello")
            return
        if body["text"] == "sparkles":
            await ack(text="Look", blocks=[{"type": "sparkles"}])
            return
        await ack()

    @app.action("go")
    async def on_press(ack: AsyncAck, body: Json, respond: AsyncRespond) -> None:
        heard.interactions.append(body)
        await ack()
        await respond(text="Gone", replace_original=True)

    @app.shortcut("ask_about")
    async def on_shortcut(ack: AsyncAck, body: Json) -> None:
        heard.interactions.append(body)
        await ack()

    @app.event(re.compile(".*"))
    async def on_event(body: Json) -> None:
        heard.events.append(body)

    return app, heard


@asynccontextmanager
async def listening(app: AsyncApp, workspace: Workspace) -> AsyncIterator[None]:
    """Connect the app to the workspace, over HTTP or a socket as the workspace is set up."""
    events_url = workspace.options.events_url
    if events_url is None:
        handler = AsyncSocketModeHandler(app, workspace.options.app_token, web_client=app.client)
        await handler.connect_async()  # type: ignore[no-untyped-call]
        try:
            await until(lambda: workspace.bot_connection.is_reachable() or None)
            yield
        finally:
            await handler.close_async()  # type: ignore[no-untyped-call]
        return
    runner = web.AppRunner(app.web_app(path="/slack/events"), access_log=None)
    await runner.setup()
    await Door(runner, HOST, int(events_url.split(":")[2].split("/")[0])).start()
    try:
        yield
    finally:
        await runner.cleanup()


async def until(look: Callable[[], Found | None]) -> Found:
    """Call the function until it returns a value, and return that value."""
    async with asyncio.timeout(HANG_SECONDS):
        while (found := look()) is None:
            await asyncio.sleep(0.01)
    return found
