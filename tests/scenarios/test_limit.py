"""The shared limit as people see it: they wait in a place of the queue, and may take back what they asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.app import running_bot
from sandbox.world import World, WorldOptions, both_sides
from tests.limits import HANG_SECONDS
from tests.scenarios.conftest import FAST
from tests.scenarios.story import ANA, BEN, Json, Story
from tests.scenarios.timeouts import STEADY


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    options = WorldOptions(
        tmp_path, work_seconds=0.3, answer_seconds=HANG_SECONDS, uses_an_hour=1, pages=20, days=2
    )
    async with both_sides(options) as world:
        yield world


async def waits(story: Story, root: Json, place: int) -> None:
    """The root message says in which place its job waits."""
    words = f"It waits for the shared hourly limit: place {place}, goes out at about"
    await story.until(lambda: (words in root["text"]) or None, f"place {place}")


async def test_who_waits_sees_it_and_only_they_take_it_back(world: World) -> None:
    async with running_bot(world.settings.model_copy(update=FAST), timeouts=STEADY):
        story = Story(world)
        await story.finished("Add a quickstart for the Python SDK")
        second = await story.asked("Describe every error code")
        third = await story.asked("Explain rate limits", user=BEN)
        await waits(story, third, 1)
        await waits(story, second, 2)
        await story.command("/docs-agent", "limits")
        assert "2 prompts wait" in (await story.answer("0 of 1 uses left"))["text"]
        await story.press(third, "withdraw", user=ANA)
        await story.answer(f"Only <@{BEN}> or an admin")
        await story.press(third, "withdraw", user=BEN)
        await story.until(lambda: "Withdrawn" in third["text"] or None, "the end of the third")
        await waits(story, second, 1)


async def test_the_services_word_counts_more_than_our_own_count(world: World) -> None:
    settings = world.settings.model_copy(update={**FAST, "uses_an_hour": 100})
    async with running_bot(settings, timeouts=STEADY):
        story = Story(world)
        await story.finished("Add a quickstart for the Python SDK")
        second = await story.asked("Describe every error code")
        await waits(story, second, 1)
        await story.command("/docs-agent", "limits", user=BEN)
        await story.answer("0 of 100 uses left", BEN)
