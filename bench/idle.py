"""Benchmark `idle`: the whole bot's start time, and its memory and processor time when idle.

`docs-bot run` in Socket Mode on SQLite on disk, beside a bare Bolt app without workers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.processes import READY, SIGNING_SECRET, Child, child, environment, memory_mb, running_bot
from bench.report import Report, Row, below
from bench.slack import workspace


@dataclass(frozen=True, slots=True)
class Size:
    """How many starts are measured, and for how long the idle processes are observed."""

    starts: int
    seconds: float


FULL, QUICK = Size(6, 20.0), Size(1, 1.0)


@dataclass(frozen=True, slots=True)
class Start:
    """The time and processor time of one start, until the process is ready."""

    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Resting:
    """The figures of one idle process."""

    memory_mb: float
    cpu_percent: float


async def measure(size: Size, folder: Path) -> list[Report]:
    """Measure starts in turns, then both processes idle at the same time."""
    async with workspace(folder / "slack") as slack, workspace(folder / "bare-slack") as bare_slack:
        env = environment(slack.url, f"sqlite:///{folder}/idle.db", app_token=slack.token)
        bare_env = environment(bare_slack.url, "", app_token=bare_slack.token)
        bare_env |= {"SLACK_SIGNING_SECRET": SIGNING_SECRET}
        ours, theirs = await _starts(env, bare_env, size, folder)
        rest, bare = await _rest(env, bare_env, size, folder)
    report = Report("idle: the whole bot with nothing to do", "the bot", "bare Bolt app")
    report.rows.extend(
        (
            below(Row("ready after", "s", ours.seconds, theirs.seconds), 1.5),
            Row("ready after, processor time", "s", ours.cpu_seconds, theirs.cpu_seconds),
            below(Row("memory", "MB", rest.memory_mb, bare.memory_mb), 90),
            below(Row("processor, share of a core", "%", rest.cpu_percent, bare.cpu_percent), 1),
        )
    )
    return [report]


async def _starts(
    env: dict[str, str], bare_env: dict[str, str], size: Size, folder: Path
) -> tuple[Start, Start]:
    """Start both in turns and return the medians; the first start of each fills caches and is left out."""
    ours: list[Start] = []
    theirs: list[Start] = []
    for _ in range(size.starts):
        ours.append(await _start(env, folder))
        began = perf_counter()
        async with child(
            "-m", "bench.bolt_app", "socket", "0", env=bare_env, log=folder / "bare.log"
        ) as bare:
            _ready(await bare.hear())
            theirs.append(Start(perf_counter() - began, bare.cpu_seconds()))
    return _median(ours), _median(theirs)


async def _start(env: dict[str, str], folder: Path) -> Start:
    """Start the bot once, measure that, and stop it."""
    async with running_bot(env, log=folder / "idle.log") as (bot, _, seconds):
        return Start(seconds, bot.cpu_seconds())


def _median(starts: list[Start]) -> Start:
    counted = starts[1:] or starts
    return Start(median(one.seconds for one in counted), median(one.cpu_seconds for one in counted))


async def _rest(
    env: dict[str, str], bare_env: dict[str, str], size: Size, folder: Path
) -> tuple[Resting, Resting]:
    async with AsyncExitStack() as stack:
        bot, _, _ = await stack.enter_async_context(running_bot(env, log=folder / "idle.log"))
        bare = await stack.enter_async_context(
            child("-m", "bench.bolt_app", "socket", "0", env=bare_env, log=folder / "bare.log")
        )
        _ready(await bare.hear())
        ours, theirs = await _resting((bot, bare), size.seconds)
        return ours, theirs


async def _resting(processes: Sequence[Child], seconds: float) -> list[Resting]:
    """Measure idle processes, all at the same time, after two seconds in which their start completes."""
    await asyncio.sleep(min(2.0, seconds))
    used = [process.cpu_seconds() for process in processes]
    began = perf_counter()
    await asyncio.sleep(seconds)
    share = 100 / (perf_counter() - began)
    return [
        Resting(memory_mb(process.pid), share * (process.cpu_seconds() - before))
        for process, before in zip(processes, used, strict=True)
    ]


def _ready(line: str) -> None:
    if line != READY:
        raise RuntimeError(f"the bare app said {line!r}")
