"""SIGKILL at every place of a question, a file and a digest, and a start after it: none lost, none twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from sandbox.world import WorldOptions
from tests.bots import Zygote
from tests.scenarios.kills import kill_everywhere, requests
from tests.scenarios.story import Json, Story
from tests.scenarios.test_visitors import digests


class AskedForNumbers:
    """A person asks for numbers, a file with them and a digest, all at once."""

    watched: Sequence[str] = (
        "visitors/question",
        "visitors/fetch",
        "outbox/csv_upload",
        "visitors/digest",
        "visitors/subscriptions",
    )

    def options(self, folder: Path) -> WorldOptions:
        """Return a world with a small site that is read a little."""
        return WorldOptions(folder, pages=40, days=30)

    async def begin(self, story: Story) -> None:
        """Nothing has happened yet."""

    async def act(self, story: Story) -> Sequence[Json]:
        """Ask."""
        return await asyncio.gather(
            story.command("/docs-visitors", "last week compare none csv here"),
            story.command("/docs-visitors", "digest now"),
        )

    def is_over(self, story: Story) -> bool:
        """Return whether everything has been told."""
        return answered(story) and bool(files(story)) and bool(digests(story))

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether what was acknowledged has been told."""
        question, digest = (answer["ok"] for answer in answers)
        asked = not question or (answered(story) and bool(files(story)))
        return asked and (not digest or bool(digests(story)))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """One file and one digest at most, and no more calls than they take."""
        told = [post["text"][:60] for post in story.roots()]
        assert len(digests(story)) <= 1, told
        assert len(files(story)) <= 1, told
        # Two windows of the digest, six weeks before them, the chart; a call may be made again after a kill.
        assert (await requests(story.world))["visitors"] <= 2 + 6 + 7 + 4


def answered(story: Story) -> bool:
    """Whether the question's answer has been read, privately or as a direct message."""
    texts = [note["text"] for note in story.private()] + [post["text"] for post in story.roots("D01ANA")]
    return any("Who read the docs, " in text and "People: " in text for text in texts)


def files(story: Story) -> list[str]:
    """The names of the files in the channel."""
    return [post["files"][0]["name"] for post in story.roots() if post["files"]]


@pytest.mark.timeout(3_000)
async def test_a_kill_anywhere_loses_no_numbers_and_says_nothing_twice(
    zygote: Zygote, tmp_path: Path, of_each_kind: int | None
) -> None:
    await kill_everywhere(AskedForNumbers(), zygote, tmp_path, of_each_kind=of_each_kind)
