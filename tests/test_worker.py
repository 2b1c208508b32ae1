"""Workers: woken at once, never overlapping, surviving failures, ending in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest

from bot.store.queues import Due, Queue
from bot.worker import Worker, Workers
from tests.limits import HANG_SECONDS
from tests.scenarios.clocks import SetClock

NOTHING = Due(frozenset(), None)
ALL = Due(frozenset(Queue), None)


def always(due: Due) -> Callable[[], Awaitable[Due]]:
    """A check that finds the same each time."""

    async def check() -> Due:
        return due

    return check


class Checks(asyncio.Queue[float]):
    """A check that finds one thing after the other, then nothing; remembers when it was made."""

    def __init__(self, *found: Due) -> None:
        super().__init__()
        self.found = list(found)

    async def __call__(self) -> Due:
        self.put_nowait(monotonic())
        return self.found.pop(0) if self.found else NOTHING


class Run(asyncio.Queue[float]):
    """A worker's run that remembers when it began, and returns or raises one outcome after the other."""

    def __init__(self, *outcomes: int | Exception) -> None:
        super().__init__()
        self.outcomes = list(outcomes)

    async def __call__(self) -> int:
        self.put_nowait(monotonic())
        outcome = self.outcomes.pop(0) if self.outcomes else 0
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def polling(run: Callable[[], Awaitable[int]]) -> Worker:
    """A worker on the queue of polls."""
    return Worker("r", run, queue=Queue.POLLS)


def emptied(queue: asyncio.Queue[float]) -> None:
    """Take everything out of a queue."""
    while not queue.empty():
        queue.get_nowait()


@asynccontextmanager
async def started(
    workers: Workers, *each: Worker, due: Callable[[], Awaitable[Due]] | None = None
) -> AsyncIterator[Workers]:
    """Run workers until the block ends, which must not hang."""
    workers.start(each, due or always(NOTHING))
    async with asyncio.timeout(HANG_SECONDS):
        yield workers
    await workers.stop(1)


async def test_a_worker_runs_at_the_start_and_whenever_it_is_woken() -> None:
    run, workers = Run(), Workers(check_seconds=3600)
    workers.wake()  # nobody hears it yet
    async with started(workers, polling(run), due=always(ALL)):
        await run.get()
        workers.wake()
        await run.get()
    assert run.qsize() <= 1


async def test_a_worker_runs_again_at_once_while_there_is_work_and_is_not_late() -> None:
    run = Run(3, 2, 1, 0)
    worker = Worker("r", run, 3600)
    async with started(Workers(), worker):
        began_at = [await run.get() for _ in range(4)]
    assert run.outcomes == []
    assert worker.finished_at >= began_at[-1]


async def test_runs_of_a_worker_never_overlap() -> None:
    inside, most, ended = 0, 0, asyncio.Queue[int]()

    async def run() -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        ended.put_nowait(1)
        return 0

    async with started(Workers(check_seconds=0.002), polling(run), due=always(ALL)):
        for _ in range(5):
            await ended.get()
    assert most == 1


async def test_a_run_that_fails_is_observed_and_repeated() -> None:
    observed: list[tuple[str, bool]] = []
    run = Run(RuntimeError("no database"))
    workers = Workers(observe=lambda name, _seconds, failed: observed.append((name, failed)))
    async with started(workers, Worker("r", run, 0.05)):
        await run.get()
        await run.get()
    assert [failed for name, failed in observed if name == "r"][:2] == [True, False]


async def test_a_broken_worker_waits_although_it_is_woken_and_stops_at_once() -> None:
    run = Run(*[RuntimeError("no database")] * 3)
    worker = polling(run)
    built_at = monotonic()
    workers = Workers(check_seconds=0.002)
    workers.start([worker], always(ALL))
    await run.get()
    for _ in range(20):
        workers.wake()
        await asyncio.sleep(0.002)
    async with asyncio.timeout(0.9):  # the first wait would be a second
        await workers.stop(5)
    assert run.empty()
    assert worker.finished_at <= built_at, "a worker that keeps failing grows late"


async def test_work_in_hand_may_end_when_stopping_and_is_cancelled_when_it_is_late() -> None:
    begun, enough, ended = asyncio.Event(), asyncio.Event(), []

    async def short() -> int:
        await enough.wait()
        ended.append("short")
        return 0

    async def endless() -> int:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("endless")
        return 0

    workers = Workers()
    workers.start([Worker("short", short, 3600), Worker("endless", endless, 3600)], always(NOTHING))
    await begun.wait()
    asyncio.get_running_loop().call_soon(enough.set)
    assert await workers.stop(0.2) == ["worker endless"]
    assert ended == ["short", "endless"]


async def test_a_check_wakes_only_those_who_have_something_to_do() -> None:
    poll, deliver = Run(), Run()
    checks = Checks(NOTHING, Due(frozenset({Queue.POLLS}), None))
    each = [Worker("poll", poll, queue=Queue.POLLS), Worker("deliver", deliver, queue=Queue.DELIVERIES)]
    async with started(Workers(check_seconds=3600, least_seconds=3600), *each, due=checks) as workers:
        await checks.get()
        await asyncio.gather(poll.get(), deliver.get())  # each runs once at the start
        workers.wake()
        await poll.get()
    assert deliver.empty()


async def test_a_worker_for_which_nothing_is_due_is_not_late_and_one_that_hangs_is() -> None:
    hangs, checks = asyncio.Event(), Checks()

    async def hang() -> int:
        await hangs.wait()
        return 0

    idle = Worker("idle", Run(), 0.0, queue=Queue.POLLS)
    hanging = Worker("hanging", hang, 0.0, queue=Queue.DELIVERIES)
    async with started(Workers(check_seconds=0.01), idle, hanging, due=checks) as workers:
        checked_at = [await checks.get() for _ in range(60)]
        assert idle.finished_at >= checked_at[-2]
        assert "hanging" in workers.late(0.02)
        hangs.set()


async def test_workers_that_were_told_to_stop_before_they_started_never_run() -> None:
    run, workers = Run(), Workers()
    assert await workers.stop(1) == []
    workers.start([Worker("r", run, 3600)], always(NOTHING))
    assert await workers.stop(1) == []
    assert run.empty()


async def test_the_next_check_is_made_when_something_comes_due() -> None:
    now = datetime.now(UTC)
    checks = Checks(*(Due(frozenset(), now + timedelta(seconds=after)) for after in (0.02, 86_400)))
    async with started(Workers(check_seconds=3600, least_seconds=0.0), due=checks):
        await checks.get()
        await checks.get()


async def test_what_a_run_has_put_back_for_later_is_looked_for_soon() -> None:
    checks, may_end = Checks(), asyncio.Event()

    async def run() -> int:
        await may_end.wait()
        return 0

    async with started(Workers(check_seconds=3600, least_seconds=0.01), polling(run), due=checks):
        await checks.get()
        may_end.set()
        await checks.get()


async def test_what_comes_due_at_about_the_same_time_is_looked_for_together() -> None:
    checks = Checks(*[Due(frozenset(), datetime.now(UTC))] * 9)
    async with started(Workers(check_seconds=3600, least_seconds=3600), due=checks):
        await checks.get()
        await asyncio.sleep(0.05)
    assert checks.empty()


@pytest.mark.parametrize("hours", [-1, 2])
async def test_workers_with_long_intervals_run_at_once_when_the_clock_is_set(hours: int) -> None:
    run, clock = Run(), SetClock()
    async with started(Workers(check_seconds=0.02, clock=clock), Worker("r", run, 3600)):
        await run.get()
        await asyncio.sleep(0.1)
        emptied(run)  # the interval also begins at the start
        clock.ahead = timedelta(hours=hours)
        await run.get()


async def test_regular_checks_go_on_however_far_away_the_next_row_is() -> None:
    clock = SetClock()
    checks = Checks(*[Due(frozenset(), datetime.now(UTC) + timedelta(hours=1))] * 9)
    async with started(Workers(check_seconds=0.01, least_seconds=0.0, clock=clock), due=checks):
        clock.ahead = timedelta(hours=-1)
        for _ in range(5):
            await checks.get()
