"""SIGKILL at every place of asking, preparing, submitting, polling and delivering, and a start after it.

Whatever the moment: at most one job is created, its end is told once, nobody is left without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sandbox.world import WorldOptions
from tests.bots import Zygote
from tests.scenarios.kills import kill_everywhere, requests
from tests.scenarios.story import Json, Story

PROMPT = "Add a quickstart for the Python SDK"
_DOUBT = "may or may not"


class AskedForAJob:
    """A person asks for a job."""

    watched: Sequence[str] = (
        "jobs/ask",
        "jobs/prepare",
        "jobs/submit",
        "jobs/poll",
        "jobs/transitions",
        "outbox/deliver",
    )

    def options(self, folder: Path) -> WorldOptions:
        """Return a world with an agent that works fast."""
        return WorldOptions(folder, work_seconds=0.2, pages=20, days=2)

    async def begin(self, story: Story) -> None:
        """Nothing has happened yet."""

    async def act(self, story: Story) -> Sequence[Json]:
        """Ask."""
        return [await story.command("/docs-agent", PROMPT)]

    def is_over(self, story: Story) -> bool:
        """Return whether people have read an end, or that it is in doubt."""
        return any("ready" in text or _DOUBT in text for text in said(story))

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Asked but not acknowledged: the person was told so, and may or may not see the job."""
        return self.is_over(story) or not (answers[0]["ok"] or story.roots())

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """At most one job; one root, one end or one doubt; and a word for whoever asked."""
        asked = await requests(story.world)
        ends = [text for text in said(story) if "is ready" in text]
        doubts = [text for text in said(story) if _DOUBT in text]
        told = f"{dict(asked)} {said(story)}"
        assert asked["create"] <= 1, told
        assert len(story.roots()) <= 1, told
        assert len(ends) + len(doubts) <= 1, told
        if answers[0]["ok"]:
            assert len(story.roots()) == 1, told
            assert len(ends) + len(doubts) == 1, told


def said(story: Story) -> list[str]:
    """The words of the bot's replies."""
    return [one["text"] for root in story.roots() for one in story.said(root)]


@pytest.mark.timeout(3_000)
async def test_a_kill_anywhere_loses_no_job_and_says_nothing_twice(
    zygote: Zygote, tmp_path: Path, of_each_kind: int | None
) -> None:
    await kill_everywhere(AskedForAJob(), zygote, tmp_path, of_each_kind=of_each_kind)
