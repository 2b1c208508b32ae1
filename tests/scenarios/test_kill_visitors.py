"""SIGKILL at every await of a question, a file and a digest, and a start after it: none lost, none twice."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from bot.sandbox.world import WorldOptions, both_sides
from tests.scenarios.story import Story
from tests.scenarios.test_kill import Zygote, is_alive, lines, requests, stop, wait_for, zygote
from tests.scenarios.test_visitors import digests

__all__ = ["zygote"]
WATCHED = ("question", "read", "files", "digest")
_AT_ONCE = 10
_FEWEST_PLACES = 20
_FEWEST_KILLS = 0.7


async def tell(zygote: Zygote, folder: Path, kill_at: str | None) -> tuple[set[str], bool]:
    """Ask for numbers, a file and a digest with a bot that is killed at the place; start it again; look."""
    async with both_sides(WorldOptions(folder, pages=40, days=30)) as world:
        story, first = Story(world), folder / "first"
        pid = await zygote.fork(world, first, kill_at, WATCHED)
        await wait_for("a first start", lambda: {"ready": True} in lines(first) or not is_alive(pid))
        asking = asyncio.gather(
            story.command("/docs-visitors", "last week compare none csv here"),
            story.command("/docs-visitors", "digest now"),
        )
        with contextlib.suppress(AssertionError):
            await wait_for("all of it or the kill", lambda: is_over(story) or not is_alive(pid))
        killed = not is_alive(pid)
        await stop(pid)
        again = await zygote.fork(world, folder / "second", None) if killed else None
        question, digest = (answer["ok"] for answer in await asking)
        if again is not None:
            await wait_for(
                "what was acknowledged",
                lambda: (
                    (not question or (answered(story) and files(story))) and (not digest or digests(story))
                ),
            )
            await asyncio.sleep(0.5)
            await stop(again)
        told = [post["text"][:60] for post in story.roots()]
        assert len(digests(story)) <= 1, told
        assert len(files(story)) <= 1, told
        # Two windows of the digest, six weeks before them, the chart; a call may be made again after a kill.
        assert (await requests(world))["visitors"] <= 2 + 6 + 7 + 4
        return {line["place"] for line in lines(first) if "place" in line}, killed


def is_told(story: Story, *, question: bool, digest: bool) -> bool:
    """Whether what was acknowledged has been told."""
    asked = not question or (answered(story) and bool(files(story)))
    return asked and (not digest or bool(digests(story)))


def answered(story: Story) -> bool:
    """Whether the question's answer has been read, privately or as a direct message."""
    texts = [note["text"] for note in story.private()] + [post["text"] for post in story.roots("D01ANA")]
    return any("Who read the docs, " in text and "People: " in text for text in texts)


def files(story: Story) -> list[str]:
    """The names of the files in the channel."""
    return [post["files"][0]["name"] for post in story.roots() if post["files"]]


def is_over(story: Story) -> bool:
    """Whether everything has been told."""
    return answered(story) and bool(files(story)) and bool(digests(story))


@pytest.mark.timeout(280)
async def test_a_kill_at_any_await_of_visitors_loses_nothing_and_says_nothing_twice(
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
    assert sum(kills) >= len(places) * _FEWEST_KILLS
