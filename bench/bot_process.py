"""The bot as a child process of a benchmark."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter

import aiohttp

from bench.children import Child, child
from sandbox.ports import free_port

BOT_TOKEN = "xoxb-bench"  # noqa: S105
SIGNING_SECRET = "bench-signing-secret"  # noqa: S105
NO_DOCS = "http://127.0.0.1:9"
"""An address at which there is no docs service."""


def environment(
    slack_url: str, database_url: str, *, docs_url: str = NO_DOCS, app_token: str = ""
) -> dict[str, str]:
    """Return the settings of a bot, in HTTP mode unless there is an app token."""
    way = {"SLACK_APP_TOKEN": app_token} if app_token else {"SLACK_SIGNING_SECRET": SIGNING_SECRET}
    return way | {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_API_URL": slack_url,
        "DATABASE_URL": database_url,
        "DOCS_API_URL": docs_url,
        "DOCS_API_KEY": "bench-key",
        "DOCS_PROJECT_ID": "bench",
        # A few people send all commands.
        "WAITING_PER_PERSON": "1000",
        "LOG_LEVEL": "WARNING",
    }


# As where only requirements.txt is installed: httpx and structlog load both where they are, 7 MB.
_AS_IN_PRODUCTION = """
import sys

sys.modules.update(rich=None, pygments=None)
from bot.__main__ import main

main()
"""


@asynccontextmanager
async def running_bot(
    command: str,
    env: dict[str, str],
    *,
    log: Path | None = None,
    tree: Path | None = None,
) -> AsyncIterator[tuple[Child, int, float]]:
    """Run `python -m bot <command>` of a checkout; yield it when ready, with port and seconds to start.

    The port for health is ``HEALTH_PORT`` in ``env`` or any that is free.
    """
    port = free_port()
    own_env = {"HEALTH_PORT": str(free_port()), **env, "PORT": str(port)}
    began = perf_counter()
    async with child("-c", _AS_IN_PRODUCTION, command, env=own_env, log=log, tree=tree) as bot:
        # An older checkout has one port for everything.
        await _until_started(bot, (own_env["HEALTH_PORT"], own_env["PORT"]))
        yield bot, port, perf_counter() - began


async def _until_started(bot: Child, ports: Sequence[str]) -> None:
    async with aiohttp.ClientSession() as session, asyncio.timeout(300):
        while not any([await _has_started(session, port) for port in ports]):
            if bot.process.returncode is not None:
                raise RuntimeError(f"the bot ended with {bot.process.returncode}")
            await asyncio.sleep(0.01)


async def _has_started(session: aiohttp.ClientSession, port: str) -> bool:
    try:
        async with session.get(f"http://127.0.0.1:{port}/livez") as answer:
            return answer.status == 200
    except aiohttp.ClientConnectionError:
        return False
