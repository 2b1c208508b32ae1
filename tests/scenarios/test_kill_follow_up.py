"""SIGKILL at every place of a follow-up's way, and a start after it: never lost, and never sent twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sandbox.workspace import WorkspaceOptions
from sandbox.world import WorldOptions
from tests.bots import Zygote
from tests.scenarios.kills import kill_everywhere, requests
from tests.scenarios.story import Json, Story
from tests.scenarios.test_kill import PROMPT, said

_DOUBT = "may or may not"
_AGAIN_SECONDS = 0.3
_MOST_AGAIN = 400


@dataclass(frozen=True)
class PersistentWorld(WorldOptions):
    """A world whose workspace delivers an event again soon, for as long as nobody acknowledges it."""

    def workspace(self) -> WorkspaceOptions:
        """Return the options of the workspace."""
        return replace(super().workspace(), redeliver_after_seconds=(_AGAIN_SECONDS,) * _MOST_AGAIN)


class Steered:
    """A person replies in the thread of a job that has ended."""

    watched: Sequence[str] = (
        "jobs/thread_events",
        "jobs/follow_up",
        "jobs/prepare",
        "jobs/submit",
        "jobs/poll",
        "jobs/transitions",
        "outbox/deliver",
    )

    def options(self, folder: Path) -> WorldOptions:
        """Return a world with an agent that works fast, and hardly any visitors."""
        return PersistentWorld(folder, work_seconds=0.2, pages=20, days=2)

    async def begin(self, story: Story) -> None:
        """A job is done."""
        await story.finished(PROMPT)

    async def act(self, story: Story) -> Sequence[Json]:
        """Reply."""
        return [story.reply(story.roots()[0], "Mention retries")]

    def is_over(self, story: Story) -> bool:
        """Return whether an end has been told that is not the job's first, or that it is in doubt."""
        return len(self._ends(story)) > 1 or bool(self._doubts(story))

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """An event comes until it is acknowledged, so none is lost."""
        return self.is_over(story) and not story.world.workspace.bot_connection.has_pending_events()

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Sent once at most, and told: its end, or a doubt, which may turn into an end."""
        asked = await requests(story.world)
        ends, doubts = self._ends(story), self._doubts(story)
        told = f"{dict(asked)} {said(story)}"
        assert asked["create"] == 1, told
        assert asked["follow_up"] <= 1, told
        assert len(story.roots()) == 1, told
        assert len(ends) == 2 or (len(ends) == 1 and len(doubts) == 1), told
        assert len(doubts) <= 1, told

    def _ends(self, story: Story) -> list[str]:
        return [text for text in said(story) if "is done" in text or "is finished" in text]

    def _doubts(self, story: Story) -> list[str]:
        return [text for text in said(story) if _DOUBT in text]


@pytest.mark.timeout(3_000)
async def test_a_kill_anywhere_loses_no_follow_up_and_sends_none_twice(
    zygote: Zygote, tmp_path: Path, of_each_kind: int | None
) -> None:
    await kill_everywhere(Steered(), zygote, tmp_path, of_each_kind=of_each_kind)
