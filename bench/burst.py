"""Benchmark `burst`: many jobs end at once; the time until all threads are told, beside Slack's rate limit.

It runs the real poll and deliver workers on SQLite on disk. The messenger is as slow as Slack, and refuses
more than one message per second in a channel, as Slack may (https://docs.slack.dev/apis/web-api/rate-limits).
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from pydantic import SecretStr

from bench.children import READY, child
from bench.jobs import add_running_jobs
from bench.report import Goal, Report, Row, below
from bench.silent import SilentMessenger
from bot import logs
from bot.docs_api import DocsClient
from bot.model import ChannelId, DeliveryId, Message, MessageTs, ProjectId, UserId
from bot.store import Store
from bot.store.due import Queue, find_due
from bot.store.migrate import migrate
from bot.work.context import WorkerContext
from bot.work.jobs.poll import poll_jobs
from bot.work.outbox.deliver import deliver_due
from bot.work.ports import SlackThrottled
from bot.worker import WakeUp, Worker, Workers
from sandbox.ports import free_port

_SLACK_SECONDS = 0.08
"""The typical time of a post at Slack."""
_PACE_SECONDS = 1.0
_GOAL = 1.05


@dataclass(frozen=True, slots=True)
class Size:
    """How many jobs end, and in how many channels."""

    jobs: int
    channels: int

    @property
    def limit_seconds(self) -> float:
        """Return the least possible time: a channel's first post is immediate, each other a second later."""
        return max(self.jobs // self.channels - 1, 1) * _PACE_SECONDS


FULL, QUICK = Size(1_000, 50), Size(20, 10)


class PacedMessenger(SilentMessenger):
    """A messenger with Slack's latency and rate limit, which counts the posts by thread."""

    def __init__(self, jobs: int) -> None:
        super().__init__()
        self._jobs = jobs
        self.all_told = asyncio.Event()
        self._last: dict[ChannelId, float] = {}
        self.told: dict[MessageTs | None, int] = defaultdict(int)
        self.told_at = 0.0
        self.refused = 0

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        """Wait as long as Slack takes. Raises SlackThrottled for a post that comes too soon."""
        now = monotonic()
        if now - self._last.get(channel, -_PACE_SECONDS) < _PACE_SECONDS:
            self.refused += 1
            raise SlackThrottled(_PACE_SECONDS)
        self._last[channel] = now
        await asyncio.sleep(_SLACK_SECONDS)
        self.told[thread] += 1
        self.told_at = monotonic()
        if len(self.told) == self._jobs:
            self.all_told.set()
        return await super().post(channel, message, delivery=delivery, thread=thread)

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        """Wait as long as Slack takes."""
        del channel, ts, message
        await asyncio.sleep(_SLACK_SECONDS)


async def measure(size: Size, folder: Path) -> list[Report]:
    """Measure from the moment when all jobs have ended until the last thread is told."""
    logs.configure("WARNING", "console")
    port = free_port()
    async with child("-m", "bench.docs_server", str(port), "completed") as service:
        if await service.hear() != READY:
            raise RuntimeError("the docs service did not start")
        store = Store.open(f"sqlite:///{folder}/burst.db")
        try:
            await migrate(store.database)
            return [await _told(store, f"http://127.0.0.1:{port}", size)]
        finally:
            await store.close()


async def _told(store: Store, docs_url: str, size: Size) -> Report:
    wake_up, slack = WakeUp(), PacedMessenger(size.jobs)
    async with DocsClient.open(base_url=docs_url, api_key=SecretStr("bench-key")) as docs:
        context = replace(
            _worker_context(store, docs, slack), wake=wake_up.wake, wake_after=wake_up.wake_after
        )
        workers = Workers(
            [
                Worker("poll", lambda: poll_jobs(context), 1.0, queue=Queue.POLLS),
                Worker("deliver", lambda: deliver_due(context), 1.0, queue=Queue.DELIVERIES),
            ],
            due=lambda: store.read(lambda tx: find_due(tx.connection, context.clock())),
        )
        wake_up.connect(workers)
        await add_running_jobs(store, size.jobs, size.channels, lambda _number: datetime.now(UTC))
        began, used = monotonic(), os.times()
        workers.start()
        try:
            async with asyncio.timeout(4 * size.limit_seconds + 300):
                await slack.all_told.wait()
        finally:
            await workers.stop(5.0)
    spent = os.times()
    cpu = spent.user + spent.system - used.user - used.system
    return _report(size, slack, slack.told_at - began, cpu)


def _worker_context(store: Store, docs: DocsClient, slack: PacedMessenger) -> WorkerContext:
    return WorkerContext(
        store=store,
        docs=docs,
        messenger=slack,
        clock=lambda: datetime.now(UTC),
        chance=random.random,
        owner=f"bench:{os.getpid()}",
        bot_user=UserId("U0BOT"),
        project=ProjectId("bench"),
        wake=lambda: None,
    )


def _report(size: Size, slack: PacedMessenger, seconds: float, cpu_seconds: float) -> Report:
    name = f"burst: {size.jobs:,} jobs end at once, in {size.channels} channels"
    report = Report(name, "the bot", "Slack's limit")
    limit = size.limit_seconds
    goal = Goal("≤ 1.05 of the limit", seconds <= _GOAL * limit)
    twice = sum(1 for times in slack.told.values() if times > 1)
    report.rows.extend(
        (
            Row("until the last thread knows", "s", seconds, limit, goal),
            below(Row("posts that Slack refused as too fast", "", slack.refused), 1),
            below(Row("threads told twice", "", twice), 1),
            Row("processor time for each job", "ms", 1000 * cpu_seconds / size.jobs),
        )
    )
    return report
