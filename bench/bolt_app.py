"""The simplest alternative: a Bolt app that only acknowledges, and how such apps are served.

`python -m bench.bolt_app http 3000` or `… socket 0`; addresses and tokens come from the environment.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys

from aiohttp import web
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bench.processes import READY


def new_app() -> AsyncApp:
    """Return an app as in Bolt's own "getting started"; only the base address of Slack differs."""
    token, secret = os.environ["SLACK_BOT_TOKEN"], os.environ["SLACK_SIGNING_SECRET"]
    client = AsyncWebClient(token=token, base_url=os.environ["SLACK_API_URL"])
    return AsyncApp(signing_secret=secret, client=client)


async def serve(app: AsyncApp, way: str, port: int) -> None:
    """Serve the app over ``http`` or through a ``socket``, until the process is ended."""
    if way == "http":
        # As Bolt's `app.start()`, without its output.
        runner = web.AppRunner(app.web_app(path="/slack/events", port=port), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, host="127.0.0.1", port=port).start()
    else:
        handler = AsyncSocketModeHandler(app, os.environ["SLACK_APP_TOKEN"])
        await handler.connect_async()  # type: ignore[no-untyped-call]
    print(READY, flush=True)
    await asyncio.Event().wait()


def bare_app() -> AsyncApp:
    """Return an app that acknowledges each command and message, and does nothing else."""
    app = new_app()

    @app.command("/docs-agent")
    async def acknowledge(ack: AsyncAck) -> None:
        await ack()

    @app.event(re.compile("message|app_mention"))
    async def hear() -> None:
        """Do nothing: Bolt has acknowledged the event already."""

    return app


if __name__ == "__main__":
    asyncio.run(serve(bare_app(), sys.argv[1], int(sys.argv[2])))
