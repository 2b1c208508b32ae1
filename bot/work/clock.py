"""A clock that knows when it was set back, and what follows: times that lie ahead are moved back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic

import structlog

from bot.store.heartbeats import TOLERATED
from bot.store.queues import Due, Queue
from bot.work.context import WorkerContext
from bot.work.ports import Clock

log = structlog.get_logger(__name__)


class WatchedClock:
    """A clock that remembers how far ahead it was when somebody looked at it.

    Each time that this process stores was read from it, so none lies further ahead. ``passed_seconds``
    returns the time that passes, which nobody sets.
    """

    def __init__(self, clock: Clock, passed_seconds: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._passed_seconds = passed_seconds
        self._furthest_seconds = self._ahead_seconds(clock())

    def __call__(self) -> datetime:
        """Return the present time."""
        now = self._clock()
        self._furthest_seconds = max(self._furthest_seconds, self._ahead_seconds(now))
        return now

    def set_back_by(self) -> timedelta | None:
        """Return by how much the clock is behind what it was; None if that is not worth speaking of."""
        back = timedelta(seconds=self._furthest_seconds - self._ahead_seconds(self._clock()))
        return back if back > TOLERATED else None

    def forget(self) -> None:
        """Take the clock for right as it is now."""
        self._furthest_seconds = self._ahead_seconds(self._clock())

    def _ahead_seconds(self, now: datetime) -> float:
        return now.timestamp() - self._passed_seconds()


async def find_due(context: WorkerContext, watched: WatchedClock) -> Due:
    """Return what is due; also what follows when this process has seen its clock set back."""
    found = await context.store.find_due(context.clock)
    return replace(found, queues=found.queues | {Queue.AHEAD}) if watched.set_back_by() else found


async def follow_clock(context: WorkerContext, watched: WatchedClock | None = None) -> int:
    """Move times back that lie ahead because the clock was set back. Return 0, so that a worker rests.

    By how much is known from ``watched``, otherwise from a heartbeat that was written before.
    """
    seen = watched.set_back_by() if watched else None
    ahead = await context.store.write(lambda tx: tx.heartbeats.move_back(context.clock(), seen))
    if ahead is None:
        return 0
    log.warning("clock_set_back", seconds=round(ahead.total_seconds()))
    context.wake()
    # A transaction that was under way at that moment may commit times of the former clock yet.
    await asyncio.sleep(context.timeouts.under_way_seconds)
    await context.settle(lambda tx: tx.heartbeats.move_back(context.clock(), ahead))
    if watched:
        watched.forget()
    context.wake()
    return 0


async def beat(context: WorkerContext) -> int:
    """Write that this process runs workers now. Return 0, so that a worker rests."""
    await context.store.write(lambda tx: tx.heartbeats.beat(context.owner, context.clock()))
    return 0
