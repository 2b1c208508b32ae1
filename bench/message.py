"""Benchmark `message`: how soon the bot acknowledges a message, and how soon its author sees a sign.

A mention is stored before it is acknowledged, as a command is; a message for nobody is not stored, and is
measured beside a Bolt app that only acknowledges. The bot runs on SQLite on disk without its workers
(`bench.bot_app`). The sides are measured in turns, over HTTP.

The first sign of a mention is its status message, and that of a reply in a job's thread its eyes. They are
measured with all workers, beside the status message of a command, through Socket Mode, in turns.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.command import INTAKE, Size, in_turns
from bench.docs_server import docs_service
from bench.processes import SIGNING_SECRET
from bench.report import Report, Row, at_most, below
from bench.running_jobs import channel
from bench.sides import Side, Typist, Way, bolt_side, bot_side
from bench.slack import BenchWorkspace, Change, person
from sandbox.workspace.state import BOT_USER

_REQUEST = "Add a quickstart number {} for the Python SDK to the guides"
_MENTION = f"<@{BOT_USER}> {_REQUEST}"
_FOR_NOBODY = "I'll look at it after lunch"


_MENTION_SHARES = (1.0, None, 1.25)
"""A mention's median and processor time as shares of a command's, which is stored like it."""
_NOBODY_SHARES = (None, None, 1.25)
"""The processor time of a message for nobody as a share of that in the bare app."""
FULL = Size({1: 100, 10: 300, 50: 500}, 4)
QUICK = Size({1: 20, 10: 40, 50: 100}, 1)
_SIGNS_A_TURN = 5
_SIGN_SHARE = 1.25
"""The time of a mention's first sign as a share of a command's. Slack's own answers are in both."""
_PAUSE_SECONDS = 0.3
"""Between two requests: Slack takes 240 messages a minute."""


async def measure(size: Size, folder: Path) -> list[Report]:
    """Measure a mention beside a command, a message for nobody beside the app, and the first signs."""
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(bot_side(Way.HTTP, folder, program=INTAKE))
        bare = await stack.enter_async_context(bolt_side("bench.bolt_app", Way.HTTP, folder))
        mentions = Report("message: a mention over HTTP", "a mention", "a command")
        await _compare(mentions, (_saying(bot, _MENTION.format(1)), bot), size, _MENTION_SHARES)
        others = Report("message: a message for nobody over HTTP", "the bot", "bare Bolt app")
        sides = (_saying(bot, _FOR_NOBODY), _saying(bare, _FOR_NOBODY))
        await _compare(others, sides, size, _NOBODY_SHARES)
    return [mentions, others, await _signs(size.turns * _SIGNS_A_TURN, folder)]


# ---- the acknowledgement


async def _compare(
    report: Report, sides: Sequence[Side], size: Size, shares: Sequence[float | None]
) -> None:
    """Add the rows of two sides to a report, by the number of messages at once.

    ``shares``: the goals of the median, the 99th percentile and the processor time.
    """
    times = await in_turns(sides, size)
    for at_once, (ours, theirs) in times.items():
        mine = ours.figures()
        other = theirs.figures()
        for name, share in zip(mine, shares, strict=True):
            row = Row(f"{name}, {at_once} at once", "ms", mine[name], other[name])
            report.rows.append(row if share is None else at_most(row, share))
    late = [sum(taken.unanswered for taken in side) for side in zip(*times.values(), strict=True)]
    row = Row("messages not acknowledged within 3 s", "", late[0], late[1])
    report.rows.append(below(row, 1))


def _saying(side: Side, text: str) -> Side:
    """Return a side that gets messages with this text."""
    typist = Typist(side.port, SIGNING_SECRET, text)
    return replace(side, burst=typist.type)


# ---- the first sign


@dataclass(slots=True)
class Signs:
    """The seconds until people saw that their requests were taken."""

    of_commands: list[float] = field(default_factory=list)
    of_mentions: list[float] = field(default_factory=list)
    of_replies: list[float] = field(default_factory=list)


async def _signs(count: int, folder: Path) -> Report:
    """Measure the time until people see that their requests are taken."""
    own = folder / "signs"
    own.mkdir()
    signs = Signs()
    async with AsyncExitStack() as stack:
        docs_url = await stack.enter_async_context(docs_service())
        bot = await stack.enter_async_context(bot_side(Way.SOCKET, own, docs_url=docs_url))
        bot.slack.answer_slowly()
        for number in range(1, 3 * count, 3):
            await _measure_signs(bot.slack, number, signs)
    report = Report("message: the first sign, through Socket Mode", "a message", "a command")
    command_ms = 1000 * median(signs.of_commands)
    for name, seconds in (
        ("the status message of a mention", signs.of_mentions),
        ("the eyes of a reply", signs.of_replies),
    ):
        row = Row(f"until {name}, median", "ms", 1000 * median(seconds), command_ms)
        report.rows.append(at_most(row, _SIGN_SHARE))
    return report


async def _measure_signs(slack: BenchWorkspace, number: int, signs: Signs) -> None:
    """Send a command, a mention, and a reply in the thread of the mention."""
    status = slack.expect(_posts(number))
    began = perf_counter()
    request = _REQUEST.format(number)
    await slack.people.command(person(number), channel(number), "/docs-agent", request)
    signs.of_commands.append(await _until(status, began))

    # In the next channel: each takes one message a second.
    user = person(number + 1)
    room = channel(number + 1)
    status = slack.expect(_posts(number + 1))
    began = perf_counter()
    said = slack.people.say(user, room, f"@docs-agent {_REQUEST.format(number + 1)}")
    signs.of_mentions.append(await _until(status, began))

    text = f"Add an example number {number + 2}, too"
    eyes = slack.expect(_reacts_to(text))
    began = perf_counter()
    slack.people.say(user, room, text, thread_ts=said["ts"])
    signs.of_replies.append(await _until(eyes, began))


def _reacts_to(text: str) -> Callable[[Change], bool]:
    """Return whether the app reacts to the message with this text."""

    def is_it(change: Change) -> bool:
        users = [user for each in change.message.get("reactions", ()) for user in each["users"]]
        return change.message.get("text") == text and BOT_USER in users

    return is_it


def _posts(number: int) -> Callable[[Change], bool]:
    """Return whether the app posts the status message of the request with this number."""

    def is_it(change: Change) -> bool:
        message = change.message
        return bool(message.get("bot_id")) and f"number {number} " in json.dumps(message)

    return is_it


async def _until(expected: asyncio.Future[Change], began: float) -> float:
    """Return the seconds until a change, and leave a pause."""
    async with asyncio.timeout(60):
        change = await expected
    await asyncio.sleep(_PAUSE_SECONDS)
    return change.at - began
