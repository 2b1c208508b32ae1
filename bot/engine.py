"""The engine: when work runs, and how long what fails rests.

Only this module imports APScheduler.

Each worker is one job of the scheduler, with the worker's name as its id. A run claims as many rows
as places are free, starts a task for each and returns; it never waits for a remote service. A task
settles its own row. One more job, ``look``, reads which queues have rows due and wakes their
workers. It runs when it is woken, when the next row comes due and every few seconds.

APScheduler keeps its schedule in memory and cannot share it between processes: the leases in the
store decide which process works on which row. https://apscheduler.readthedocs.io/en/3.x/faq.html
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any, NamedTuple, cast

import structlog
from apscheduler.events import EVENT_JOB_MAX_INSTANCES, JobSubmissionEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.store import LeaseLost
from bot.store.database import error_fields
from bot.store.queues import DueQueues

log = structlog.get_logger(__name__)
_MAX_REST_SECONDS = 30.0
"""The longest rest of a worker that fails."""
_NEVER_SECONDS = 86_400.0
"""The interval of a job that runs when it is woken."""
LOOK = "look"
_CANCELLED_SECONDS = 1.5
"""How long a cancelled task is waited for. Its last statement may take a second, or hang."""


def back_off_seconds(
    attempts: int, chance: float, *, first: float = 1.0, cap: float = 300.0
) -> float:
    """Return the seconds to wait after ``attempts`` failures in a row.

    The delay doubles with each failure up to ``cap``; ``chance``, a random number in [0, 1), takes
    off up to half of it.
    """
    return min(first * 2.0 ** min(max(attempts - 1, 0), 20), cap) * (0.5 + chance / 2)


@contextmanager
def unless_taken_over(kind: str, number: object) -> Iterator[None]:
    """Log a lost lease instead of raising LeaseLost.

    A person or another process has the row by now.
    """
    try:
        yield
    except LeaseLost:
        log.info(f"{kind}_taken_over", **{kind: number})


async def wait_for_ends(
    tasks: Collection[asyncio.Task[None]], seconds: float
) -> list[asyncio.Task[None]]:
    """Wait until all tasks have ended, ``seconds`` at most.

    Tasks that are added while this waits count, too. Return the tasks that have not ended.
    """
    until = monotonic() + seconds
    left_seconds = seconds
    running = _list_running(tasks)
    while running and left_seconds >= 0:
        await asyncio.wait(running, timeout=left_seconds)
        left_seconds = until - monotonic()
        running = _list_running(tasks)
    return running


def _list_running(tasks: Collection[asyncio.Task[None]]) -> list[asyncio.Task[None]]:
    return [task for task in tasks if not task.done()]


async def cancel(tasks: Collection[asyncio.Task[None]]) -> list[str]:
    """Cancel tasks and wait a moment for their ends. Return their names."""
    for task in tasks:
        task.cancel()
    await wait_for_ends(tasks, _CANCELLED_SECONDS)
    return [task.get_name() for task in tasks]


def _in_no_group(_row: object) -> str:
    return ""


@dataclass(eq=False, slots=True)
class Worker:
    """The worker of a queue, or of work at intervals.

    It claims rows and works on each in a task of its own.
    """

    name: str
    claim: Callable[[int, Collection[str]], Awaitable[Sequence[Any]]]
    """Claims rows: as many as this at most, and none of these groups."""
    work: Callable[[Any], Awaitable[object]]
    """Works on one row and settles it. Returns True if the next row may be claimed at once."""
    queue: str | None = None
    every_seconds: float = 0.0
    places: int = 100
    """How many rows may be under way."""
    group: Callable[[Any], str] = _in_no_group
    """Returns the group of a row."""
    places_of_group: int = 100
    """How many rows of one group may be under way. A slow group leaves places for the others."""
    key: Callable[[Any], object] | None = None
    """Returns the row's key in its table."""
    of_table: set[object] = field(default_factory=set)
    """The keys of the rows of the table that workers of this process work on."""
    under_way: dict[object, str] = field(default_factory=dict, init=False)
    """The group of each row that this worker works on, by the row's key."""
    is_claiming: bool = field(default=False, init=False)
    is_woken: bool = field(default=False, init=False)
    failures: int = field(default=0, init=False)
    """Failures in a row."""
    rests_until: float = field(default=0.0, init=False)
    well_at: float = field(default_factory=monotonic, init=False)
    """When the worker last claimed rows, or worked on one, without a failure."""

    @property
    def free(self) -> int:
        """How many places are free."""
        return self.places - len(self.under_way)

    @property
    def full_groups(self) -> list[str]:
        """The groups that have no free place."""
        places_in_use = Counter(self.under_way.values())
        return [group for group, count in places_in_use.items() if count >= self.places_of_group]

    def begin(self, row: Any) -> object | None:
        """Take a place for a row and return the row's key.

        Returns None if the row is under way already.
        """
        key = self.key(row) if self.key else object()
        if key in self.of_table:
            return None
        self.of_table.add(key)
        self.under_way[key] = self.group(row)
        return key

    def end(self, key: object) -> None:
        """Free the place of a row."""
        self.of_table.discard(key)
        del self.under_way[key]

    async def run(self) -> int:
        """Claim rows and work on them to their end, without the scheduler.

        Return the number of rows whose work did not return False.
        """

        async def work(key: object, row: Any) -> object:
            try:
                return await self.work(row)
            finally:
                self.end(key)

        if self.free <= 0:
            return 0
        works = []
        for row in await self.claim(self.free, self.full_groups):
            key = self.begin(row)
            if key is not None:
                works.append(work(key, row))
        outcomes = await asyncio.gather(*works, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return sum(outcome is not False for outcome in outcomes)


def single_worker(name: str, run: Callable[[], Awaitable[object]], **options: Any) -> Worker:
    """Return a worker with one place.

    ``run`` finds its rows itself and returns whether there were any.
    """

    async def claim(_limit: int, _full: Collection[str]) -> Sequence[None]:
        return [None]

    async def work(_row: None) -> bool:
        return bool(await run())

    return Worker(name, claim, work, places=1, **options)


async def _ignore(_row: None) -> None:
    """Do nothing: the look claims no rows."""


class _Instant(NamedTuple):
    """One moment by two clocks, in seconds."""

    set_clock: float
    """By the machine's clock, which may be set."""
    monotonic_clock: float
    """By a clock that is never set."""

    @classmethod
    def of(cls, machine_clock: Callable[[], datetime]) -> _Instant:
        """Read both clocks."""
        return cls(machine_clock().timestamp(), monotonic())

    def was_set_since(self, before: _Instant) -> bool:
        """Return whether the machine's clock was set by more than two seconds."""
        passed_seconds = self.monotonic_clock - before.monotonic_clock
        return abs(self.set_clock - before.set_clock - passed_seconds) > 2.0


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Workers:
    """Runs the workers of this process."""

    def __init__(
        self,
        *,
        look_seconds: float = 5.0,
        least_seconds: float = 0.5,
        clock: Callable[[], datetime] = _utc_now,
        machine_clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        """Prepare the scheduler.

        Args:
            look_seconds: the longest pause between two looks at all queues.
            least_seconds: rows that come due within this time are claimed together.
            clock: returns the present time of the rows.
            machine_clock: returns this machine's time, which the scheduler's intervals follow.
        """
        self._look_seconds = look_seconds
        self._least_seconds = least_seconds
        self._clock = clock
        self._workers: dict[str, Worker] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._machine_clock = machine_clock
        self._looked_at = _Instant.of(machine_clock)
        self._is_stopping = False
        self.scheduler = AsyncIOScheduler(timezone=UTC)

    def start(
        self, workers: Sequence[Worker], find_due: Callable[[], Awaitable[DueQueues]]
    ) -> None:
        """Run all workers once, and from then on when they have work.

        ``find_due`` reads all queues.
        """
        self._workers = {worker.name: worker for worker in workers}
        self._find_due = find_due
        self._workers[LOOK] = Worker(
            LOOK, self._wake_due_workers, _ignore, every_seconds=self._look_seconds
        )
        for worker in self._workers.values():
            self.scheduler.add_job(
                self._run,
                "interval",
                args=[worker],
                id=worker.name,
                name=worker.name,
                seconds=worker.every_seconds or _NEVER_SECONDS,
                max_instances=1,
                misfire_grace_time=None,
                next_run_time=datetime.now(UTC),
            )
        self.scheduler.add_listener(self._wake_again, EVENT_JOB_MAX_INSTANCES)
        if not self._is_stopping:
            self.scheduler.start()

    def _wake_again(self, skipped: JobSubmissionEvent) -> None:
        """Run a worker again whose run APScheduler has dropped.

        It had not yet counted the end of the last run.
        """
        asyncio.get_running_loop().call_soon(self.wake, skipped.job_id)

    def wake(self, name: str = LOOK) -> None:
        """Run a worker soon; by default, look for workers with work."""
        worker = self._workers.get(name)
        if worker is None or self._is_resting(worker):
            return  # the next look finds its rows
        worker.is_woken = True
        if not worker.is_claiming:  # APScheduler drops a run that is due during another one
            # In a context of its own: the deadline of a request does not apply to workers.
            Context().run(self.scheduler.modify_job, name, next_run_time=datetime.now(UTC))

    def _is_resting(self, worker: Worker) -> bool:
        return self._is_stopping or monotonic() < worker.rests_until

    def wake_after(self, seconds: float) -> None:
        """Look which workers have work after that many seconds, or before."""
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            if loop.time() < self._timer.when() <= loop.time() + seconds:
                return
            self._timer.cancel()
        if not self._is_stopping:
            self._timer = loop.call_later(seconds, self.wake)

    async def _run(self, worker: Worker) -> None:
        """Claim rows for the free places, and start a task for each."""
        run = cast("asyncio.Task[None]", asyncio.current_task())
        self._tasks.add(run)
        worker.is_claiming = worker.is_woken = True
        try:
            while worker.is_woken and worker.free > 0 and not self._is_resting(worker):
                worker.is_woken = False
                rows = await worker.claim(worker.free, worker.full_groups)
                if not rows:
                    worker.failures = 0
                for row in rows:
                    self._begin(worker, row)
                if not worker.failures and (not rows or worker.places > 1):
                    worker.well_at = monotonic()
        except asyncio.CancelledError:
            # A stop has logged it by its name. APScheduler would log it as an error, with a traceback.
            if not self._is_stopping:
                raise
        except Exception as error:
            self._log_failure(worker, error, rests=True)
        finally:
            worker.is_claiming = False
            self._tasks.discard(run)

    def _begin(self, worker: Worker, row: Any) -> None:
        """Start a task for a row, unless the row has a task already."""
        key = worker.begin(row)
        if key is None:
            return
        task = asyncio.create_task(self._work_on(worker, row, key), name=f"worker {worker.name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _free_place(self, worker: Worker, key: object) -> None:
        """Free a row's place as the last step of its task.

        From then on a row that was settled just now can be claimed.
        """
        was_full = worker.free == 0 or worker.under_way[key] in worker.full_groups
        worker.end(key)
        if was_full and (worker.places > 1 or worker.is_woken):
            self.wake(worker.name)

    async def _work_on(self, worker: Worker, row: Any, key: object) -> None:
        """Work on one row.

        A row whose work fails stays leased, and is claimed again when its lease has run out.
        """
        has_more = False
        try:
            has_more = await worker.work(row) is True
        except Exception as error:
            self._log_failure(worker, error, rests=worker.places == 1)
        else:
            worker.well_at = monotonic()
            worker.failures = 0
        finally:
            self._free_place(worker, key)
        if has_more:
            asyncio.get_running_loop().call_soon(self.wake, worker.name)
        elif worker.queue:
            self.wake_after(2 * self._least_seconds)  # it may have put rows back for a moment later

    def _log_failure(self, worker: Worker, error: Exception, *, rests: bool) -> None:
        """Log a failure and let the worker rest, longer after each failure."""
        worker.failures += 1
        if rests:
            rest_seconds = back_off_seconds(worker.failures, 1.0, cap=_MAX_REST_SECONDS)
            worker.rests_until = monotonic() + rest_seconds
            asyncio.get_running_loop().call_later(rest_seconds + 0.01, self.wake, worker.name)
        log.error("run_failed", worker=worker.name, failures=worker.failures, **error_fields(error))

    async def _wake_due_workers(self, _limit: int, _full: Collection[str]) -> Sequence[None]:
        """Wake the workers whose queues have due rows.

        Look again when the next row comes due.
        """
        # APScheduler's intervals follow the wall clock, which may be set; this timer does not.
        self.wake_after(1.2 * self._look_seconds)
        self._follow_clock()
        due = await self._find_due()
        for worker in self._workers.values():
            if worker.queue in due.queues:
                self.wake(worker.name)
            elif worker.queue and not worker.under_way:
                worker.well_at = monotonic()
        if due.next_at is not None:
            self.wake_after(max((due.next_at - self._clock()).total_seconds(), self._least_seconds))
        return ()

    def _follow_clock(self) -> None:
        """Run all workers now if the machine's clock was set.

        The scheduler's intervals follow that clock.
        """
        before = self._looked_at
        self._looked_at = now = _Instant.of(self._machine_clock)
        if now.was_set_since(before):
            for worker in self._workers.values():
                self.wake(worker.name)

    def late(self, seconds: float) -> list[str]:
        """Return the workers that are late by more than ``seconds``.

        A late worker has not worked for its interval and that time.
        """
        since = monotonic() - seconds
        return [
            worker.name
            for worker in self._workers.values()
            if worker.well_at + worker.every_seconds < since
        ]

    def stop_starting_runs(self) -> None:
        """Start no new runs; workers that have not been started never run."""
        self._is_stopping = True
        if self._timer is not None:
            self._timer.cancel()
        if self.scheduler.running:
            self.scheduler.pause()

    async def stop(self, grace_seconds: float) -> list[str]:
        """Wait ``grace_seconds`` for the tasks, then cancel the others.

        Return the names of the cancelled tasks.
        """
        self.stop_starting_runs()
        late = await wait_for_ends(self._tasks, grace_seconds)
        for task in late:
            log.warning("run_cancelled", name=task.get_name())
        unfinished = await cancel(late)
        if self.scheduler.running:
            self.scheduler.shutdown(wait=False)
        return unfinished
