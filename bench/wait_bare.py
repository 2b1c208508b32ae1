"""The simplest alternative for somebody who waits: a Bolt app that acknowledges and speaks at once.

`python -m bench.wait_bare http 3000` or `… socket 0`; it stores nothing and asks nobody.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from bench.bolt_app import new_app, serve


def _face(text: str) -> dict[str, Any]:
    option = {"text": {"type": "plain_text", "text": "Stop watching"}, "value": "stop_watching:1"}
    menu = {"type": "overflow", "action_id": "job_menu", "options": [option]}
    return {"type": "section", "text": {"type": "plain_text", "text": text}, "accessory": menu}


def speaking_app() -> AsyncApp:
    """Return an app that posts what was asked for, redraws it at a press, and answers privately."""
    app = new_app()

    @app.command("/docs-agent")
    async def ask(ack: AsyncAck, command: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.chat_postMessage(
            channel=command["channel_id"], text=command["text"], blocks=[_face(command["text"])]
        )

    @app.command("/docs-visitors")
    async def visitors(ack: AsyncAck, command: dict[str, Any], respond: AsyncRespond) -> None:
        await ack()
        await respond(f"{command['text']}: /guides/page-1")

    @app.action("job_menu")
    async def press(ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        about, text = body["container"], f"{body['message']['text']}: no longer watched"
        await client.chat_update(channel=about["channel_id"], ts=about["message_ts"], text=text)

    return app


if __name__ == "__main__":
    asyncio.run(serve(speaking_app(), sys.argv[1], int(sys.argv[2])))
