"""SIGKILL at every await of asking, preparing, submitting, polling and delivering, and a start after it.

Whatever the moment: at most one job is created, its end is told once, nobody is left without a word.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from sandbox.world import World, WorldOptions, both_sides
from tests.bots import Zygote, is_alive, lines, started, stop, wait_for
from tests.scenarios.story import Story

PROMPT = "Add a quickstart for the Python SDK"
WATCHED = ("jobs/ask", "jobs/prepare", "jobs/submit", "jobs/poll", "outbox/deliver")
_AT_ONCE = 10
_FEWEST_PLACES = 20
Telling = Callable[[Path, str | None], Awaitable[tuple[set[str], bool]]]
"""A story in this folder, killed at this place; answers the places that were passed and whether it was."""


async def requests(world: World) -> Counter[str]:
    """How often the docs service was asked for what."""
    url = f"{world.docs_service_url}/sandbox/log"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return Counter(entry["operation"] for entry in await answer.json())


async def tell(zygote: Zygote, folder: Path, kill_at: str | None) -> tuple[set[str], bool]:
    """Ask for a job with a bot that is killed at the place, start it again, and check what people see.

    Answers the places that were passed, and whether the kill happened.
    """
    async with both_sides(WorldOptions(folder, work_seconds=0.2, pages=20, days=2)) as world:
        story, first = Story(world), folder / "first"
        pid = await zygote.start(world, first, kill_at, WATCHED)
        await started(pid, first)
        asking = asyncio.create_task(story.command("/docs-agent", PROMPT))
        with contextlib.suppress(AssertionError):
            await wait_for("the end or the kill", lambda: is_over(story) or not is_alive(pid))
        killed = not is_alive(pid)
        await stop(pid)
        again = await zygote.start(world, folder / "second") if killed else None
        answered = (await asking)["ok"]
        if again is not None:
            # Asked but not acknowledged: the person was told so, and may or may not see the job.
            await wait_for("an end that is told", lambda: is_over(story) or not (answered or story.roots()))
            await asyncio.sleep(0.6)
            await stop(again)
        await check(story, answered, folder)
        return {line["place"] for line in lines(first) if "place" in line}, killed


def is_over(story: Story) -> bool:
    """Whether people have read an end, or that it is in doubt."""
    return any("ready" in text or "may or may not" in text for text in said(story))


def said(story: Story) -> list[str]:
    """The words of the bot's replies."""
    return [one["text"] for root in story.roots() for one in story.said(root)]


async def check(story: Story, answered: bool, folder: Path) -> None:
    """At most one job; one root, one end or one doubt; and a word for whoever asked."""
    asked = await requests(story.world)
    ends = [text for text in said(story) if "is ready" in text]
    doubts = [text for text in said(story) if "may or may not" in text]
    told = f"{dict(asked)} {said(story)} {lines(folder / 'second')}"
    assert asked["create"] <= 1, told
    assert len(story.roots()) <= 1, told
    assert len(ends) + len(doubts) <= 1, told
    if answered:
        assert len(story.roots()) == 1, told
        assert len(ends) + len(doubts) == 1, told


async def kill_everywhere(tell: Telling, folder: Path, *, at_least: float) -> None:
    """Tell a story once without a kill, then once for each place with a kill there.

    A place that a later run does not come to again is no kill; ``at_least`` this share must be.
    """
    places, killed = await tell(folder / "calm", None)
    assert not killed
    assert len(places) >= _FEWEST_PLACES, places
    room = asyncio.Semaphore(_AT_ONCE)
    kills: list[bool] = []

    async def one(number: int, place: str) -> None:
        async with room:
            try:
                kills.append((await tell(folder / str(number), place))[1])
            except AssertionError as error:
                raise AssertionError(f"killed at {place}: {error}") from error

    async with asyncio.TaskGroup() as group:
        for number, place in enumerate(sorted(places)):
            group.create_task(one(number, place))
    print(f"{sum(kills)} kills at {len(places)} places")
    assert sum(kills) >= len(places) * at_least


@pytest.mark.timeout(3_000)
async def test_a_kill_at_any_await_loses_nothing_and_says_nothing_twice(
    zygote: Zygote, tmp_path: Path
) -> None:
    await kill_everywhere(partial(tell, zygote), tmp_path, at_least=0.8)
