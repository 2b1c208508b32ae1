"""Benchmark `poll`: processor time per poll, including the claim and the writes, and how late polls are.

Both sides poll the same number of jobs at the same interval, spread evenly. The alternative stores nothing.
The bot stores everything in a database, whose own processes are not counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from sqlalchemy import func, select

from bench.docs_server import docs_service
from bench.processes import READY, Child, child, most_memory_mb
from bench.report import Report, Row, at_most, below
from bot.jobs.store.tables import jobs as jobs_table
from bot.store.database import Database
from tests.databases import PostgresServer

_GOAL_SHARE = 1 / 3
_MOST_MEMORY_MB = 150.0


@dataclass(frozen=True, slots=True)
class Size:
    """How many jobs, the interval of their polls, and the times of warming up and of measuring."""

    jobs: tuple[int, ...]
    every_seconds: float
    warm_seconds: float
    window_seconds: float
    turns: int


FULL = Size((1_000, 10_000), 20.0, 4.0, 6.0, 2)
QUICK = Size((40,), 1.0, 0.5, 1.5, 1)


@dataclass(frozen=True, slots=True)
class Found:
    """The figures of one measurement."""

    cpu_ms: float
    polls_a_second: float
    memory_mb: float
    failed: int
    late_seconds: float = 0.0


async def measure(size: Size, folder: Path) -> list[Report]:
    """Measure each number of jobs with both databases, beside the alternative."""
    with ExitStack() as stack:
        postgres = PostgresServer(folder)
        stack.callback(postgres.stop)
        async with docs_service(jobs=max(size.jobs)) as url:
            return [await _compared(url, postgres, count, size, folder) for count in size.jobs]


async def _compared(
    url: str, postgres: PostgresServer, count: int, size: Size, folder: Path
) -> Report:
    a: list[Found] = []
    b: list[Found] = []
    c: list[Found] = []
    for turn in range(size.turns):
        b.append(await _theirs(url, count, size))
        sqlite = f"sqlite:///{folder}/poll-{count}-{turn}.db"
        a.append(await _ours(url, sqlite, count, size, folder))
        c.append(await _ours(url, postgres.new_database(), count, size, folder))
    name = f"poll: {count:,} active jobs, each every {size.every_seconds:g} s"
    report = Report(name, "the bot", "APScheduler + httpx")
    theirs = median(results.cpu_ms for results in b)
    polls = median(results.polls_a_second for results in b)
    keeps_up = polls >= 0.9 * count / size.every_seconds
    for name, results in (("SQLite", a), ("PostgreSQL", c)):
        report.rows.extend(_rows(name, results, theirs, count / size.every_seconds, keeps_up))
    failed, memory = sum(results.failed for results in b), max(results.memory_mb for results in b)
    report.notes.append(
        f"Theirs made {polls:.0f} of {count / size.every_seconds:.0f} polls a second, {failed} failed; "
        f"memory {memory:.0f} MB."
    )
    if not keeps_up:
        report.notes.append(
            "It does not keep up: much of its time goes into polls that never were. Compare the smaller size."
        )
    return report


def _rows(
    name: str, results: list[Found], theirs_ms: float, goal: float, keeps_up: bool
) -> list[Row]:
    cpu = Row(
        f"processor time a poll, {name}", "ms", median(one.cpu_ms for one in results), theirs_ms
    )
    rate = Row(
        f"polls a second, {name} (wanted: {goal:g})",
        "/s",
        median(one.polls_a_second for one in results),
    )
    late = Row(f"the latest poll, {name}", "s", max(one.late_seconds for one in results))
    memory = Row(f"memory at most, {name}", "MB", max(one.memory_mb for one in results))
    # A comparison with an alternative that does not do all the work would prove nothing.
    cpu = at_most(cpu, _GOAL_SHARE) if keeps_up else cpu
    return [cpu, rate, below(late, 1.0), below(memory, _MOST_MEMORY_MB)]


async def _theirs(url: str, count: int, size: Size) -> Found:
    async with child(
        "-m", "bench.poll_theirs", url, str(count), str(size.every_seconds)
    ) as watcher:
        return await _watched(watcher, size)


async def _ours(url: str, database_url: str, count: int, size: Size, folder: Path) -> Found:
    arguments = ("-m", "bench.poll_ours", url, database_url, str(count), str(size.every_seconds))
    async with (
        child(*arguments, log=folder / "poll.log") as watcher,
        _lateness(database_url) as latest,
    ):
        return await _watched(watcher, size, latest)


async def _watched(
    watcher: Child, size: Size, latest: Callable[[], Awaitable[float]] | None = None
) -> Found:
    if await watcher.hear() != READY:
        raise RuntimeError("the process did not start")
    await asyncio.sleep(1 + size.warm_seconds)
    before, used = await _counts(watcher), watcher.cpu_seconds()
    began = asyncio.get_running_loop().time()
    late = 0.0
    while asyncio.get_running_loop().time() < began + size.window_seconds:
        await asyncio.sleep(0.1)
        if latest is not None:
            late = max(late, await latest())
    after, used = await _counts(watcher), watcher.cpu_seconds() - used
    seconds = asyncio.get_running_loop().time() - began
    polls = max(after[0] - before[0], 1)
    return Found(
        1000 * used / polls,
        polls / seconds,
        most_memory_mb(watcher.pid),
        after[1] - before[1],
        late,
    )


async def _counts(watcher: Child) -> tuple[int, int]:
    await watcher.say("count")
    done, failed = (await watcher.hear()).split()
    return int(done), int(failed)


@asynccontextmanager
async def _lateness(database_url: str) -> AsyncIterator[Callable[[], Awaitable[float]]]:
    """Yield a function that returns how late the most overdue poll is, in seconds, as stored."""
    database, first = Database.open(database_url), select(func.min(jobs_table.c.poll_at))

    async def latest() -> float:
        due_at = await database.read(
            lambda connection: connection.execute(first).scalar_one_or_none()
        )
        return (datetime.now(UTC) - due_at).total_seconds() if due_at else 0.0

    try:
        yield latest
    finally:
        await database.close()
