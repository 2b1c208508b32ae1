"""Prompts that wait, as people see them: edited and deleted messages, and lists of jobs, page by page.

The same in Socket Mode and over HTTP.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.app import running_bot
from bot.settings import Settings
from sandbox.world import World, WorldOptions, both_sides
from tests.limits import HANG_SECONDS
from tests.scenarios.conftest import FAST
from tests.scenarios.story import ANA, BEN, DOCS, PRODUCT, Json, Story
from tests.scenarios.test_main_job import requests
from tests.scenarios.timeouts import STEADY

PROMPT = "Describe every error code"


@pytest.fixture(params=["socket", "http"])
def http_mode(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "http")


@pytest.fixture
async def story(tmp_path: Path, http_mode: bool) -> AsyncIterator[Story]:
    """A bot whose only use of the hour is spent on a job that does not end, so that what follows waits."""
    options = WorldOptions(
        tmp_path,
        http_mode=http_mode,
        work_seconds=3_600,
        answer_seconds=HANG_SECONDS,
        uses_an_hour=1,
        log_level="ERROR",
        pages=20,
        days=2,
    )
    async with both_sides(options) as world, running_bot(_settings(world), timeouts=STEADY):
        story = Story(world)
        root = await story.asked("Add a quickstart for the Python SDK", user=BEN)
        await story.until(lambda: "Working on it" in root["text"] or None, "the first job at work")
        yield story


def _settings(world: World) -> Settings:
    return world.settings.model_copy(update=FAST)


async def waiting(story: Story, words: str) -> tuple[Json, Json]:
    """Mention the bot with these words. Return the message and the face, once it says that the job waits."""
    asked = story.people.say(ANA, DOCS, f"@docs-agent {words}")
    face = await story.until(lambda: next(iter(story.said(asked)), None), "the face")
    await story.until(lambda: "It waits for the shared hourly limit" in face["text"] or None, "the queue")
    return asked, face


async def test_an_edit_changes_a_prompt_that_waits_and_a_deletion_withdraws_it(story: Story) -> None:
    asked, face = await waiting(story, PROMPT)
    story.people.edit(ANA, DOCS, asked["ts"], "@docs-agent Describe the rate limits")
    await story.until(lambda: "Describe the rate limits" in face["text"] or None, "the new text in the face")
    assert PROMPT not in face["text"]
    story.people.delete(ANA, DOCS, asked["ts"])
    await story.until(lambda: "Withdrawn" in face["text"] or None, "the end of the job")
    await story.command("/docs-agent", "limits")
    assert "Nothing waits" in (await story.answer("uses left"))["text"]
    assert [each["operation"] for each in await requests(story)].count("create") == 1


async def test_lists_show_ones_own_open_or_another_channels_jobs_page_by_page(story: Story) -> None:
    for number in range(10):
        assert (await story.command("/docs-agent", f"Describe error {number}"))["ok"]
    await story.asked("Explain rate limits", PRODUCT, BEN)
    await story.command("/docs-agent", "jobs")
    listed = await story.answer("Jobs here, page 1:")
    assert all(f"Describe error {number}" in listed["text"] for number in range(10))
    assert "quickstart" not in listed["text"]
    await story.press(listed, "jobs_older")
    second = await story.answer("Jobs here, page 2:")
    assert "quickstart" in second["text"]
    await story.command("/docs-agent", "jobs mine open")
    mine = await story.answer("The last 10 open jobs of yours:")
    assert "quickstart" not in mine["text"]
    await story.command("/docs-agent", "jobs #product-docs")
    there = await story.answer(f"The only job in <#{PRODUCT}>:")
    assert "Explain rate limits" in there["text"]
