"""The shared limit as people see it: they wait, see until when, and may take back what they asked."""

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


def waits_until(root: Json) -> str:
    """When the job goes out that waits for the limit, as its root message says; empty if it says nothing."""
    words = "It waits for the shared hourly limit. It goes out at about "
    return str(root["text"]).partition(words)[2].partition(">")[0]


async def test_who_waits_sees_it_and_only_they_take_it_back(world: World) -> None:
    async with running_bot(world.settings.model_copy(update=FAST), timeouts=STEADY):
        story = Story(world)
        await story.finished("Add a quickstart for the Python SDK")
        second = await story.asked("Describe every error code")
        third = await story.asked("Explain rate limits", user=BEN)
        await story.until(lambda: "" < waits_until(third) < waits_until(second) or None, "a fair order")
        soonest = waits_until(third)
        await story.command("/docs-agent", "limits")
        assert "2 prompts wait" in (await story.answer("0 of 1 uses left"))["text"]
        await story.press(third, "withdraw", user=ANA)
        await story.answer(f"Only <@{BEN}> or an admin")
        await story.press(third, "withdraw", user=BEN)
        await story.until(lambda: "Withdrawn" in third["text"] or None, "the end of the third")
        await story.until(lambda: waits_until(second) == soonest or None, "the second in its place")


async def test_the_services_word_counts_more_than_our_own_count(world: World) -> None:
    settings = world.settings.model_copy(update={**FAST, "uses_an_hour": 100})
    async with running_bot(settings, timeouts=STEADY):
        story = Story(world)
        await story.finished("Add a quickstart for the Python SDK")
        second = await story.asked("Describe every error code")
        await story.until(lambda: waits_until(second) or None, "the wait of the second")
        await story.command("/docs-agent", "limits", user=BEN)
        await story.answer("0 of 100 uses left", BEN)
