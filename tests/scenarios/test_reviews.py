"""What became of a pull request: its buttons and the one reminder; the same in Socket Mode and over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import pytest

from bot.app import running_bot
from sandbox.world import World
from tests.scenarios.clocks import working_day_ahead
from tests.scenarios.conftest import FAST
from tests.scenarios.story import BEN, DOCS, Json, Story
from tests.scenarios.timeouts import STEADY

PROMPT = "Add a quickstart for the Python SDK"


@pytest.fixture(params=["socket", "http"])
def http_mode(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "http")


def buttons(message: Json) -> list[str]:
    """Return the actions that a message offers."""
    return [each.get("action_id", "") for block in message["blocks"] for each in block.get("elements", [])]


async def test_who_reviewed_is_shown_in_the_face_and_the_buttons_go(story: Story) -> None:
    root = await story.finished(PROMPT)
    [end] = await story.replies(root, 1)
    assert {"reviewed", "not_needed"} <= set(buttons(end))
    await story.press(end, "reviewed", user=BEN)
    await story.until(lambda: f"*Reviewed or merged*: <@{BEN}>" in root["text"] or None, "it in the face")
    await story.until(partial(_is_decided, end), "the end without the buttons")
    assert {"view_pull_request", "follow_up"} <= set(buttons(end))


async def test_a_thread_is_reminded_once_and_the_reminder_takes_the_answer(world: World) -> None:
    """The face is drawn by another process than the one that took the thread's earlier messages along."""
    story = Story(world)
    talk = story.people.say(BEN, DOCS, "The quickstart forgets pip")
    async with running_bot(world.settings.model_copy(update=FAST), timeouts=STEADY):
        story.reply(talk, f"@docs-agent {PROMPT}")
        [face, end] = await story.replies(talk, 2)
    world.clock.set(datetime.now(UTC) + working_day_ahead(5))
    for _ in range(2):
        async with running_bot(world.settings, timeouts=STEADY, clock=world.clock):
            [*_, reminder] = await story.replies(talk, 3)
    assert "The pull request of Job 1 waits for review since" in reminder["text"]
    async with running_bot(world.settings, timeouts=STEADY, clock=world.clock):
        await story.press(reminder, "not_needed", user=BEN)
        await story.until(lambda: f"*Not needed*: <@{BEN}>" in face["text"] or None, "it in the face")
        for message in (end, reminder):
            await story.until(partial(_is_decided, message), "a message without the buttons")
    assert "with 1 earlier message" in face["text"]


def _is_decided(message: Json) -> bool | None:
    return "not_needed" not in buttons(message) or None
