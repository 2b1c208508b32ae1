"""Bench `ack`: how soon a slash command is acknowledged, stored first, beside a bare app that stores nothing.

The bot is the real one (`docs-bot serve`) on SQLite on disk. Both are processes of their own and are asked
in turns; the client is a third process. The bot's rounds run elsewhere in that split, as in production.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.ack_client import Typist
from bench.ack_slack import PEOPLE, PlayedSlack, played_slack
from bench.bot_process import BOT_TOKEN, SIGNING_SECRET, environment, running_bot
from bench.children import READY, Child, child
from bench.measure import Spread, spread
from bench.report import Report, Row, at_most
from bot.sandbox.ports import free_port

Burst = Callable[[int, int], Awaitable[list[float]]]
"""So many commands, so many at once; answers the seconds of each."""

_GOALS = {1: 0.25, 10: 0.5, 50: 1.0}
_OURS, _THEIRS = "xapp-ours", "xapp-theirs"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: commands in a turn for each number at once, turns, and commands before all."""

    commands: dict[int, int]
    turns: int
    warm: int = PEOPLE + 50


FULL = Size({1: 100, 10: 300, 50: 500}, 6)
QUICK = Size({1: 20, 10: 40, 50: 100}, 2)


async def measure(size: Size, folder: Path) -> list[Report]:
    """Both ways in: HTTP and Socket Mode."""
    async with played_slack(free_port()) as slack:
        return [await _over_http(slack, size, folder), await _over_socket(slack, size, folder)]


async def _over_http(slack: PlayedSlack, size: Size, folder: Path) -> Report:
    async with AsyncExitStack() as stack:
        env = environment(slack.url, f"sqlite:///{folder}/ack-http.db")
        _, port, _ = await stack.enter_async_context(running_bot("serve", env, log=folder / "ack-http.log"))
        bare_port = free_port()
        bare = child(
            "-m", "bench.ack_bare", "http", str(bare_port), env=_bare(slack), log=folder / "bare-http.log"
        )
        await _ready(await stack.enter_async_context(bare))
        ours, theirs = Typist(port, SIGNING_SECRET), Typist(bare_port, SIGNING_SECRET)
        return await _compared("ack: a slash command over HTTP", ours.type, theirs.type, size)


async def _over_socket(slack: PlayedSlack, size: Size, folder: Path) -> Report:
    async with AsyncExitStack() as stack:
        env = environment(slack.url, f"sqlite:///{folder}/ack-socket.db", app_token=_OURS)
        await stack.enter_async_context(running_bot("serve", env, log=folder / "ack-socket.log"))
        bare_env = _bare(slack) | {"SLACK_APP_TOKEN": _THEIRS}
        bare = child("-m", "bench.ack_bare", "socket", env=bare_env, log=folder / "bare-socket.log")
        await _ready(await stack.enter_async_context(bare))
        await slack.connected(_OURS)
        await slack.connected(_THEIRS)
        ours, theirs = _through(slack, _OURS), _through(slack, _THEIRS)
        return await _compared("ack: a slash command through Socket Mode", ours, theirs, size)


async def _ready(bare: Child) -> None:
    if await bare.hear() != READY:
        raise RuntimeError("the bare app did not start")


def _bare(slack: PlayedSlack) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": slack.url,
    }


def _through(slack: PlayedSlack, token: str) -> Burst:
    async def burst(count: int, at_once: int) -> list[float]:
        async def one(commands: int) -> list[float]:
            return [await slack.command(token) for _ in range(commands)]

        taken = await asyncio.gather(*(one(count // at_once) for _ in range(at_once)))
        return [seconds for each in taken for seconds in each]

    return burst


async def _compared(name: str, ours: Burst, theirs: Burst, size: Size) -> Report:
    report = Report(name, "the bot, stored first", "bare Bolt app")
    for burst in (ours, theirs):  # until everything is loaded and everybody is known
        await burst(size.warm, min(size.warm, 50))
    for at_once, count in size.commands.items():
        a, b = await _turns(ours, theirs, count, at_once, size.turns)
        median = Row(f"median, {at_once} at once", "ms", a.median, b.median)
        p99 = Row(f"99th percentile, {at_once} at once", "ms", a.p99, b.p99)
        report.rows.extend((at_most(median, _GOALS[at_once]), at_most(p99, 1.0)))
    return report


async def _turns(ours: Burst, theirs: Burst, count: int, at_once: int, turns: int) -> tuple[Spread, Spread]:
    """A B A B …, in milliseconds."""
    a: list[float] = []
    b: list[float] = []
    for _ in range(turns):
        for burst, taken in ((ours, a), (theirs, b)):
            taken += [each * 1000 for each in await burst(count, at_once)]
    return spread(a), spread(b)
