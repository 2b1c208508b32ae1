"""Workers: jobs of the scheduler that are woken at once, wait for nothing outside, and end in order."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any
from weakref import ReferenceType, ref

import pytest
from structlog.testing import capture_logs

from bot.engine import Worker, Workers, single_worker
from bot.store.queues import DueQueues
from tests.limits import HANG_SECONDS
from tests.scenarios.clocks import SetClock

NOTHING = DueQueues(frozenset(), None)
ALL = DueQueues(frozenset({"requests", "prompts", "polls", "deliveries"}), None)


def always(due: DueQueues) -> Callable[[], Awaitable[DueQueues]]:
    """A look that finds the same each time."""

    async def look() -> DueQueues:
        return due

    return look


class Looks(asyncio.Queue[float]):
    """A look that finds one thing after the other, then nothing; remembers when it was made."""

    def __init__(self, *found: DueQueues) -> None:
        super().__init__()
        self.found = list(found)

    async def __call__(self) -> DueQueues:
        self.put_nowait(monotonic())
        return self.found.pop(0) if self.found else NOTHING


class Run(asyncio.Queue[float]):
    """A run that remembers when it began, and returns or raises one outcome after the other."""

    def __init__(self, *outcomes: int | Exception) -> None:
        super().__init__()
        self.outcomes = list(outcomes)

    async def __call__(self) -> int:
        self.put_nowait(monotonic())
        outcome = self.outcomes.pop(0) if self.outcomes else 0
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@dataclass
class Rows:
    """Rows of a queue with the name of their group; their work hangs until it may end."""

    waiting: list[str]
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    begun: list[str] = field(default_factory=list)
    tasks: list[ReferenceType[Any]] = field(default_factory=list)
    claimed_at: list[float] = field(default_factory=list)

    async def claim(self, limit: int, full: Collection[str]) -> Sequence[str]:
        self.claimed_at.append(monotonic())
        chosen = [row for row in self.waiting if row[0] not in full][:limit]
        self.waiting = [row for row in self.waiting if row not in chosen]
        return chosen

    async def work(self, row: str) -> None:
        self.begun.append(row)
        self.tasks.append(ref(asyncio.current_task()))
        await self.may_end.wait()

    def worker(self, **options: Any) -> Worker:
        return Worker("r", self.claim, self.work, "polls", **options)

    async def until(self, count: int) -> None:
        """Wait until so many have begun."""
        while len(self.begun) < count:
            await asyncio.sleep(0.002)


def polling(run: Callable[[], Awaitable[int]]) -> Worker:
    """A worker on the queue of polls."""
    return single_worker("r", run, queue="polls")


@asynccontextmanager
async def started(
    workers: Workers, *each: Worker, due: Callable[[], Awaitable[DueQueues]] | None = None
) -> AsyncIterator[Workers]:
    """Run workers until the block ends, which must not hang."""
    workers.start(each, due or always(NOTHING))
    async with asyncio.timeout(HANG_SECONDS):
        yield workers
    await workers.stop(1)


async def test_worker_runs_at_the_start_and_when_woken() -> None:
    run, workers = Run(), Workers(look_seconds=3600)
    workers.wake()  # before the start
    async with started(workers, polling(run), due=always(ALL)):
        await run.get()
        workers.wake()
        await run.get()


async def test_worker_runs_again_at_once_while_rows_are_due() -> None:
    run = Run(3, 2, 1, 0)
    worker = single_worker("r", run, every_seconds=3600)
    async with started(Workers(), worker):
        began_at = [await run.get() for _ in range(4)]
    assert run.outcomes == []
    assert worker.well_at >= began_at[-1]


async def test_row_that_hangs_delays_no_other() -> None:
    rows = Rows(["a1"])
    async with started(Workers(look_seconds=3600), rows.worker(), due=always(ALL)) as workers:
        await rows.until(1)
        rows.waiting.append("b1")
        workers.wake()
        await rows.until(2)
        rows.may_end.set()


async def test_slow_group_leaves_places_for_other_groups() -> None:
    rows = Rows([*(f"a{number}" for number in range(9))])
    worker = rows.worker(group=lambda row: row[0], places=20, places_of_group=3)

    async def claim(limit: int, full: Collection[str]) -> Sequence[str]:
        return (await rows.claim(limit, full))[:3]

    worker.claim = claim
    async with started(Workers(look_seconds=0.01), worker, due=always(ALL)):
        await rows.until(3)
        rows.waiting = ["a8", "b1"]
        await rows.until(4)
        await asyncio.sleep(0.05)
        assert rows.begun[3:] == ["b1"]
        rows.may_end.set()
        await rows.until(5)


async def test_rows_under_way_are_as_many_as_places() -> None:
    rows = Rows([*(f"a{number}" for number in range(9))])
    async with started(
        Workers(look_seconds=3600), rows.worker(places=2), due=always(ALL)
    ) as workers:
        await rows.until(2)
        workers.wake("r")
        await asyncio.sleep(0.05)
        assert len(rows.begun) == 2
        rows.may_end.set()
        await rows.until(9)
        # Ended tasks are not kept.
        while any(task() is not None for task in rows.tasks):
            gc.collect()
            await asyncio.sleep(0.002)


async def test_row_under_way_is_not_begun_again() -> None:
    rows = Rows([])

    async def claim(_limit: int, _full: Collection[str]) -> Sequence[str]:
        rows.claimed_at.append(monotonic())
        return ["same"]

    shared = dict[str, Any](key=lambda row: row, places=9, of_table=set())
    each = [Worker(name, claim, rows.work, "polls", **shared) for name in ("one", "two")]
    async with started(Workers(look_seconds=0.01), *each, due=always(ALL)):
        while len(rows.claimed_at) < 9:
            await asyncio.sleep(0.01)
        assert rows.begun == ["same"]
        rows.may_end.set()


async def test_wake_during_a_claim_is_kept() -> None:
    claims, may_claim = Run(), asyncio.Event()

    async def claim(_limit: int, _full: Collection[str]) -> Sequence[None]:
        await claims()
        await may_claim.wait()
        return ()

    worker = Worker("r", claim, lambda _row: asyncio.sleep(0), "polls")
    async with started(Workers(look_seconds=3600), worker) as workers:
        await claims.get()
        workers.wake("r")
        await asyncio.sleep(0.02)
        assert claims.empty(), "claims of one worker never overlap"
        may_claim.set()
        await claims.get()


async def test_failed_run_is_logged_and_repeated() -> None:
    run = Run(RuntimeError("no database"))
    with capture_logs() as lines:
        async with started(Workers(), single_worker("r", run, every_seconds=0.05)):
            await run.get()
            await run.get()
    assert [line["worker"] for line in lines if line["event"] == "run_failed"] == ["r"]


async def test_broken_worker_rests_although_woken() -> None:
    run = Run(*[RuntimeError("no database")] * 3)
    worker = polling(run)
    worker.well_at = 0.0
    workers = Workers(look_seconds=0.002)
    workers.start([worker], always(ALL))
    began_at = await run.get()
    for _ in range(20):
        workers.wake()
        await asyncio.sleep(0.002)
    assert await workers.stop(HANG_SECONDS) == []
    # On a slow machine the first rest, a second, may be over by now.
    again_at = [run.get_nowait() for _ in range(run.qsize())]
    assert all(at - began_at > 0.9 for at in again_at)
    assert worker.failures == 1 + len(again_at)
    assert worker.well_at == 0.0, "a worker that fails grows late"


async def test_failed_claim_rests_its_worker_alone() -> None:
    run = Run()

    async def fail(_limit: int, _full: Collection[str]) -> Sequence[None]:
        raise RuntimeError("no database")

    broken = Worker("broken", fail, lambda _row: asyncio.sleep(0), "deliveries")
    async with started(Workers(look_seconds=0.01), broken, polling(run), due=always(ALL)):
        for _ in range(3):
            await run.get()
        assert broken.failures == 1


async def test_stop_waits_for_work_and_cancels_late_work() -> None:
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
    workers.start(
        [
            single_worker("short", short, every_seconds=3600),
            single_worker("endless", endless, every_seconds=3600),
        ],
        always(NOTHING),
    )
    await begun.wait()
    asyncio.get_running_loop().call_soon(enough.set)
    assert await workers.stop(0.2) == ["worker endless"]
    assert ended == ["short", "endless"]


async def test_rows_claimed_as_the_stop_begins_are_worked_on() -> None:
    rows, claiming, may_claim = Rows([]), asyncio.Event(), asyncio.Event()

    async def claim(_limit: int, _full: Collection[str]) -> Sequence[str]:
        claiming.set()
        await may_claim.wait()
        return ["a1"]

    worker, workers = rows.worker(), Workers()
    worker.claim = claim
    rows.may_end.set()
    workers.start([worker], always(NOTHING))
    await claiming.wait()
    stopping = asyncio.create_task(workers.stop(HANG_SECONDS))
    await asyncio.sleep(0)
    may_claim.set()
    assert await stopping == []
    assert rows.begun == ["a1"]


async def test_claim_that_a_stop_cancels_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    claiming = asyncio.Event()

    async def claim(_limit: int, _full: Collection[str]) -> Sequence[str]:
        claiming.set()
        await asyncio.Event().wait()
        return []

    worker, workers = Rows([]).worker(), Workers()
    worker.claim = claim
    workers.start([worker], always(NOTHING))
    await claiming.wait()
    assert len(await workers.stop(0.1)) == 1
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_look_wakes_only_workers_with_due_rows() -> None:
    poll, deliver = Run(), Run()
    looks = Looks(NOTHING, DueQueues(frozenset({"polls"}), None))
    each = [
        single_worker("poll", poll, queue="polls"),
        single_worker("deliver", deliver, queue="deliveries"),
    ]
    async with started(Workers(look_seconds=3600, least_seconds=3600), *each, due=looks) as workers:
        await looks.get()
        await asyncio.gather(poll.get(), deliver.get())  # each runs once at the start
        workers.wake()
        await poll.get()
    assert deliver.empty()


async def test_only_a_hanging_worker_is_late() -> None:
    hangs, looks = asyncio.Event(), Looks()

    async def hang() -> int:
        await hangs.wait()
        return 0

    idle = single_worker("idle", Run(), queue="polls")
    hanging = single_worker("hanging", hang, queue="deliveries")
    hourly = single_worker("hourly", Run(), every_seconds=3600)
    async with started(Workers(look_seconds=0.01), idle, hanging, hourly, due=looks) as workers:
        looked_at = [await looks.get() for _ in range(60)]
        assert idle.well_at >= looked_at[-2]
        late = workers.late(0.02)
        assert "hanging" in late
        assert "hourly" not in late
        hangs.set()


async def test_idle_engine_looks_at_intervals_and_claims_nothing() -> None:
    rows, looks = Rows([]), Looks()
    async with started(Workers(look_seconds=0.02), *[rows.worker()], due=looks):
        await asyncio.sleep(0.21)
    assert len(rows.claimed_at) == 1, "at the start"
    assert looks.qsize() <= 22, "no more often than the interval and its guard"


async def test_workers_stopped_before_their_start_never_run() -> None:
    run, workers = Run(), Workers()
    assert await workers.stop(1) == []
    workers.start([single_worker("r", run, every_seconds=3600)], always(NOTHING))
    assert await workers.stop(1) == []
    assert run.empty()


async def test_next_look_is_made_when_a_row_comes_due() -> None:
    now = datetime.now(UTC)
    looks = Looks(
        *(DueQueues(frozenset(), now + timedelta(seconds=after)) for after in (0.02, 86_400))
    )
    async with started(Workers(look_seconds=3600, least_seconds=0.0), due=looks):
        await looks.get()
        await looks.get()


async def test_rows_put_back_by_a_run_are_found_soon() -> None:
    looks, may_end = Looks(), asyncio.Event()

    async def run() -> int:
        await may_end.wait()
        return 0

    async with started(Workers(look_seconds=3600, least_seconds=0.01), polling(run), due=looks):
        await looks.get()
        may_end.set()
        await looks.get()


async def test_rows_due_at_about_one_time_share_a_look() -> None:
    looks = Looks(*[DueQueues(frozenset(), datetime.now(UTC))] * 9)
    async with started(Workers(look_seconds=3600, least_seconds=3600), due=looks):
        await looks.get()
        await asyncio.sleep(0.05)
    assert looks.empty()


@pytest.mark.parametrize("hours", [-1, 2])
async def test_workers_run_at_once_when_the_clock_is_set(hours: int) -> None:
    run, clock = Run(), SetClock()
    workers = Workers(look_seconds=0.02, machine_clock=clock)
    workers.start([single_worker("r", run, every_seconds=3600)], always(NOTHING))
    async with asyncio.timeout(HANG_SECONDS):
        await run.get()
        await asyncio.sleep(0.1)
        while not run.empty():
            run.get_nowait()
        clock.ahead = timedelta(hours=hours)
        await run.get()
    await workers.stop(1)


async def test_regular_looks_go_on_before_a_distant_row() -> None:
    clock = SetClock()
    looks = Looks(*[DueQueues(frozenset(), datetime.now(UTC) + timedelta(hours=1))] * 9)
    async with started(Workers(look_seconds=0.01, least_seconds=0.0, clock=clock), due=looks):
        clock.ahead = timedelta(hours=-1)
        for _ in range(5):
            await looks.get()


async def test_look_that_failed_once_is_not_late_for_good() -> None:
    looks = Looks()
    looks.found = []
    outcomes: list[Exception | DueQueues] = [NOTHING, OSError("locked"), NOTHING]

    async def find_due() -> DueQueues:
        found = outcomes.pop(0) if outcomes else NOTHING
        looks.put_nowait(monotonic())
        if isinstance(found, Exception):
            raise found
        return found

    async with started(Workers(look_seconds=0.05, least_seconds=0.01), due=find_due) as workers:
        for _ in range(5):
            await looks.get()
        while workers.late(0.2):
            await asyncio.sleep(0.01)


async def test_row_settled_as_another_worker_claims_it_is_worked_on() -> None:
    """Both outcomes may reach the loop in one turn, since changes of rows are committed together."""
    settled, state, worked = asyncio.Event(), ["new"], asyncio.Event()
    claiming = asyncio.get_running_loop().create_future()

    async def claim_new(_limit: int, _full: Collection[str]) -> Sequence[str]:
        return ["row"] if state == ["new"] else []

    async def prepare(_row: str) -> None:
        await settled.wait()
        await committed

    async def claim_waiting(_limit: int, _full: Collection[str]) -> Sequence[str]:
        return await claiming if not claiming.done() else []

    async def submit(_row: str) -> None:
        worked.set()

    committed = asyncio.get_running_loop().create_future()
    first = Worker("prepare", claim_new, prepare, "requests", key=str)
    second = Worker("submit", claim_waiting, submit, "prompts", key=str)
    async with started(Workers(), first, second):
        while not first.under_way:
            await asyncio.sleep(0.002)
        state[0] = "waiting"
        settled.set()
        await asyncio.sleep(0.01)
        committed.set_result(None)
        claiming.set_result(["row"])
        await worked.wait()


async def test_wake_in_the_turn_in_which_a_run_ends_is_kept() -> None:
    looks, ended = Looks(), asyncio.get_running_loop().create_future()
    committed = asyncio.get_running_loop().create_future()

    async def find_due() -> DueQueues:
        looks.put_nowait(monotonic())
        if looks.found:
            looks.found.pop()
            await ended
            return ALL
        return NOTHING

    async def commit(workers: Workers) -> None:
        await committed
        workers.wake()

    async with started(Workers(look_seconds=3600), Rows([]).worker(), due=find_due) as workers:
        await looks.get()
        looks.found = [NOTHING]
        workers.wake()
        await looks.get()
        other = asyncio.create_task(commit(workers))
        await asyncio.sleep(0.01)
        ended.set_result(None)
        committed.set_result(None)
        await looks.get()
        await other


async def test_failed_worker_with_a_long_interval_runs_after_its_rest() -> None:
    run = Run(OSError("locked"), 0)
    async with started(Workers(), single_worker("forget", run, every_seconds=3600)):
        assert await run.get() + 0.3 < await run.get()
