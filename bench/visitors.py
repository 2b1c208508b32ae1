"""Benchmark `visitors`: a site's pages read from the analytics API and ranked, its time and memory.

A person asks the whole bot on SQLite on disk, each time about another day. Beside it a script does the same
calls, one after the other as the bot does, and keeps and sorts the rows in memory. The docs service takes no
time itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.docs_server import docs_service
from bench.processes import Child, memory_mb, most_memory_mb
from bench.report import Report, Row
from bench.running_jobs import channel
from bench.sides import Way, bot_side
from bench.slack import BenchWorkspace, person
from bench.visitors_theirs import ranked, visitors_script

_FIRST_DAY = date.today() - timedelta(days=30)  # noqa: DTZ011 - any day that is over
_LIMIT_SECONDS = 300.0
_PAGE = "/guides/page-"
"""The beginning of each page's path."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many pages the site has, and about how many days each side is asked."""

    pages: int
    days: int


FULL, QUICK = Size(5_000, 4), Size(500, 2)


class Reader:
    """A process that reads the pages of a day, with the time of each day."""

    def __init__(self, process: Child, read: Callable[[date], Awaitable[object]]) -> None:
        self._process, self._read = process, read
        self._memory_mb = memory_mb(process.pid)
        self.seconds: list[float] = []
        self.cpu_seconds: list[float] = []

    async def read(self, day: date) -> None:
        """Read a day. The first one is not counted, in which modules are loaded."""
        began, used = perf_counter(), self._process.cpu_seconds()
        await self._read(day)
        self.seconds.append(perf_counter() - began)
        self.cpu_seconds.append(self._process.cpu_seconds() - used)

    @property
    def growth_mb(self) -> float:
        """Return by how much the process has grown at most."""
        return most_memory_mb(self._process.pid) - self._memory_mb


async def measure(size: Size, folder: Path) -> list[Report]:
    """Read each day with the bot and with the script, in turns."""
    async with AsyncExitStack() as stack:
        docs_url = await stack.enter_async_context(docs_service(pages=size.pages))
        bot = await stack.enter_async_context(bot_side(Way.SOCKET, folder, docs_url=docs_url))
        bot.slack.answer_slowly()
        script = await stack.enter_async_context(visitors_script(docs_url))
        ours = Reader(bot.process, lambda day: _asked(bot.slack, day))
        theirs = Reader(script, lambda day: ranked(script, day, day + timedelta(days=1)))
        for number in range(1 + size.days):
            async with asyncio.timeout(_LIMIT_SECONDS):
                await ours.read(_FIRST_DAY + timedelta(days=number))
                await theirs.read(_FIRST_DAY + timedelta(days=number))
        return [_report(size, ours, theirs)]


async def _asked(slack: BenchWorkspace, day: date) -> None:
    """Ask the bot about a day; wait for the answer."""
    answer = slack.expect(lambda change: _PAGE in json.dumps(change.message))
    question = f"{day} compare none"
    await slack.people.command(person(1), channel(1), "/docs-visitors", question)
    await answer


def _report(size: Size, ours: Reader, theirs: Reader) -> Report:
    report = Report(f"visitors: {size.pages:,} pages read and ranked", "the bot", "httpx + sorted")
    report.rows.extend(
        (
            Row(
                "from the question to the answer",
                "s",
                median(ours.seconds[1:]),
                median(theirs.seconds[1:]),
            ),
            Row(
                "processor time", "s", median(ours.cpu_seconds[1:]), median(theirs.cpu_seconds[1:])
            ),
            Row("memory at most, beyond that at rest", "MB", ours.growth_mb, theirs.growth_mb),
        )
    )
    return report
