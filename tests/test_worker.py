"""Rounds: woken at once, never overlapping, surviving failures, ending in order."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest

from bot.worker import WakeUp, Worker, Workers
from tests.limits import HANG_SECONDS
from tests.scenarios.clocks import SetClock


@dataclass(frozen=True)
class Seen:
    """What a look for all queues found."""

    queues: frozenset[str] = frozenset()
    next_at: datetime | None = None


async def test_a_round_runs_at_the_start_and_whenever_the_bell_rings() -> None:
    runs: asyncio.Queue[int] = asyncio.Queue()

    async def run() -> int:
        await runs.put(1)
        return 0

    rounds = Workers([Worker("r", run, 3600)])
    wake_up = WakeUp()
    wake_up.wake()  # nobody hears it yet
    wake_up.connect(rounds)
    rounds.start()
    async with asyncio.timeout(HANG_SECONDS):
        await runs.get()
        wake_up.wake()
        await runs.get()
    await rounds.stop(1)
    assert runs.qsize() <= 1


async def test_a_round_looks_again_at_once_while_there_is_work() -> None:
    left, done = [3, 2, 1, 0], asyncio.Event()

    async def run() -> int:
        amount = left.pop(0)
        if not left:
            done.set()
        return amount

    rounds = Workers([Worker("r", run, 3600)])
    rounds.start()
    async with asyncio.timeout(HANG_SECONDS):
        await done.wait()
    await rounds.stop(1)
    assert left == []


async def test_a_round_never_overlaps_itself() -> None:
    inside, most, ended = 0, 0, asyncio.Event()

    async def run() -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        ended.set()
        return 0

    rounds = Workers([Worker("r", run, 0.002)])
    rounds.start()
    for _ in range(20):
        rounds.wake()
        await asyncio.sleep(0.002)
    await ended.wait()
    await rounds.stop(1)
    assert most == 1


async def test_a_round_that_fails_is_told_and_tried_again() -> None:
    seen: list[bool] = []
    again = asyncio.Event()

    async def run() -> int:
        if len(seen) < 1:
            raise RuntimeError("no database")
        again.set()
        return 0

    rounds = Workers([Worker("r", run, 0.05)], observe=lambda _name, _seconds, failed: seen.append(failed))
    rounds.start()
    async with asyncio.timeout(HANG_SECONDS):
        await again.wait()
    await rounds.stop(1)
    assert seen[0] is True
    assert False in seen


async def test_work_in_hand_may_end_when_stopping_and_is_cancelled_when_it_is_late() -> None:
    started, enough, ended = asyncio.Event(), asyncio.Event(), []

    async def short() -> int:
        await enough.wait()
        ended.append("short")
        return 0

    async def endless() -> int:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("endless")
        return 0

    rounds = Workers([Worker("short", short, 3600), Worker("endless", endless, 3600)])
    rounds.start()
    await started.wait()
    asyncio.get_running_loop().call_soon(enough.set)
    await rounds.stop(0.2)
    assert ended == ["short", "endless"]


async def test_how_long_ago_a_round_ended_is_known() -> None:
    ran_at = math.inf

    async def run() -> int:
        nonlocal ran_at
        ran_at = monotonic()
        return 0

    rounds = Workers([Worker("r", run, 3600)])
    rounds.start()
    async with asyncio.timeout(HANG_SECONDS):
        while rounds.ages_seconds()["r"] > monotonic() - ran_at:
            await asyncio.sleep(0.01)
    await rounds.stop(1)


async def test_a_worker_that_has_much_to_do_is_not_late() -> None:
    ended_at, ages, enough = monotonic(), list[bool](), asyncio.Event()

    async def run() -> int:
        nonlocal ended_at
        ages.append(workers.ages_seconds()["r"] <= monotonic() - ended_at)
        if len(ages) == 5:
            enough.set()
        ended_at = monotonic()
        return 1 if len(ages) < 5 else 0

    workers = Workers([Worker("r", run, 3600)])
    ended_at = monotonic()
    workers.start()
    async with asyncio.timeout(HANG_SECONDS):
        await enough.wait()
    await workers.stop(1)
    assert all(ages[1:])


async def test_a_broken_round_waits_although_the_bell_rings_and_stops_at_once() -> None:
    tries, failed = 0, asyncio.Event()

    async def run() -> int:
        nonlocal tries
        tries += 1
        failed.set()
        raise RuntimeError("no database")

    rounds = Workers([Worker("r", run, 0.01)])
    rounds.start()
    await failed.wait()
    for _ in range(20):
        rounds.wake()
        await asyncio.sleep(0.002)
    assert tries == 1
    async with asyncio.timeout(0.9):  # the first wait would be a second
        await rounds.stop(5)
    assert tries == 1


async def test_a_round_that_keeps_failing_grows_old() -> None:
    failed = asyncio.Event()

    async def run() -> int:
        failed.set()
        raise RuntimeError("no database")

    rounds = Workers([Worker("r", run, 3600)])
    await asyncio.sleep(0.05)
    rounds.start()
    await failed.wait()
    await asyncio.sleep(0)
    assert rounds.ages_seconds()["r"] >= 0.05
    await rounds.stop(1)


async def test_one_look_wakes_only_those_who_have_something_to_do() -> None:
    ran: list[str] = []
    due: set[str] = set()
    looks: asyncio.Queue[int] = asyncio.Queue()

    def noting(name: str) -> Callable[[], Awaitable[int]]:
        async def run() -> int:
            ran.append(name)
            due.discard(name)
            return 0

        return run

    async def look() -> Seen:
        looks.put_nowait(1)
        return Seen(frozenset(due))

    rounds = Workers(
        [Worker(name, noting(name), 3600, queue=name) for name in ("poll", "deliver")],
        due=look,
        check_seconds=3600,
    )
    rounds.start()
    async with asyncio.timeout(HANG_SECONDS):
        await looks.get()
        ran.clear()
        due.add("poll")
        rounds.wake()
        await looks.get()
        while "poll" not in ran:
            await asyncio.sleep(0)
    await rounds.stop(1)
    assert ran == ["poll"]


async def test_a_round_for_which_nothing_is_due_is_not_late() -> None:
    looks: asyncio.Queue[float] = asyncio.Queue()

    async def run() -> int:
        return 0

    async def look() -> Seen:
        looks.put_nowait(monotonic())
        return Seen()

    rounds = Workers([Worker("r", run, 0.0, queue="q")], due=look, check_seconds=0.01)
    rounds.start()
    async with asyncio.timeout(HANG_SECONDS):
        looked_at = [await looks.get() for _ in range(60)]
    assert rounds.ages_seconds()["r"] <= monotonic() - looked_at[-2]
    await rounds.stop(1)


async def test_a_round_that_hangs_is_late_though_nothing_is_due() -> None:
    hangs, looks = asyncio.Event(), asyncio.Queue[int]()

    async def run() -> int:
        await hangs.wait()
        return 0

    async def look() -> Seen:
        looks.put_nowait(1)
        return Seen()

    rounds = Workers([Worker("r", run, 0.0, queue="q")], due=look, check_seconds=0.01)
    rounds.start()
    async with asyncio.timeout(HANG_SECONDS):
        for _ in range(8):
            await looks.get()
    assert rounds.late(0.02) == ["r"]
    hangs.set()
    await rounds.stop(1)


async def test_workers_that_were_told_to_stop_before_they_started_never_run() -> None:
    ran: list[str] = []

    async def run() -> int:
        ran.append("r")
        return 0

    workers = Workers([Worker("r", run, 3600)])
    workers.leave_off()
    workers.start()
    assert await workers.stop(1) == []
    assert ran == []


async def test_workers_that_never_started_can_be_stopped() -> None:
    assert await Workers([]).stop(1) == []


async def test_the_next_look_is_made_when_something_comes_due() -> None:
    now, looks = datetime.now(UTC), asyncio.Queue[int]()
    coming = [now + timedelta(seconds=0.02), now + timedelta(days=1), None]

    async def look() -> Seen:
        looks.put_nowait(1)
        return Seen(next_at=coming.pop(0) if coming else None)

    workers = Workers([], due=look, check_seconds=3600, least_seconds=0.0)
    workers.start()
    async with asyncio.timeout(20):
        await looks.get()
        await looks.get()
    assert len(coming) == 1
    await workers.stop(1)


async def test_what_a_run_has_put_back_for_later_is_looked_for_soon() -> None:
    looks, may_end = asyncio.Queue[int](), asyncio.Event()

    async def run() -> int:
        await may_end.wait()
        return 0

    async def look() -> Seen:
        looks.put_nowait(1)
        return Seen()

    workers = Workers([Worker("r", run, 0.0, queue="q")], due=look, check_seconds=3600, least_seconds=0.01)
    workers.start()
    async with asyncio.timeout(20):
        await looks.get()
        await asyncio.sleep(0.05)  # for the regular look, which also begins at the start
        while not looks.empty():
            looks.get_nowait()
        may_end.set()
        await looks.get()
    await workers.stop(1)


async def test_what_comes_due_at_about_the_same_time_is_looked_for_together() -> None:
    looks = asyncio.Queue[int]()

    async def look() -> Seen:
        looks.put_nowait(1)
        return Seen(next_at=datetime.now(UTC))

    workers = Workers([], due=look, check_seconds=3600, least_seconds=3600)
    workers.start()
    async with asyncio.timeout(20):
        await looks.get()
        await asyncio.sleep(0.05)
    assert looks.qsize() <= 1  # the regular look begins at the start
    await workers.stop(1)


@pytest.mark.parametrize("hours", [-1, 2])
async def test_workers_with_long_intervals_run_at_once_when_the_clock_is_set(hours: int) -> None:
    runs, clock = asyncio.Queue[int](), SetClock()

    async def run() -> int:
        runs.put_nowait(1)
        return 0

    async def look() -> Seen:
        return Seen()

    workers = Workers([Worker("r", run, 3600, wakes=False)], due=look, check_seconds=0.02, clock=clock)
    workers.start()
    async with asyncio.timeout(HANG_SECONDS):
        await runs.get()
        await asyncio.sleep(0.1)
        while not runs.empty():  # the interval also begins at the start
            runs.get_nowait()
        clock.ahead = timedelta(hours=hours)
        await runs.get()
    await workers.stop(1)


async def test_regular_looks_go_on_however_far_away_the_next_row_is() -> None:
    looks, clock = asyncio.Queue[int](), SetClock()

    async def look() -> Seen:
        looks.put_nowait(1)
        return Seen(next_at=datetime.now(UTC) + timedelta(hours=1))

    workers = Workers([], due=look, check_seconds=0.01, least_seconds=0.0, clock=clock)
    workers.start()
    clock.ahead = timedelta(hours=-1)
    async with asyncio.timeout(HANG_SECONDS):
        for _ in range(5):
            await looks.get()
    await workers.stop(1)
