"""Workers: when each one runs, and how it is woken. The only module that imports APScheduler.

APScheduler keeps its schedule in memory and cannot share it between processes
(https://apscheduler.readthedocs.io/en/3.x/faq.html). So it only triggers the workers; the leases in the store
decide which process works on which row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.store.queues import Due
from bot.work.writing import cancel, wait_for_ends

log = structlog.get_logger(__name__)
_MOST_BACK_OFF_SECONDS = 30.0
_MOST_IN_A_ROW = 1_000
_STEP_SECONDS = 2.0
"""The clock was set when it has moved by so much more or less than time has passed since the last check."""


@dataclass(eq=False, slots=True)
class Worker:
    """A loop. ``run`` returns how many rows it handled; if any, it is called again at once.

    It runs when the check of all queues finds rows due in its ``queue``; without one every
    ``every_seconds``.
    """

    name: str
    run: Callable[[], Awaitable[int]]
    every_seconds: float = 1.0
    queue: str = ""
    woken: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    failures: int = field(default=0, init=False)
    busy: bool = field(default=False, init=False)
    finished_at: float = field(default_factory=monotonic, init=False)


async def _set(event: asyncio.Event) -> None:
    """Set an event; a coroutine, because APScheduler would run a plain function in another thread."""
    event.set()


class Workers:
    """Runs workers when rows of their queues are due, or at intervals. Runs of one worker never overlap."""

    def __init__(
        self,
        *,
        observe: Callable[[str, float, bool], None] = lambda _name, _seconds, _failed: None,
        check_seconds: float = 5.0,
        least_seconds: float = 0.5,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """``observe`` gets the name, the duration in seconds and the failure of each run of a worker.

        All queues are checked when woken, when a row comes due and every ``check_seconds``.
        These pass at the same pace when the clock is set; then all workers with an interval run at once.
        ``least_seconds`` is the minimum wait for the next row to come due, so that rows due at about the same
        time are handled together.
        """
        self._check = Worker("check", self._check_due, check_seconds)
        self._workers: list[Worker] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._observe = observe
        self._least_seconds = least_seconds
        self._clock = clock
        self._clock_offset = self._read_clock_offset()
        self._timer: asyncio.TimerHandle | None = None
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._stop = asyncio.Event()

    def start(self, workers: Sequence[Worker], due: Callable[[], Awaitable[Due]]) -> None:
        """Start all workers; each one runs once immediately. ``due`` checks all queues."""
        self._due = due
        self._workers = [*workers, self._check]
        for worker in self._workers:
            worker.woken.set()
            self._tasks.append(asyncio.create_task(self._keep(worker), name=f"worker {worker.name}"))
            if not worker.queue and worker is not self._check:
                self._scheduler.add_job(
                    _set,
                    "interval",
                    args=[worker.woken],
                    seconds=worker.every_seconds,
                    coalesce=True,
                    misfire_grace_time=None,
                    next_run_time=datetime.now(UTC),
                )
        self._scheduler.start()

    def wake(self) -> None:
        """Check all queues soon, because there is new work."""
        self._check.woken.set()

    def wake_after(self, seconds: float) -> None:
        """Check all queues after that many seconds."""
        asyncio.get_running_loop().call_later(seconds, self.wake)

    async def _check_due(self) -> int:
        """Wake the workers whose queues have rows due; treat the idle others as having just finished."""
        self._cancel_timer()
        self._follow_clock()
        self._check_after(self._check.every_seconds)
        due = await self._due()
        for worker in self._workers:
            if worker.queue in due.queues:
                worker.woken.set()
            elif worker.queue and not worker.busy:
                worker.finished_at = monotonic()
        if due.next_at is not None:
            seconds = (due.next_at - self._clock()).total_seconds()
            self._check_after(max(seconds, self._least_seconds))
        return 0

    def _check_after(self, seconds: float) -> None:
        """Check all queues after that many seconds, unless a check comes before."""
        loop = asyncio.get_running_loop()
        at = loop.time() + seconds
        if not self._stop.is_set() and (self._timer is None or at < self._timer.when()):
            self._cancel_timer()
            self._timer = loop.call_at(at, self.wake)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _follow_clock(self) -> None:
        """Run all workers with an interval now if the clock was set: APScheduler's intervals follow it."""
        offset = self._read_clock_offset()
        was_set, self._clock_offset = abs(offset - self._clock_offset) > _STEP_SECONDS, offset
        if was_set:
            for job in self._scheduler.get_jobs():
                job.modify(next_run_time=datetime.now(UTC))

    def _read_clock_offset(self) -> float:
        """Return by how many seconds the clock is ahead of the time that passes."""
        return self._clock().timestamp() - monotonic()

    def late(self, seconds: float) -> list[str]:
        """Return the workers whose last successful run is ``seconds`` older than their interval."""
        since = monotonic() - seconds
        return [each.name for each in self._workers if each.finished_at + each.every_seconds < since]

    def leave_off(self) -> None:
        """Start no new runs; workers that have not been started never run."""
        self._stop.set()
        self._cancel_timer()
        # An immediate shutdown would cancel a trigger that is running, and log that as an error.
        if self._scheduler.running:
            self._scheduler.pause()
        for worker in self._workers:
            worker.woken.set()

    async def stop(self, grace_seconds: float) -> list[str]:
        """Start no new runs; wait ``grace_seconds`` for current runs to end, then cancel them.

        Return the names of those that were cancelled.
        """
        self.leave_off()
        late = await wait_for_ends(self._tasks, grace_seconds)
        for task in late:
            log.warning("run_cancelled", name=task.get_name())
        left = await cancel(late)
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        return left

    async def _keep(self, worker: Worker) -> None:
        while True:
            await worker.woken.wait()
            worker.woken.clear()
            if self._stop.is_set():
                return
            worker.busy = True
            await self._run(worker)
            worker.busy = False

    async def _run(self, worker: Worker) -> None:
        began = monotonic()
        failed = False
        try:
            for _ in range(_MOST_IN_A_ROW):
                is_done = not await worker.run()
                worker.failures, worker.finished_at = 0, monotonic()
                if is_done or self._stop.is_set():
                    break
        except Exception:
            # A failing run must not stop the worker: it is logged, counted, and repeated after a back-off.
            failed = True
            worker.failures += 1
            log.exception("run_failed", worker=worker.name, failures=worker.failures)
        self._observe(worker.name, monotonic() - began, failed)
        if worker.queue:
            # The run may have put rows back for a moment later.
            self._check_after(2 * self._least_seconds)
        if failed:
            # Being woken does not end the wait; stopping does.
            back_off_seconds = min(0.5 * 2.0 ** min(worker.failures, 10), _MOST_BACK_OFF_SECONDS)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), back_off_seconds)
