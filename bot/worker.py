"""Workers: when each one runs, and how it is woken. The only module that imports APScheduler.

APScheduler keeps its schedule in memory and cannot share it between processes
(https://apscheduler.readthedocs.io/en/3.x/faq.html). So it only triggers the workers; the leases in the store
decide which process works on which row.
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

from bot.work.tasks import cancel, wait_for_ends

log = structlog.get_logger(__name__)
_MOST_BACK_OFF_SECONDS = 30.0
_MOST_IN_A_ROW = 1_000
_STEP_SECONDS = 2.0
"""The clock was set when it has moved by so much more or less than time has passed since the last check."""
_DUE_CHECK = "look"
"""Name of the internal worker that checks all queues, as it appears in metrics and logs."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A loop over one queue. ``run`` returns how many rows it handled; if any, it is called again at once.

    ``wakes``: whether ``Workers.wake`` runs it before its interval of ``every_seconds`` has passed.
    ``queue``: the queue it works on, "" for none. If ``Workers`` has a ``due`` function, a worker with a
    queue has no interval: it runs when ``due`` reports its queue.
    """

    name: str
    run: Callable[[], Awaitable[int]]
    every_seconds: float
    wakes: bool = True
    queue: str = ""


class Due(Protocol):
    """The result of a check of all queues."""

    @property
    def queues(self) -> Collection[str]:
        """Return the queues with rows due now."""
        ...

    @property
    def next_at(self) -> datetime | None:
        """Return the time at which the next row of any queue comes due; None when there is none."""
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
    """Set an event; a coroutine, because APScheduler would run a plain function in another thread."""
    event.set()


class Workers:
    """Runs workers at their intervals and when they are woken. Runs of one worker never overlap."""

    def __init__(
        self,
        workers: Sequence[Worker],
        *,
        observe: Callable[[str, float, bool], None] = lambda _name, _seconds, _failed: None,
        due: Callable[[], Awaitable[Due]] | None = None,
        check_seconds: float = 5.0,
        least_seconds: float = 0.5,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """``observe`` gets the name, the duration in seconds and the failure of each run of a worker.

        ``due`` checks all queues. It is called when woken, when a row comes due and every ``check_seconds``.
        These pass at the same pace when the clock is set; then all workers with an interval run at once.
        ``least_seconds`` is the minimum wait for the next row to come due, so that rows due at about the same
        time are handled together.
        """
        self._due = due
        self._check_seconds = check_seconds
        due_check = [Worker(_DUE_CHECK, self._check_due, check_seconds)] if due else []
        self._running = {each.name: _Running(each) for each in (*workers, *due_check)}
        self._observe = observe
        self._least_seconds = least_seconds
        self._clock = clock
        self._clock_offset = self._read_clock_offset()
        self._timer: asyncio.TimerHandle | None = None
        self._after_runs: asyncio.TimerHandle | None = None
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._stop = asyncio.Event()

    @property
    def _stopping(self) -> bool:
        return self._stop.is_set()

    def start(self) -> None:
        """Start all workers; each one runs once immediately."""
        for running in self._running.values():
            running.wake_event.set()
            running.task = asyncio.create_task(self._keep(running), name=f"worker {running.worker.name}")
            if not self._runs_when_due(running) and running.worker.name != _DUE_CHECK:
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

    def _runs_when_due(self, running: _Running) -> bool:
        return self._due is not None and bool(running.worker.queue)

    def wake(self) -> None:
        """Wake the workers for new work. Those with a queue run after a check of all queues."""
        for running in self._running.values():
            wakes = running.worker.wakes and not self._runs_when_due(running)
            if wakes or self._stopping:
                running.wake_event.set()

    async def _check_due(self) -> int:
        """Wake the workers whose queues have rows due; treat the idle others as having just finished."""
        if self._due is None:
            return 0
        if self._after_runs is not None:
            self._after_runs.cancel()
            self._after_runs = None
        self._follow_clock()
        self._schedule_check(None)
        due = await self._due()
        for running in self._running.values():
            if not running.worker.queue:
                continue
            if running.worker.queue in due.queues:
                running.wake_event.set()
            elif not running.busy:
                running.finished_at = monotonic()
        self._schedule_check(due.next_at)
        return 0

    def _schedule_check(self, at: datetime | None) -> None:
        """Schedule a check for the time at which the next row comes due, or the next regular one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._stopping:
            until = self._check_seconds if at is None else (at - self._clock()).total_seconds()
            seconds = min(max(until, self._least_seconds), self._check_seconds)
            self._timer = asyncio.get_running_loop().call_later(seconds, self.wake)

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

    def _check_after_runs(self) -> None:
        """Check soon for rows that a run has put back for later, unless another check comes before."""
        if self._after_runs is None and not self._stopping:
            seconds = 2 * self._least_seconds
            self._after_runs = asyncio.get_running_loop().call_later(seconds, self.wake)

    def late(self, seconds: float) -> list[str]:
        """Return the workers whose last successful run is ``seconds`` older than their interval."""
        return [
            name
            for name, age_seconds in self.ages_seconds().items()
            if age_seconds > self._running[name].worker.every_seconds + seconds
        ]

    def ages_seconds(self) -> dict[str, float]:
        """Return the seconds since each worker's last successful run."""
        now = monotonic()
        return {name: now - running.finished_at for name, running in self._running.items()}

    def leave_off(self) -> None:
        """Start no new runs; workers that have not been started never run."""
        self._stop.set()
        for timer in (self._timer, self._after_runs):
            if timer is not None:
                timer.cancel()
        # An immediate shutdown would cancel a trigger that is running, and log that as an error.
        if self._scheduler.running:
            self._scheduler.pause()
        self.wake()

    async def stop(self, grace_seconds: float) -> list[str]:
        """Start no new runs; wait ``grace_seconds`` for current runs to end, then cancel them.

        Return the names of those that were cancelled.
        """
        self.leave_off()
        tasks = [running.task for running in self._running.values() if running.task is not None]
        late = await wait_for_ends(tasks, grace_seconds)
        for task in late:
            log.warning("round_cancelled", name=task.get_name())
        left = await cancel(late)
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        return left

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
                is_done = not await running.worker.run()
                running.failures, running.finished_at = 0, monotonic()
                if is_done or self._stopping:
                    break
        except Exception:
            # A failing run must not stop the worker: it is logged, counted, and repeated after a back-off.
            failed = True
            running.failures += 1
            log.exception("round_failed", round=running.worker.name, failures=running.failures)
        self._observe(running.worker.name, monotonic() - began, failed)
        if self._runs_when_due(running):
            self._check_after_runs()
        if failed:
            await self._back_off(running.failures)

    async def _back_off(self, failures: int) -> None:
        """Wait before the next run. Being woken does not end the wait; ``stop`` does."""
        with suppress(TimeoutError):
            await asyncio.wait_for(
                self._stop.wait(), min(0.5 * 2.0 ** min(failures, 10), _MOST_BACK_OFF_SECONDS)
            )


class Wakeable(Protocol):
    """Anything that can be told about new work."""

    def wake(self) -> None:
        """Handle new work soon."""
        ...


class WakeUp:
    """Passes wake-ups from the use cases to a target that is connected later, after both have been built."""

    def __init__(self) -> None:
        self._woken: Wakeable | None = None

    def connect(self, woken: Wakeable) -> None:
        """Pass all further wake-ups to this target."""
        self._woken = woken

    def wake(self) -> None:
        """Wake the target; do nothing if none is connected."""
        if self._woken is not None:
            self._woken.wake()

    def wake_after(self, seconds: float) -> None:
        """Wake the target after that many seconds."""
        asyncio.get_running_loop().call_later(seconds, self.wake)
