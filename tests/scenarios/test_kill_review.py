"""SIGKILL at every place of what follows a pull request, and a start after it: each is told once.

These are the one reminder, the button that says what became of it, and the page's visitors before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from bot.store import Store
from bot.store.schema import jobs
from sandbox.world import World, WorldOptions
from tests.bots import Zygote
from tests.builders import execute
from tests.scenarios.clocks import working_day_ahead
from tests.scenarios.kills import kill_everywhere
from tests.scenarios.story import BEN, Json, Story
from tests.scenarios.test_kill import PROMPT

_LATER = 5
"""Days after which the tale is told. A reminder comes after three."""
_REMINDED, _COMPARED = "waits for review", "four weeks before and after"


class Reviewed:
    """A reminder and a page's visitors come due, and somebody says that the pull request was reviewed."""

    watched: Sequence[str] = ("jobs/remind", "jobs/decisions", "visitors/page_change")

    def options(self, folder: Path) -> WorldOptions:
        """Return a world with an agent that works fast, and a small site."""
        return WorldOptions(folder, work_seconds=0.2, pages=5, days=70)

    async def begin(self, story: Story) -> None:
        """One job is done, and one that began at a page was reviewed weeks ago. Its numbers are read."""
        await story.finished(PROMPT)
        reviewed_at = datetime.now(UTC) - timedelta(days=35)
        await story.command("/docs-visitors", _four_weeks_each_side(reviewed_at.date()))
        await story.press(await story.answer("Who read the docs"), "improve")
        assert (await story.send_form(prompt="Improve this page"))["ok"]
        page = await story.post("Improve this page")
        [end_of_page] = await story.replies(page, 1)
        await story.press(end_of_page, "reviewed")
        await story.until(lambda: "Reviewed or merged" in page["text"] or None, "the review")
        await _reviewed(story.world, reviewed_at)

    async def act(self, story: Story) -> Sequence[Json]:
        """Say what became of the pull request, once its thread was reminded."""
        await story.until(lambda: said(story, _REMINDED) or None, "the reminder")
        root = self._face(story)
        end = next(one for one in story.said(root) if "is done" in one["text"])
        return [await story.press(end, "reviewed", BEN)]

    def is_over(self, story: Story) -> bool:
        """Return whether all of it has been told."""
        return bool(said(story, _REMINDED) and said(story, _COMPARED)) and self._is_reviewed(story)

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether all that came due has been told, and the review if it was acknowledged."""
        told = bool(said(story, _REMINDED) and said(story, _COMPARED))
        return told and (self._is_reviewed(story) or not answers[0]["ok"])

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """One reminder and one comparison."""
        told = [one["text"] for root in story.roots() for one in story.said(root)]
        assert len(said(story, _REMINDED)) == 1, told
        assert len(said(story, _COMPARED)) == 1, told
        assert self._is_reviewed(story) or not answers[0]["ok"], told

    def _face(self, story: Story) -> Json:
        return next(root for root in story.roots() if PROMPT in root["text"])

    def _is_reviewed(self, story: Story) -> bool:
        return f"Reviewed or merged*: <@{BEN}>" in self._face(story)["text"]


def said(story: Story, words: str) -> list[str]:
    """The bot's replies that contain these words."""
    replies = (one["text"] for root in story.roots() for one in story.said(root))
    return [text for text in replies if words in text]


def _four_weeks_each_side(day: date) -> str:
    """Return a question about the four weeks after a day, compared with those before it."""
    days = [day + timedelta(days=each) for each in (1, 28, -28, -1)]
    return "{}..{} compare {}..{}".format(*days)


async def _reviewed(world: World, at: datetime) -> None:
    """Let the review have been then, so that the page's visitors are compared when the tale is told."""
    store = Store.open(world.settings.sqlalchemy_url)
    due = {"reviewed_at": at, "compare_at": datetime.now(UTC) + timedelta(days=1)}
    await execute(store, update(jobs).where(jobs.c.compare_at.is_not(None)).values(due))
    await store.close()


@pytest.mark.timeout(3_000)
async def test_a_kill_anywhere_repeats_no_reminder_and_loses_no_review(
    zygote: Zygote, tmp_path: Path, of_each_kind: int | None
) -> None:
    ahead = working_day_ahead(_LATER)
    await kill_everywhere(Reviewed(), zygote, tmp_path, of_each_kind=of_each_kind, ahead=ahead)
