"""Benchmark `recovery`: how soon the ends of jobs are posted after the bot was killed with many jobs in hand.

`docs-bot run` on SQLite on disk follows the jobs and is killed (SIGKILL) while the docs service leaves its
polls without an answer, so that it holds their leases. Every fifth job ends meanwhile. Another bot starts at
once. It polls jobs without a lease, and the rest when the leases run out; a bot that kept its jobs in memory
would post none of them. There are no more ends than Slack's limits permit within a lease.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

from sqlalchemy import func, select, update

from bench.bot_parts import add_running_jobs
from bench.docs_server import ENDED_EVERY, docs_service
from bench.processes import environment, running_bot
from bench.report import Report, Row, below
from bench.running_jobs import CHANNELS
from bench.slack import BenchWorkspace, workspace
from bot.context import Timeouts
from bot.jobs.store.tables import jobs as jobs_table
from bot.store import Store, Transaction
from bot.store.upgrade import upgrade_tables
from sandbox.ports import free_port

_LEASE_SECONDS = Timeouts().lease_seconds
_GRACE_SECONDS = 5.0
_LEASED = jobs_table.c.claimed_until.is_not(None)
_LONGER_SECONDS = 2.0
"""In this time a second end in a thread would be seen."""
_LIMIT_SECONDS = 10 * _LEASE_SECONDS


@dataclass(frozen=True, slots=True)
class Size:
    """How many jobs, of how many the bot holds the lease when it is killed, and how long a lease lasts.

    A lease that is shorter than the bot's is cut after the kill.
    """

    jobs: int
    held: int
    lease_seconds: float = _LEASE_SECONDS

    @property
    def ended(self) -> int:
        """Return how many of them end."""
        return len(range(0, self.jobs, ENDED_EVERY))


FULL, QUICK = Size(1_000, 50), Size(20, 20, 2.0)


async def measure(size: Size, folder: Path) -> list[Report]:
    """Measure from the kill until the last end is posted."""
    database_url, docs_port = f"sqlite:///{folder}/recovery.db", free_port()
    store = Store.open(database_url)
    try:
        await upgrade_tables(store.database)
        docs_url = f"http://127.0.0.1:{docs_port}"
        await add_running_jobs(
            store, docs_url, size.jobs, CHANNELS, lambda _number: datetime.now(UTC)
        )
        async with workspace(folder / "slack") as slack, asyncio.timeout(_LIMIT_SECONDS):
            slack.answer_slowly()
            slack.add_status_messages(size.jobs)
            env = environment(slack.url, database_url, docs_url=docs_url, app_token=slack.token)
            killed_at = await _kill_one(store, env, docs_port, size, folder)
            seconds = await _all_told(slack, env, docs_port, size, folder) - killed_at
        return [_report(size, seconds, _told(slack))]
    finally:
        await store.close()


async def _kill_one(
    store: Store, env: dict[str, str], docs_port: int, size: Size, folder: Path
) -> float:
    """Run a bot until it holds as many jobs as it should, and kill it. Return when."""
    silent = docs_service("silent", size.jobs, port=docs_port)
    async with silent, running_bot(env, log=folder / "killed.log") as (bot, _, _):
        while await store.read(_held) < size.held:  # noqa: ASYNC110 - another process writes
            await asyncio.sleep(0.1)
        bot.process.kill()
        killed_at = monotonic()
        await bot.process.wait()
    if size.lease_seconds < _LEASE_SECONDS:
        until = datetime.now(UTC) + timedelta(seconds=size.lease_seconds)
        cut = update(jobs_table).where(_LEASED).values(claimed_until=until)
        await store.write(lambda tx: tx.connection.execute(cut).close())
    return killed_at


def _held(tx: Transaction) -> int:
    return int(tx.connection.execute(select(func.count()).where(_LEASED)).scalar_one())


async def _all_told(
    slack: BenchWorkspace, env: dict[str, str], docs_port: int, size: Size, folder: Path
) -> float:
    """Run another bot until all ends are posted. Return the time."""
    some = docs_service("some", size.jobs, port=docs_port)
    async with some, running_bot(env, log=folder / "recovery.log"):
        while len(_told(slack)) < size.ended:  # noqa: ASYNC110 - the same
            await asyncio.sleep(0.1)
        told_at = monotonic()
        await asyncio.sleep(_LONGER_SECONDS)
    return told_at


def _told(slack: BenchWorkspace) -> Counter[str]:
    """Return how many posts each thread has got."""
    posts = [post for room in slack.state.messages.values() for post in room.values()]
    return Counter(f"{post['channel']} {post['thread_ts']}" for post in posts if post["thread_ts"])


def _report(size: Size, seconds: float, posts: Counter[str]) -> Report:
    name = f"recovery: {size.jobs:,} jobs in hand at the kill, {size.ended} end meanwhile"
    report = Report(name, "the bot", "the lease")
    twice = sum(count > 1 for count in posts.values())
    told_after = Row("from the kill until the last end is told", "s", seconds, size.lease_seconds)
    report.rows.append(below(told_after, size.lease_seconds + _GRACE_SECONDS))
    report.rows.append(below(Row("threads told twice", "", twice), 1))
    report.notes.append(f"The killed process held the leases of {size.held} jobs.")
    return report
