"""Bench `idle`: start, memory, processor and statements of the whole bot with nothing to do.

`docs-bot run` in Socket Mode on SQLite on disk, beside a bare Bolt app that has no work to look for. The
statements are counted in a separate run inside this process, so that counting costs the others nothing.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from sqlalchemy import Engine, event

from bench.ack_slack import PlayedSlack, played_slack
from bench.bot_process import SIGNING_SECRET, environment, running_bot
from bench.children import READY, child
from bench.measure import memory_mb
from bench.report import Report, Row, below
from bot import app
from bot.sandbox.ports import free_port
from bot.settings import Settings

_TOKEN = "xapp-idle"  # noqa: S105
_BARE_TOKEN = "xapp-bare"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Size:
    """How many starts, and how long nothing happens."""

    starts: int
    seconds: float
    counted_seconds: float


FULL, QUICK = Size(6, 20.0, 10.0), Size(2, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Resting:
    """One process with nothing to do."""

    memory_mb: float
    cpu_percent: float


async def measure(size: Size, folder: Path) -> list[Report]:
    """Starts in turns, then both at rest at the same time, then the statements."""
    async with played_slack(free_port()) as slack:
        env = environment(slack.url, f"sqlite:///{folder}/idle.db", app_token=_TOKEN)
        bare_env = environment(slack.url, "", app_token=_BARE_TOKEN) | {
            "SLACK_SIGNING_SECRET": SIGNING_SECRET
        }
        ours, theirs = await _starts(env, bare_env, size, folder)
        rest, bare = await _rest(env, bare_env, size, folder)
        statements = await _statements(slack, size, folder)
    report = Report("idle: the whole bot with nothing to do", "the bot", "bare Bolt app")
    report.rows.extend(
        (
            below(Row("ready after", "s", ours, theirs), 1.5),
            below(Row("memory", "MB", rest.memory_mb, bare.memory_mb), 90),
            below(Row("processor, share of a core", "%", rest.cpu_percent, bare.cpu_percent), 1),
            Row("statements to the database", "/s", statements),
        )
    )
    return [report]


async def _starts(
    env: dict[str, str], bare_env: dict[str, str], size: Size, folder: Path
) -> tuple[float, float]:
    """Median seconds until ready, in turns; the first of several fills the caches and does not count."""
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(size.starts):
        async with running_bot("run", env, log=folder / "idle.log") as (_, _, seconds):
            ours.append(seconds)
        began = perf_counter()
        async with child("-m", "bench.ack_bare", "socket", env=bare_env, log=folder / "bare.log") as bare:
            _ready(await bare.hear())
            theirs.append(perf_counter() - began)
    return median(ours[1:] or ours), median(theirs[1:] or theirs)


async def _rest(
    env: dict[str, str], bare_env: dict[str, str], size: Size, folder: Path
) -> tuple[Resting, Resting]:
    async with AsyncExitStack() as stack:
        bot, _, _ = await stack.enter_async_context(running_bot("run", env, log=folder / "idle.log"))
        bare = await stack.enter_async_context(
            child("-m", "bench.ack_bare", "socket", env=bare_env, log=folder / "bare.log")
        )
        _ready(await bare.hear())
        await asyncio.sleep(min(2.0, size.seconds))
        used = bot.cpu_seconds(), bare.cpu_seconds()
        began = perf_counter()
        await asyncio.sleep(size.seconds)
        share = 100 / (perf_counter() - began)
        return (
            Resting(memory_mb(bot.pid), share * (bot.cpu_seconds() - used[0])),
            Resting(memory_mb(bare.pid), share * (bare.cpu_seconds() - used[1])),
        )


async def _statements(slack: PlayedSlack, size: Size, folder: Path) -> float:
    """Statements a second of the same bot inside this process."""
    counted = 0

    def count(*_about: Any) -> None:
        nonlocal counted
        counted += 1

    env = environment(slack.url, f"sqlite:///{folder}/counted.db", app_token=_TOKEN) | {"PORT": "0"}
    async with app.running_bot(Settings.load(env, env_file=None)):
        await asyncio.sleep(min(2.0, size.counted_seconds))
        event.listen(Engine, "before_cursor_execute", count)
        try:
            await asyncio.sleep(size.counted_seconds)
        finally:
            event.remove(Engine, "before_cursor_execute", count)
    return counted / size.counted_seconds


def _ready(line: str) -> None:
    if line != READY:
        raise RuntimeError(f"the bare app said {line!r}")
