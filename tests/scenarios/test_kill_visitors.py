"""SIGKILL at every await of a question, a file and a digest, and a start after it: none lost, none twice."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path

import pytest

from sandbox.world import WorldOptions, both_sides
from tests.bots import Zygote, is_alive, lines, started, stop, wait_for
from tests.scenarios.story import Story
from tests.scenarios.test_kill import kill_everywhere, requests
from tests.scenarios.test_visitors import digests

WATCHED = ("visitors/question", "visitors/fetch", "outbox/csv_upload", "digests/digest")


async def tell(zygote: Zygote, folder: Path, kill_at: str | None) -> tuple[set[str], bool]:
    """Ask for numbers, a file and a digest with a bot that is killed at the place; start it again; look."""
    async with both_sides(WorldOptions(folder, pages=40, days=30)) as world:
        story, first = Story(world), folder / "first"
        pid = await zygote.start(world, first, kill_at, WATCHED)
        await started(pid, first)
        asking = asyncio.gather(
            story.command("/docs-visitors", "last week compare none csv here"),
            story.command("/docs-visitors", "digest now"),
        )
        with contextlib.suppress(AssertionError):
            await wait_for("all of it or the kill", lambda: is_over(story) or not is_alive(pid))
        killed = not is_alive(pid)
        await stop(pid)
        again = await zygote.start(world, folder / "second") if killed else None
        question, digest = (answer["ok"] for answer in await asking)
        if again is not None:
            await wait_for("what was acknowledged", lambda: is_told(story, question=question, digest=digest))
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


@pytest.mark.timeout(3_000)
async def test_a_kill_at_any_await_of_visitors_loses_nothing_and_says_nothing_twice(
    zygote: Zygote, tmp_path: Path
) -> None:
    await kill_everywhere(partial(tell, zygote), tmp_path, at_least=0.7)
