"""The simplest alternative: a Bolt app with default settings that only acknowledges.

`python -m bench.ack_bare http 3000` or `… socket 0`.
"""

from __future__ import annotations

import asyncio
import sys

from slack_bolt.async_app import AsyncAck, AsyncApp

from bench.bolt_app import new_app, serve


def bare_app() -> AsyncApp:
    """Return an app that acknowledges each command and does nothing else."""
    app = new_app()

    @app.command("/docs-agent")
    async def acknowledge(ack: AsyncAck) -> None:
        await ack()

    return app


if __name__ == "__main__":
    asyncio.run(serve(bare_app(), sys.argv[1], int(sys.argv[2])))
