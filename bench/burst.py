"""Benchmark `burst`: many jobs end at once; the time until all are posted, beside Slack's rate limits.

It runs the real poll and deliver workers on SQLite on disk. The messenger is as slow as Slack, and refuses
more than one message a second in a channel, 300 messages a minute in all, and 50 edits a minute, as Slack may
(https://docs.slack.dev/apis/web-api/rate-limits). Of "several hundred" messages a minute it uses 240.
The status messages are redrawn at 48 a minute meanwhile and after it; nobody waits for the last one.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict, deque
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic

from pydantic import SecretStr

from bench.bot_parts import SilentMessenger, add_running_jobs, worker_context
from bench.docs_server import docs_service
from bench.processes import DOCS_KEY
from bench.report import Goal, Report, Row, below
from bot import logs
from bot.docs_api import DocsClient
from bot.engine import Workers
from bot.ids import ChannelId, DeliveryId, Message, MessageTs
from bot.ports import Posted, SlackThrottled
from bot.store import Store
from bot.store.upgrade import upgrade_tables
from bot.subjects import all_workers

_SLACK_SECONDS = 0.08
"""The typical time of a post at Slack."""
_PACE_SECONDS = 1.0
_POSTS_A_MINUTE, _EDITS_A_MINUTE = 300, 50
_OURS_A_MINUTE = 240
_GOAL = 1.05


@dataclass(frozen=True, slots=True)
class Size:
    """How many jobs end, and in how many channels."""

    jobs: int
    channels: int

    @property
    def limit_seconds(self) -> float:
        """Return the least possible time at the pace of the channels and at that of the workspace."""
        in_channel = max(self.jobs // self.channels - 1, 1) * _PACE_SECONDS
        return max(in_channel, self.jobs / _OURS_A_MINUTE * 60.0)


FULL, QUICK = Size(1_000, 50), Size(20, 10)


class CallsInAMinute:
    """Counts the calls of one method. Slack refuses those beyond the limit of any minute."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._calls = deque[float]()
        self.refused = 0

    def check(self) -> None:
        """Count a call. Raises SlackThrottled if it is one too many."""
        now = monotonic()
        while self._calls and self._calls[0] <= now - 60.0:
            self._calls.popleft()
        if len(self._calls) >= self._limit:
            self.refused += 1
            raise SlackThrottled(self._calls[0] + 60.0 - now)
        self._calls.append(now)


class PacedMessenger(SilentMessenger):
    """A messenger with Slack's latency and rate limits, which counts the posts by thread, and the edits.

    It is not the sandbox's workspace, whose work would count as processor time of this process.
    """

    def __init__(self, jobs: int) -> None:
        super().__init__()
        self._jobs = jobs
        self.all_told = asyncio.Event()
        self._last: dict[ChannelId, float] = {}
        self.told: dict[MessageTs | None, int] = defaultdict(int)
        self.told_at = 0.0
        self.refused = 0
        self.redrawn = 0
        self.posts, self.edits = CallsInAMinute(_POSTS_A_MINUTE), CallsInAMinute(_EDITS_A_MINUTE)

    async def post(
        self,
        channel: ChannelId,
        message: Message,
        *,
        delivery: DeliveryId,
        thread: MessageTs | None,
    ) -> Posted:
        """Wait as long as Slack takes. Raises SlackThrottled for a post that comes too soon."""
        now = monotonic()
        if now - self._last.get(channel, -_PACE_SECONDS) < _PACE_SECONDS:
            self.refused += 1
            raise SlackThrottled(_PACE_SECONDS)
        self.posts.check()
        self._last[channel] = now
        await asyncio.sleep(_SLACK_SECONDS)
        self.told[thread] += 1
        self.told_at = monotonic()
        if len(self.told) == self._jobs:
            self.all_told.set()
        return await super().post(channel, message, delivery=delivery, thread=thread)

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        """Wait as long as Slack takes. Raises SlackThrottled for an edit that comes too soon."""
        del channel, ts, message
        self.edits.check()
        await asyncio.sleep(_SLACK_SECONDS)
        self.redrawn += 1


async def measure(size: Size, folder: Path) -> list[Report]:
    """Measure from the moment when all jobs have ended until the last thread has its end."""
    logs.configure("WARNING")
    async with docs_service("completed", size.jobs) as docs_url:
        store = Store.open(f"sqlite:///{folder}/burst.db")
        try:
            await upgrade_tables(store.database)
            return [await _told(store, docs_url, size)]
        finally:
            await store.close()


async def _told(store: Store, docs_url: str, size: Size) -> Report:
    workers, slack = Workers(), PacedMessenger(size.jobs)
    async with DocsClient(base_url=docs_url, api_key=SecretStr(DOCS_KEY)) as docs:
        context = worker_context(
            store, docs, slack, wake=workers.wake, wake_after=workers.wake_after
        )
        await add_running_jobs(
            store, docs_url, size.jobs, size.channels, lambda _number: datetime.now(UTC)
        )
        began, used = monotonic(), os.times()
        workers.start(
            [worker for worker in all_workers(context) if worker.name in ("poll", "deliver")],
            partial(store.find_due, context.clock),
        )
        try:
            async with asyncio.timeout(4 * size.limit_seconds + 300):
                await slack.all_told.wait()
        finally:
            await workers.stop(5.0)
    spent = os.times()
    cpu = spent.user + spent.system - used.user - used.system
    return _report(size, slack, slack.told_at - began, cpu)


def _report(size: Size, slack: PacedMessenger, seconds: float, cpu_seconds: float) -> Report:
    name = f"burst: {size.jobs:,} jobs end at once, in {size.channels} channels"
    report = Report(name, "the bot", "the limit")
    limit = size.limit_seconds
    goal = Goal("≤ 1.05 of the limit", seconds <= _GOAL * limit)
    twice = sum(1 for times in slack.told.values() if times > 1)
    report.rows.extend(
        (
            Row("until the last thread knows", "s", seconds, limit, goal),
            below(
                Row(
                    "posts that Slack refused as too fast", "", slack.refused + slack.posts.refused
                ),
                1,
            ),
            below(Row("edits that Slack refused as too fast", "", slack.edits.refused), 1),
            Row(
                "faces redrawn a minute meanwhile",
                "",
                60 * slack.redrawn / seconds,
                _EDITS_A_MINUTE,
            ),
            below(Row("threads told twice", "", twice), 1),
            Row("processor time for each job", "ms", 1000 * cpu_seconds / size.jobs),
        )
    )
    return report
