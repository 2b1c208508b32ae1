"""Benchmark `message`: how soon the bot acknowledges a message, beside a Bolt app that only does that.

A mention is stored before it is acknowledged; a message for nobody is not stored. The bot runs on SQLite
on disk without its workers (`bench.bot_app`). The sides are measured in turns, over HTTP.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from bench.command import INTAKE, Size, Taken, in_turns
from bench.processes import SIGNING_SECRET
from bench.report import Report, Row, below
from bench.sides import Side, Typist, Way, bolt_side, bot_side
from bench.slack import PlayedSlack, played_slack
from sandbox.ports import free_port

TEXTS = {
    "a mention": "<@U0BOT> Add a quickstart for the Python SDK to the guides",
    "a message for nobody": "I'll look at it after lunch",
}
FULL = Size({1: 100, 10: 300, 50: 500}, 4)
QUICK = Size({1: 20, 10: 40, 50: 100}, 1)


async def measure(size: Size, folder: Path) -> list[Report]:
    """Measure each kind of message beside the app that only acknowledges."""
    async with played_slack(free_port()) as slack:
        return [await _compared(kind, text, slack, size, folder) for kind, text in TEXTS.items()]


async def _compared(kind: str, text: str, slack: PlayedSlack, size: Size, folder: Path) -> Report:
    own = folder / kind.replace(" ", "-")
    own.mkdir()
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(bot_side(Way.HTTP, slack, own, program=INTAKE))
        bare = await stack.enter_async_context(bolt_side("bench.bolt_app", Way.HTTP, slack, own))
        sides = (_saying(bot, text), _saying(bare, text))
        times = await in_turns(sides, size)
    report = Report(f"message: {kind} over HTTP", "the bot", "bare Bolt app")
    for at_once, (ours, theirs) in times.items():
        report.rows.extend(_rows(at_once, ours, theirs))
    late = [sum(taken.unanswered for taken in side) for side in zip(*times.values(), strict=True)]
    row = Row("messages not acknowledged within 3 s", "", late[0], late[1])
    report.rows.append(below(row, 1))
    return report


def _saying(side: Side, text: str) -> Side:
    """Return a side that gets messages with this text."""
    typist = Typist(int(side.to), SIGNING_SECRET, text)
    return replace(side, burst=typist.type)


def _rows(at_once: int, ours: Taken, theirs: Taken) -> list[Row]:
    a, b = ours.figures(), theirs.figures()
    return [Row(f"{name}, {at_once} at once", "ms", a[name], b[name]) for name in a]
