"""Four processes on one database: every row is handled once, in order, at its pace, within the limits."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter, defaultdict
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from bot.store.database import Database
from bot.store.schema import analytics_calls, prompts
from tests.store.claimer import Order
from tests.store.stock import fill

Line = dict[str, Any]
PACE_SECONDS = 0.02
pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


async def claim_all(order: Order) -> list[Line]:
    """Let the claimers work until nothing is left; answers all that they wrote down, as it happened."""
    began = time.monotonic()
    claimers = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.store.claimer",
        json.dumps(asdict(order)),
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await claimers.communicate()
    assert claimers.returncode == 0, said.decode()
    files = await asyncio.to_thread(lambda: [file.read_text() for file in Path(order.folder).glob("*.jsonl")])
    lines = [json.loads(line) for text in files for line in text.splitlines()]
    print(f"{len(lines)} rows in {time.monotonic() - began:.1f} s with {order.url.partition(':')[0]}")
    return sorted(lines, key=lambda line: float(line["at"]))


def keys(lines: list[Line], queue: str) -> list[Any]:
    """What was handled of a queue, in the order in which it was."""
    return [line["key"] for line in lines if line["queue"] == queue]


def assert_each_once(lines: list[Line]) -> None:
    counts = Counter((line["queue"], line["key"]) for line in lines)
    assert [row for row, times in counts.items() if times != 1] == []


def assert_threads_in_order(lines: list[Line]) -> None:
    threads: dict[str, list[int]] = defaultdict(list)
    for key in keys(lines, "deliveries"):
        thread, place = key.split(":")
        threads[thread].append(int(place))
    for thread, places in threads.items():
        in_thread = [place for place in places if place != max(places)]  # the reaction waits for nothing
        assert in_thread == sorted(in_thread), thread


def assert_pace_kept(lines: list[Line]) -> None:
    channels: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        is_reaction = line["queue"] == "deliveries" and line["key"].endswith(":5")
        if line["queue"] == "deliveries" and not is_reaction and not line["doubt"]:
            channels[line["channel"]].append(line["claimed_at"])
    assert channels
    for channel, times in channels.items():
        pauses = [after - before for before, after in pairwise(sorted(times))]
        assert min(pauses) >= PACE_SECONDS - 1e-5, channel


async def count(database: Database, statement: Any) -> int:
    return int(await database.read(lambda connection: connection.execute(statement).scalar_one()))


async def test_four_processes_handle_every_row_once_in_order_and_within_the_limits(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    await fill(database, jobs=1500, prompts=90, deliveries=240, snapshots=30, questions=150, digests=150)
    lines = await claim_all(
        Order(database_url, str(tmp_path), uses_an_hour=75, calls_an_hour=25, pace_seconds=PACE_SECONDS)
    )
    assert_each_once(lines)
    handled = Counter(line["queue"] for line in lines)
    assert handled == {
        "polls": 1500,
        "prompts": 75,
        "deliveries": 240,
        "snapshots": 25,
        "questions": 150,
        "digests": 150,
    }
    assert len({line["by"] for line in lines}) > 1, "it was shared"
    assert_threads_in_order(lines)
    assert_pace_kept(lines)
    jobs: dict[int, list[int]] = defaultdict(list)
    for line in lines:
        if line["queue"] == "prompts":
            jobs[line["job"]].append(line["key"])
    assert all(follow_ups == sorted(follow_ups) for follow_ups in jobs.values())
    sent = select(func.count()).select_from(prompts).where(prompts.c.sent_at.is_not(None))
    assert await count(database, sent) == 75
    assert await count(database, select(func.count()).select_from(analytics_calls)) == 25


async def test_what_a_killed_process_held_is_handled_by_others_after_its_lease_and_not_before(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    await fill(database, jobs=200, prompts=60, deliveries=120, snapshots=20, questions=60, digests=60)
    order = Order(database_url, str(tmp_path), pace_seconds=PACE_SECONDS, doomed=True)
    lines = await claim_all(order)
    lost = [line for line in lines if line["by"] == "doomed"]
    lines = [line for line in lines if line["by"] != "doomed"]
    queues = {"polls", "prompts", "abandoned", "deliveries", "snapshots", "questions", "digests"}
    assert {line["queue"] for line in lost} == queues
    assert_each_once(lines)
    handled = {(line["queue"], line["key"]): line for line in lines}
    for line in lost:
        again = handled[line["queue"], line["key"]]
        assert again["claimed_at"] - line["claimed_at"] >= order.doomed_lease_seconds
        assert again.get("doubt", True), "what may have been sent is looked for first"
    totals = Counter(line["queue"] for line in lines)
    assert totals["prompts"] + totals["abandoned"] == 60
    assert [totals[queue] for queue in ("polls", "deliveries", "snapshots", "questions", "digests")] == [
        200,
        120,
        20,
        60,
        60,
    ]
    assert_threads_in_order(lines)
    assert_pace_kept(lines)
