"""A kill happens at its place: before a commit nothing is stored, after it everything."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from sandbox.world import World
from tests.bots import Zygote, is_alive, lines, started, stop, wait_for
from tests.scenarios.kills import chosen
from tests.scenarios.places import Kind, kind_of
from tests.scenarios.story import Story
from tests.scenarios.timeouts import STEADY

WATCHED = ("jobs/ask",)


async def places_of_a_job(zygote: Zygote, world: World, folder: Path) -> dict[Kind, str]:
    """Return the last place of each kind that asking for a job passes."""
    pid = await zygote.start(
        world, folder / "calm", watched=WATCHED, lease_seconds=STEADY.lease_seconds
    )
    await started(pid, folder / "calm")
    places = dict[Kind, str]()
    # A commit that includes other changes has another name.
    for number in range(10):
        await Story(world).asked(f"Add page {number} on keys")
        places = {
            kind_of(line["place"]): str(line["place"])
            for line in lines(folder / "calm")
            if "place" in line
        }
        if {Kind.STATEMENT, Kind.COMMIT, Kind.COMMITTED} <= places.keys():
            break
    await stop(pid)
    return places


def is_over(asking: asyncio.Task[object], pid: int) -> bool:
    """Return whether a command was answered, or its bot killed."""
    return asking.done() or not is_alive(pid)


def stored(folder: Path) -> int:
    """Count the prompts in the database."""
    with closing(sqlite3.connect(folder / "docs-bot.db")) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM prompts").fetchall()
    return int(count)


@pytest.mark.parametrize(
    ("kind", "added"), [(Kind.STATEMENT, 0), (Kind.COMMIT, 0), (Kind.COMMITTED, 1)]
)
async def test_killed_prompt_is_stored_only_after_commit(
    zygote: Zygote, world: World, tmp_path: Path, kind: Kind, added: int
) -> None:
    places = await places_of_a_job(zygote, world, tmp_path)
    pid = await zygote.start(
        world,
        tmp_path / "killed",
        kill_at=places[kind],
        watched=WATCHED,
        lease_seconds=STEADY.lease_seconds,
    )
    await started(pid, tmp_path / "killed")
    # A commit that includes other changes has another name.
    for attempt in range(20):
        before = stored(tmp_path)
        asking = asyncio.create_task(Story(world).command("/docs-agent", f"Add page {attempt}"))
        await wait_for("the kill or an answer", partial(is_over, asking, pid))
        if not is_alive(pid):
            break
    asking.cancel()
    assert not is_alive(pid)
    assert stored(tmp_path) == before + added


def test_same_few_places_of_all_kinds_are_chosen() -> None:
    places = [f"bot/jobs/ask:{line} {kind}" for line in range(10) for kind in Kind]
    few = chosen(places, 8)
    assert Counter(map(kind_of, few)) == dict.fromkeys(Kind, 2)
    assert few == chosen(reversed(places), 8)
    assert chosen(places, None) == sorted(places)
