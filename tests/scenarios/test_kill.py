"""SIGKILL at every await of asking, preparing, submitting, polling and delivering, and a start after it.

Whatever the moment: at most one job is created, its end is told once, nobody is left without a word.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.sandbox.world import World, WorldOptions, both_sides
from tests.scenarios.story import Story, environment

PROMPT = "Add a quickstart for the Python SDK"
WATCHED = ("ask", "prepare", "submit", "poll", "deliver")
_AT_ONCE = 10
_FEWEST_PLACES = 20
_LIMIT_SECONDS = 20.0


class Zygote:
    """The process that forks bots."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._turn = asyncio.Lock()

    async def fork(
        self,
        world: World,
        output: Path,
        kill_at: str | None,
        watched: Sequence[str] = (),
        **settings: str,
    ) -> int:
        """Start a bot with the world's settings, some of them changed; answers its process id.

        ``watched``: the modules of the work whose awaits are told, and killed at.
        """
        env = environment(world) | {
            "POLL_MIN_SECONDS": "0.1",
            "POLL_MAX_SECONDS": "0.2",
            "LOG_LEVEL": "ERROR",
            **settings,
        }
        order = {"env": env, "output": str(output), "kill_at": kill_at, "watched": watched}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        async with self._turn:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            await self._process.stdin.drain()
            return int(await self._process.stdout.readline())


@pytest.fixture
async def zygote() -> AsyncIterator[Zygote]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.scenarios.killing",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    yield Zygote(process)
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()


def lines(output: Path) -> list[dict[str, Any]]:
    """What a bot has printed so far."""
    if not output.exists():
        return []
    return [json.loads(line) for line in output.read_text().splitlines() if line.startswith("{")]


def is_alive(pid: int) -> bool:
    """Whether the process still runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def wait_for(what: str, check: Any) -> None:
    """Until the check holds."""
    for _ in range(int(_LIMIT_SECONDS * 50)):
        if check():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{what} did not come about")


async def requests(world: World) -> Counter[str]:
    """How often the docs service was asked for what."""
    url = f"{world.docs_service_url}/sandbox/log"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return Counter(entry["operation"] for entry in await answer.json())


async def stop(pid: int) -> None:
    """End a bot in order."""
    if is_alive(pid):
        os.kill(pid, signal.SIGTERM)
        await wait_for("the end of the process", lambda: not is_alive(pid))


async def tell(zygote: Zygote, folder: Path, kill_at: str | None) -> tuple[set[str], bool]:
    """Ask for a job with a bot that is killed at the place, start it again, and check what people see.

    Answers the places that were passed, and whether the kill happened.
    """
    async with both_sides(WorldOptions(folder, work_seconds=0.2, pages=20, days=2)) as world:
        story, first = Story(world), folder / "first"
        pid = await zygote.fork(world, first, kill_at, WATCHED)
        await wait_for("a first start", lambda: {"ready": True} in lines(first) or not is_alive(pid))
        asking = asyncio.create_task(story.command("/docs-agent", PROMPT))
        with contextlib.suppress(AssertionError):
            await wait_for("the end or the kill", lambda: is_over(story) or not is_alive(pid))
        killed = not is_alive(pid)
        await stop(pid)
        again = await zygote.fork(world, folder / "second", None) if killed else None
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


@pytest.mark.timeout(280)
async def test_a_kill_at_any_await_loses_nothing_and_says_nothing_twice(
    zygote: Zygote, tmp_path: Path
) -> None:
    places, killed = await tell(zygote, tmp_path / "calm", None)
    assert not killed
    assert len(places) >= _FEWEST_PLACES, places
    room = asyncio.Semaphore(_AT_ONCE)
    kills: list[bool] = []

    async def one(number: int, place: str) -> None:
        async with room:
            try:
                kills.append((await tell(zygote, tmp_path / str(number), place))[1])
            except AssertionError as error:
                raise AssertionError(f"killed at {place}: {error}") from error

    async with asyncio.TaskGroup() as group:
        for number, place in enumerate(sorted(places)):
            group.create_task(one(number, place))
    print(f"{sum(kills)} kills at {len(places)} places")
    # A place that the second run did not come to again is no kill; nearly all must be.
    assert sum(kills) >= len(places) * 0.8
