"""SIGKILL at every place of a mention's way in a thread of people, and a start after it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sandbox.world import WorldOptions
from tests.bots import Zygote
from tests.scenarios.kills import kill_everywhere, requests
from tests.scenarios.story import ANA, DOCS, Json, Story
from tests.scenarios.test_kill import PROMPT
from tests.scenarios.test_kill_follow_up import PersistentWorld

_DOUBT = "may or may not"
_TALK = "The quickstart lacks Python"


class Mentioned:
    """A person mentions the bot in a thread of people."""

    watched: Sequence[str] = ("jobs/thread_events", "jobs/ask", "jobs/prepare", "outbox/deliver")

    def options(self, folder: Path) -> WorldOptions:
        """Return a world with an agent that works fast, and hardly any visitors."""
        return PersistentWorld(folder, work_seconds=0.2, pages=20, days=2)

    async def begin(self, story: Story) -> None:
        """People talk."""
        story.people.say(ANA, DOCS, _TALK)

    async def act(self, story: Story) -> Sequence[Json]:
        """Mention the bot."""
        return [story.reply(self._talk(story), f"@docs-agent {PROMPT}")]

    def is_over(self, story: Story) -> bool:
        """Return whether people have read an end, or that it is in doubt."""
        return any("is ready" in text or _DOUBT in text for text in self._said(story))

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """An event comes until it is acknowledged, so none is lost."""
        return self.is_over(story) and not story.world.workspace.bot_connection.has_pending_events()

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """At most one job; one face in the thread, one end or one doubt, and nothing elsewhere."""
        asked, said = await requests(story.world), self._said(story)
        told = f"{dict(asked)} {said}"
        assert asked["create"] <= 1, told
        assert sum("· Job " in text.partition("\n")[0] for text in said) == 1, told
        assert sum("is ready" in text or _DOUBT in text for text in said) == 1, told
        assert story.roots() == [], told

    def _talk(self, story: Story) -> Json:
        return next(each for each in story.state.messages[DOCS].values() if each["text"] == _TALK)

    def _said(self, story: Story) -> list[str]:
        return [each["text"] for each in story.said(self._talk(story))]


@pytest.mark.timeout(3_000)
async def test_a_kill_anywhere_loses_no_mention_and_answers_it_once(
    zygote: Zygote, tmp_path: Path, of_each_kind: int | None
) -> None:
    await kill_everywhere(Mentioned(), zygote, tmp_path, of_each_kind=of_each_kind)
