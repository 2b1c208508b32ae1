"""The sides of benchmark `ack`: processes that receive slash commands over HTTP or through a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bench.ack_client import Typist
from bench.ack_slack import PlayedSlack
from bench.bot_process import BOT_TOKEN, NO_DOCS, SIGNING_SECRET, environment, running_bot
from bench.children import READY, Child, child
from sandbox.ports import free_port

Burst = Callable[[int, int], Awaitable[list[float]]]
"""Sends a number of commands, some at once; returns the seconds that each one took."""


class Way(StrEnum):
    """How commands reach an app."""

    HTTP = "http"
    SOCKET = "socket"


NAMES = {Way.HTTP: "over HTTP", Way.SOCKET: "through Socket Mode"}


@dataclass(frozen=True, slots=True)
class Side:
    """A running app, its socket's token or its port, and how to send it commands."""

    process: Child
    to: str | int
    burst: Burst


@asynccontextmanager
async def bot_side(
    way: Way,
    slack: PlayedSlack,
    folder: Path,
    tree: Path | None = None,
    *,
    command: str = "serve",
    docs_url: str = NO_DOCS,
) -> AsyncIterator[Side]:
    """Run a `docs-bot` command of a checkout (this one, unless given) on SQLite on disk."""
    token, name = "xapp-bot" if way is Way.SOCKET else "", f"bot-{way}"
    env = environment(slack.url, f"sqlite:///{folder}/{name}.db", docs_url=docs_url, app_token=token)
    async with running_bot(command, env, log=folder / f"{name}.log", tree=tree) as (bot, port, _):
        yield Side(bot, token or port, await _burst(slack, token, port))


@asynccontextmanager
async def bolt_side(module: str, way: Way, slack: PlayedSlack, folder: Path) -> AsyncIterator[Side]:
    """Run one of the benchmarks' Bolt apps until the block ends."""
    port, token, name = free_port(), f"xapp-{module}" if way is Way.SOCKET else "", f"{module}-{way}"
    env = {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": slack.url,
        "SLACK_APP_TOKEN": token,
        "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/{name}.db",
    }
    async with child("-m", module, way, str(port), env=env, log=folder / f"{name}.log") as app:
        if await app.hear() != READY:
            raise RuntimeError(f"{module} did not start")
        yield Side(app, token or port, await _burst(slack, token, port))


async def _burst(slack: PlayedSlack, token: str, port: int) -> Burst:
    if not token:
        return Typist(port, SIGNING_SECRET).type
    await slack.connected(token)

    async def one(commands: int) -> list[float]:
        return [await slack.command(token) for _ in range(commands)]

    async def burst(count: int, at_once: int) -> list[float]:
        taken = await asyncio.gather(*(one(count // at_once) for _ in range(at_once)))
        return [seconds for each in taken for seconds in each]

    return burst
