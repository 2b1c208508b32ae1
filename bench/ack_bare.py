"""What a person would write first: a Bolt app with its defaults that only acknowledges.

`python -m bench.ack_bare http 3000` or `… socket`; addresses and tokens come from the environment.
"""

from __future__ import annotations

import asyncio
import os
import sys

from aiohttp import web
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bench.children import READY


def bare_app() -> AsyncApp:
    """As in Bolt's own "getting started", with a base address for the Slack that is played here."""
    token, secret = os.environ["SLACK_BOT_TOKEN"], os.environ["SLACK_SIGNING_SECRET"]
    app = AsyncApp(
        signing_secret=secret, client=AsyncWebClient(token=token, base_url=os.environ["SLACK_API_URL"])
    )

    @app.command("/docs-agent")
    async def acknowledge(ack: AsyncAck) -> None:
        await ack()

    return app


async def _over_socket(app: AsyncApp) -> None:
    handler = AsyncSocketModeHandler(app, os.environ["SLACK_APP_TOKEN"])
    await handler.connect_async()  # type: ignore[no-untyped-call]
    print(READY, flush=True)
    await asyncio.Event().wait()


async def _over_http(app: AsyncApp, port: int) -> None:
    # What Bolt's own `app.start()` runs, but quiet.
    runner = web.AppRunner(app.web_app(path="/slack/events", port=port), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host="127.0.0.1", port=port).start()
    print(READY, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    if sys.argv[1] == "http":
        asyncio.run(_over_http(bare_app(), int(sys.argv[2])))
    else:
        asyncio.run(_over_socket(bare_app()))
