"""Benchmark `digests`: one week's digests of many subscriptions, beside a script for each of them.

The real workers on SQLite on disk, with a clock that goes from one time of the week to the next, and by
seconds while digests are due. A script for each subscription reads the week and the week before it by itself.
The analytics API allows 100 calls an hour.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from time import process_time

from pydantic import SecretStr

from bench.children import Child
from bench.context import worker_context
from bench.docs_server import docs_service
from bench.report import Report, Row, below
from bench.silent import SilentMessenger
from bench.visitors_theirs import ranked, visitors_script
from bot import logs
from bot.docs_api import DocsClient
from bot.model.digests import SubscriptionState
from bot.model.ids import ChannelId, DeliveryId, MessageTs, RequestKey, UserId
from bot.model.message import Message
from bot.model.origin import Origin
from bot.model.weekly_time import Weekday, WeeklyTime
from bot.store import Store, Transaction
from bot.store.migrate import migrate
from bot.work.digests.digest import advance_digests
from bot.work.outbox.deliver import deliver_due
from bot.work.visitors.fetch import fetch_snapshots

_MONDAY = date(2026, 11, 16)
_WEEK = timedelta(days=7)
_EARLY = timedelta(minutes=30)
_IDLE_SECONDS = 10
_GOAL_SECONDS = 5.0
_CALLS_AN_HOUR = 100


@dataclass(frozen=True, slots=True)
class Size:
    """How many subscriptions, at how many times of the week (five of the same hour), of how many pages."""

    subscriptions: int
    times: int
    pages: int

    def weekly(self, number: int) -> WeeklyTime:
        """Return the time of a subscription."""
        hours, day = divmod(number % self.times, 5)
        return WeeklyTime(Weekday(day), time(8 + hours), "UTC")


FULL, QUICK = Size(200, 20, 1_000), Size(10, 2, 300)


class CountingMessenger(SilentMessenger):
    """Counts the posts in each channel."""

    def __init__(self) -> None:
        super().__init__()
        self.posted = Counter[ChannelId]()

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        """Count the post."""
        self.posted[channel] += 1
        return await super().post(channel, message, delivery=delivery, thread=thread)


class Week:
    """A week of digests: the time in it, what was posted and read, and how late at most."""

    def __init__(self, store: Store, docs: DocsClient, size: Size) -> None:
        self.now = datetime.combine(_MONDAY, time(), UTC)
        self.slack, self.calls, self.late_seconds = CountingMessenger(), 0, 0
        self._size = size
        self._context = worker_context(store, docs, self.slack, clock=lambda: self.now, count=self._count)

    def _count(self, what: str, _how: str) -> None:
        self.calls += what == "analytics"

    async def subscribe(self) -> None:
        """Store the subscriptions, each of a channel of its own and active."""
        await self._context.store.write(self._subscribe)

    def _subscribe(self, tx: Transaction) -> None:
        for number in range(self._size.subscriptions):
            weekly = self._size.weekly(number)
            origin = Origin(RequestKey(f"bench:{number}"), UserId("U1"), ChannelId(f"C{number:03}"))
            subscription = tx.subscriptions.put(
                origin,
                project=self._context.projects.default.id,
                section=None,
                weekday=weekly.weekday,
                at=weekly.at,
                zone=weekly.zone,
                now=self.now,
            )
            due_at = weekly.next_after(self.now)
            tx.subscriptions.change(subscription, state=SubscriptionState.ACTIVE, next_run_at=due_at)

    async def go(self) -> None:
        """Let the week pass."""
        times = [self._size.weekly(number).next_after(self.now) for number in range(self._size.subscriptions)]
        for at, count in sorted(Counter(times).items()):
            self.now, wanted = at - _EARLY, self.slack.posted.total() + count
            await self._work(wanted)
            self.now = at
            await self._work(wanted)
            self.late_seconds = max(self.late_seconds, int((self.now - at).total_seconds()))

    async def _work(self, wanted: int) -> None:
        """Run the workers second by second, until so much is posted or nothing happens any more."""
        idle_seconds = 0
        while self.slack.posted.total() < wanted and idle_seconds < _IDLE_SECONDS:
            handled = await fetch_snapshots(self._context)
            await advance_digests(self._context)
            handled += await deliver_due(self._context)
            idle_seconds = 0 if handled else idle_seconds + 1
            self.now += timedelta(seconds=0 if handled else 1)


async def measure(size: Size, folder: Path) -> list[Report]:
    """Let a week pass with the bot, then run the scripts of the same week."""
    logs.configure("WARNING", "console")
    store = Store.open(f"sqlite:///{folder}/digests.db")
    try:
        await migrate(store.database)
        async with (
            docs_service(pages=size.pages) as docs_url,
            DocsClient(base_url=docs_url, api_key=SecretStr("bench-key")) as docs,
            visitors_script(docs_url) as script,
        ):
            week = Week(store, docs, size)
            await week.subscribe()
            used = process_time()
            await week.go()
            return [_report(size, week, process_time() - used, *await _scripts(script, size))]
    finally:
        await store.close()


async def _scripts(script: Child, size: Size) -> tuple[int, float]:
    """Read both weeks for each subscription; return the number of calls and the processor time."""
    calls, before, used = 0, _MONDAY - _WEEK, script.cpu_seconds()
    for _ in range(size.subscriptions):
        calls += await ranked(script, before, _MONDAY) + await ranked(script, before - _WEEK, before)
    return calls, script.cpu_seconds() - used


def _report(size: Size, week: Week, cpu_seconds: float, calls: int, their_cpu_seconds: float) -> Report:
    name = (
        f"digests: {size.subscriptions} subscriptions at {size.times} times of a week, {size.pages:,} pages"
    )
    report = Report(name, "the bot", "a script each")
    each, once = 1000 / size.subscriptions, sum(count == 1 for count in week.slack.posted.values())
    report.rows.extend(
        (
            below(Row("calls to the analytics API", "", week.calls, calls), _CALLS_AN_HOUR),
            below(Row("the latest digest after its time", "s", week.late_seconds), _GOAL_SECONDS),
            below(Row("digests that were not posted once", "", size.subscriptions - once), 1),
            Row("processor time a digest", "ms", each * cpu_seconds, each * their_cpu_seconds),
        )
    )
    return report
