"""The clock: which round runs how often. The only importer of APScheduler.

APScheduler keeps its ticks in memory and cannot share them between processes
(https://apscheduler.readthedocs.io/en/3.x/faq.html), so it only beats time: who works on what is
decided by the registry's claims.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Protocol

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

log = structlog.get_logger(__name__)
_MOST_BACK_OFF_SECONDS = 30.0
_MOST_IN_A_ROW = 1_000
_LOOK = "look"


@dataclass(frozen=True, slots=True)
class Worker:
    """A loop over one queue. ``run`` returns how much it handled; above 0 it runs again at once.

    ``wakes``: it runs when there is something to do, not only every ``every_seconds``.
    ``queue``: what it works on. Where one look is made for all queues, it runs only when that has found
    something; a worker without a queue always has its own interval.
    """

    name: str
    run: Callable[[], Awaitable[int]]
    every_seconds: float
    wakes: bool = True
    queue: str = ""


class Coming(Protocol):
    """What a look for all queues returns."""

    @property
    def queues(self) -> Collection[str]:
        """The queues with something to do now."""
        ...

    @property
    def next_at(self) -> datetime | None:
        """When the next row of any queue comes due; None when none will."""
        ...


@dataclass(slots=True)
class _Running:
    worker: Worker
    wake_event: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    failures: int = 0
    busy: bool = False
    finished_at: float = field(default_factory=monotonic)


async def _set(event: asyncio.Event) -> None:
    """A coroutine, since APScheduler runs plain functions in a thread, where an event must not be set."""
    event.set()


class Workers:
    """Runs workers at their intervals, and at once when woken. A worker never overlaps itself."""

    def __init__(
        self,
        workers: Sequence[Worker],
        *,
        observe: Callable[[str, float, bool], None] = lambda _name, _seconds, _failed: None,
        due: Callable[[], Awaitable[Coming]] | None = None,
        look_seconds: float = 5.0,
        least_seconds: float = 0.5,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """``due`` looks at all queues: when woken, when something comes due, and every ``look_seconds``.

        ``least_seconds``: pause before a look for what comes due, so that what is due at about the same
        time is handled together.
        """
        self._due = due
        look = [Worker(_LOOK, self._look, look_seconds)] if due else []
        self._running = {each.name: _Running(each) for each in (*workers, *look)}
        self._observe = observe
        self._least_seconds = least_seconds
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._stop = asyncio.Event()

    @property
    def _stopping(self) -> bool:
        return self._stop.is_set()

    def start(self) -> None:
        """Begin; every worker runs once at once."""
        for running in self._running.values():
            running.wake_event.set()
            running.task = asyncio.create_task(self._keep(running), name=f"worker {running.worker.name}")
            if not self._is_looked_for(running):
                self._add_interval(running)
        self._scheduler.start()

    def _add_interval(self, running: _Running) -> None:
        self._scheduler.add_job(
            _set,
            "interval",
            args=[running.wake_event],
            seconds=running.worker.every_seconds,
            coalesce=True,
            misfire_grace_time=None,
            next_run_time=datetime.now(UTC),
        )

    def _is_looked_for(self, running: _Running) -> bool:
        return self._due is not None and bool(running.worker.queue)

    def wake(self) -> None:
        """There is something to do: every worker that wakes runs, or one look is made for all."""
        for running in self._running.values():
            wakes = running.worker.wakes and not self._is_looked_for(running)
            if wakes or self._stopping:
                running.wake_event.set()

    async def _look(self) -> int:
        """Wake the workers that have something to do; with the others all is well."""
        if self._due is None:
            return 0
        due = await self._due()
        for running in self._running.values():
            if not running.worker.queue:
                continue
            if running.worker.queue in due.queues:
                running.wake_event.set()
            elif not running.busy:
                running.finished_at = monotonic()
        self._look_again_at(due.next_at)
        return 0

    def _look_again_at(self, at: datetime | None) -> None:
        """Look when the next row comes due; later than the regular look it need not be known."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if at is not None and not self._stopping:
            seconds = max((at - self._clock()).total_seconds(), self._least_seconds)
            self._timer = asyncio.get_running_loop().call_later(seconds, self.wake)

    def late(self, seconds: float) -> list[str]:
        """The rounds whose last good end is so much longer ago than it should be."""
        now = monotonic()
        return [
            name
            for name, running in self._running.items()
            if now - running.finished_at > running.worker.every_seconds + seconds
        ]

    def ages_seconds(self) -> dict[str, float]:
        """How long ago each round last came to a good end; one that keeps failing grows old."""
        now = monotonic()
        return {name: now - running.finished_at for name, running in self._running.items()}

    async def stop(self, grace_seconds: float) -> None:
        """No new rounds; work in hand may end within the grace, then it is cancelled."""
        self._stop.set()
        if self._timer is not None:
            self._timer.cancel()
        # Shut down at once it would cancel a tick in flight, and log that as an error.
        self._scheduler.pause()
        tasks = [running.task for running in self._running.values() if running.task is not None]
        self.wake()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace_seconds)
            for task in late:
                log.warning("round_cancelled", name=task.get_name())
                task.cancel()
            if late:
                await asyncio.wait(late)
        self._scheduler.shutdown(wait=False)

    async def _keep(self, running: _Running) -> None:
        while True:
            await running.wake_event.wait()
            running.wake_event.clear()
            if self._stopping:
                return
            running.busy = True
            await self._run(running)
            running.busy = False

    async def _run(self, running: _Running) -> None:
        began = monotonic()
        failed = False
        try:
            for _ in range(_MOST_IN_A_ROW):
                if not await running.worker.run() or self._stopping:
                    break
            running.failures = 0
            running.finished_at = monotonic()
        except Exception:
            # A round that fails must not end all rounds: it is logged, counted, and tried again later.
            failed = True
            running.failures += 1
            log.exception("round_failed", round=running.worker.name, failures=running.failures)
        self._observe(running.worker.name, monotonic() - began, failed)
        if failed:
            await self._back_off(running.failures)

    async def _back_off(self, failures: int) -> None:
        """Wait before the next try, however often the wake_event rings; a stop ends the wait."""
        with suppress(TimeoutError):
            await asyncio.wait_for(
                self._stop.wait(), min(0.5 * 2.0 ** min(failures, 10), _MOST_BACK_OFF_SECONDS)
            )


class Wakeable(Protocol):
    """Something that can be told that there is something to do."""

    def wake(self) -> None:
        """There is something to do now."""
        ...


class WakeUp:
    """What use cases call when there is something to do; connected after they have been built."""

    def __init__(self) -> None:
        self._woken: Wakeable | None = None

    def connect(self, woken: Wakeable) -> None:
        """Wake this from now on."""
        self._woken = woken

    def wake(self) -> None:
        """There is something to do now."""
        if self._woken is not None:
            self._woken.wake()

    def wake_after(self, seconds: float) -> None:
        """There will be something to do in that many seconds."""
        asyncio.get_running_loop().call_later(seconds, self.wake)
