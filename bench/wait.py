"""Benchmark `wait`: how long people wait for what they see, from what they did until it arrives at Slack.

`docs-bot run` on SQLite on disk, at rest, beside a Bolt app that stores nothing and speaks at once. Each gets
the same requests in turns, over HTTP and through a socket. The bot knows the person and the channel, so it
asks Slack nothing before it speaks. The time of Slack's answer to what is said is no part of any figure.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench.ack_sides import NAMES, Way, bolt_side, bot_side
from bench.docs_server import docs_service
from bench.measure import spread
from bench.report import Report, Row, below
from bench.wait_slack import ReadingSlack, Said, reading_slack
from sandbox.ports import free_port

_FACE, _PRESS = "from /docs-agent to the job's face", "from a press to its effect"
_VISITORS = "from /docs-visitors of known numbers to the answer"
_GOALS_MS = {_FACE: 60.0, _PRESS: None, _VISITORS: 100.0}
_STOP, _PAGE = "stop_watching:", "/guides/page-"
"""The value of *Stop watching* in the menu of a job, and the beginning of each page's path."""
_LIMIT_SECONDS = 300.0
"""For a turn: an app that never says what is waited for must not stop everything."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many turns are measured, and the seconds of the pause before each press and after each turn.

    In a shorter pause Slack takes no second post in a channel, and the bot's pace allows no second edit.
    """

    turns: int
    pause_seconds: float = 1.3


FULL, QUICK = Size(20), Size(2)


@dataclass(slots=True)
class Side:
    """A running app and what a person does with it. ``to`` is its socket's token or its port."""

    slack: ReadingSlack
    to: str | int
    numbers: Iterator[int]
    asked: str = ""
    """The text of the latest job."""
    choice: str = ""
    """*Stop watching* in its menu."""
    milliseconds: dict[str, list[float]] = field(default_factory=lambda: {what: [] for what in _GOALS_MS})

    async def ask(self) -> None:
        """Ask for a job; wait for its face, and until the job has begun."""
        number = next(self.numbers)
        self.asked = f"Add a quickstart number {number}."
        face = self.slack.expect(lambda said: said.method == "chat.postMessage" and self.asked in said.text)
        begun = self.slack.expect(lambda said: self.asked in said.text and _STOP in said.text)
        await self._wait(_FACE, face, self._command("/docs-agent", self.asked, number), "slash_commands")
        self.choice = re.findall(rf"{_STOP}\d+", (await begun).text)[0]

    async def press(self) -> None:
        """Choose *Stop watching*; wait until the face offers it no more."""
        number = next(self.numbers)
        effect = self.slack.expect(
            lambda said: said.method == "chat.update" and self.asked in said.text and _STOP not in said.text
        )
        option = {"value": self.choice}
        press: dict[str, object] = {
            "type": "block_actions",
            "trigger_id": f"{number}.bench",
            "team": {"id": "T1"},
            "user": {"id": "U001", "team_id": "T1"},
            "api_app_id": "A1",
            "response_url": self.slack.response_url(number),
            "message": {"text": self.asked},
            "container": {"channel_id": self._channel, "message_ts": "1700000000.000001"},
            "channel": {"id": self._channel},
            "actions": [{"action_id": "job_menu", "type": "overflow", "selected_option": option}],
        }
        await self._wait(_PRESS, effect, press, "interactive")

    async def visitors(self, words: str = "last week") -> None:
        """Ask for the visitors of a period; wait for the answer."""
        number = next(self.numbers)
        answer = self.slack.expect(lambda said: said.method == f"respond/{number}" and _PAGE in said.text)
        command = self._command("/docs-visitors", words, number)
        await self._wait(_VISITORS, answer, command, "slash_commands")

    async def _wait(
        self, what: str, effect: asyncio.Future[Said], fields: dict[str, object], kind: str
    ) -> None:
        began = await self.slack.bring(self.to, fields, kind)
        self.milliseconds[what].append(1000 * ((await effect).at - began))

    @property
    def _channel(self) -> str:
        return f"C{self.to}".upper()

    def _command(self, name: str, text: str, number: int) -> dict[str, object]:
        return {
            "command": name,
            "text": text,
            "trigger_id": f"{number}.bench",
            "channel_id": self._channel,
            "user_id": "U001",
            "team_id": "T1",
            "api_app_id": "A1",
            "response_url": self.slack.response_url(number),
        }


async def measure(size: Size, folder: Path) -> list[Report]:
    """Measure both ways in during the same time: each app rests while the others are asked."""
    numbers = itertools.count(1)
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(reading_slack(free_port()))
        docs_url = await stack.enter_async_context(docs_service("active"))
        sides = {}
        for way in Way:
            bot = await stack.enter_async_context(
                bot_side(way, slack, folder, command="run", docs_url=docs_url)
            )
            bare = await stack.enter_async_context(bolt_side("bench.wait_bare", way, slack, folder))
            sides[way] = [Side(slack, app.to, numbers) for app in (bot, bare)]
        await _in_turns([side for pair in sides.values() for side in pair], size)
    return [_report(way, ours, theirs) for way, (ours, theirs) in sides.items()]


async def _in_turns(sides: list[Side], size: Size) -> None:
    for _ in range(1 + size.turns):
        async with asyncio.timeout(_LIMIT_SECONDS):
            for side in sides:
                await side.ask()
            await asyncio.sleep(size.pause_seconds)
            for side in sides:
                await side.press()
                await side.visitors()
            await asyncio.sleep(size.pause_seconds)


def _report(way: Way, ours: Side, theirs: Side) -> Report:
    """Compare all turns but the first, in which the bot meets the person and fetches the numbers."""
    report = Report(f"wait: what people wait for, {NAMES[way]}", "the bot", "Bolt app, stores nothing")
    for what, limit in _GOALS_MS.items():
        a, b = (spread(side.milliseconds[what][1:]) for side in (ours, theirs))
        median = Row(f"{what}: median", "ms", a.median, b.median)
        report.rows.append(below(median, limit) if limit else median)
        report.rows.append(Row(f"{what}: 99th percentile", "ms", a.p99, b.p99))
    return report
