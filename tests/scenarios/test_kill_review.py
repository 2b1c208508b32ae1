"""SIGKILL at every place of what follows a pull request, and a start after it: each is told once.

These are the one reminder, and the button that says what became of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sandbox.world import WorldOptions
from tests.bots import Zygote
from tests.scenarios.clocks import working_day_ahead
from tests.scenarios.kills import kill_everywhere
from tests.scenarios.story import BEN, Json, Story
from tests.scenarios.test_kill import PROMPT

_LATER = 5
"""Days after which the tale is told. A reminder comes after three."""
_REMINDED = "waits for review"


class Reviewed:
    """A reminder comes due, and somebody says that the pull request was reviewed."""

    watched: Sequence[str] = ("jobs/remind", "jobs/decisions")

    def options(self, folder: Path) -> WorldOptions:
        """Return a world with an agent that works fast."""
        return WorldOptions(folder, work_seconds=0.2, pages=20, days=2)

    async def begin(self, story: Story) -> None:
        """One job is done."""
        await story.finished(PROMPT)

    async def act(self, story: Story) -> Sequence[Json]:
        """Say what became of the pull request, once its thread was reminded."""
        await story.until(lambda: said(story, _REMINDED) or None, "the reminder")
        # The bot knows Ben from now on, so that it stores his press before it acknowledges it.
        await story.command("/docs-agent", "help", BEN)
        await story.answer("/docs-agent", BEN)
        root = self._face(story)
        end = next(one for one in story.said(root) if "is done" in one["text"])
        return [await story.press(end, "reviewed", BEN)]

    def is_over(self, story: Story) -> bool:
        """Return whether all of it has been told."""
        return bool(said(story, _REMINDED)) and self._is_reviewed(story)

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether all that came due has been told, and the review if it was acknowledged."""
        told = bool(said(story, _REMINDED))
        return told and (self._is_reviewed(story) or not answers[0]["ok"])

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """One reminder."""
        told = [one["text"] for root in story.roots() for one in story.said(root)]
        assert len(said(story, _REMINDED)) == 1, told
        assert self._is_reviewed(story) or not answers[0]["ok"], told

    def _face(self, story: Story) -> Json:
        return next(root for root in story.roots() if PROMPT in root["text"])

    def _is_reviewed(self, story: Story) -> bool:
        return f"Reviewed or merged*: <@{BEN}>" in self._face(story)["text"]


def said(story: Story, words: str) -> list[str]:
    """The bot's replies that contain these words."""
    replies = (one["text"] for root in story.roots() for one in story.said(root))
    return [text for text in replies if words in text]


@pytest.mark.timeout(3_000)
async def test_a_kill_anywhere_repeats_no_reminder_and_loses_no_review(
    zygote: Zygote, tmp_path: Path, of_each_kind: int | None
) -> None:
    ahead = working_day_ahead(_LATER)
    await kill_everywhere(Reviewed(), zygote, tmp_path, of_each_kind=of_each_kind, ahead=ahead)
