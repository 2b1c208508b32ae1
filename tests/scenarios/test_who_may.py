"""Authorization as people see it: guests, lists and groups."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.app import running_bot
from sandbox.world import World
from tests.scenarios.conftest import FAST
from tests.scenarios.story import ANA, BEN, Story
from tests.scenarios.timeouts import STEADY

GUS, CHIKA = "U04GUS", "U03CHIKA"
PROMPT = "Add a quickstart for the Python SDK"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("/docs-agent", ""),
        ("/docs-agent", PROMPT),
        ("/docs-agent", "help"),
        ("/docs-agent", "jobs"),
        ("/docs-followup", ""),
        ("/docs-visitors", "last week"),
        ("/docs-visitors", "subscribe monday 09:00"),
        ("/docs-visitors", "digest now"),
    ],
)
async def test_guest_gets_only_refusal(story: Story, command: str, text: str) -> None:
    await story.command(command, text, user=GUS)
    await story.answer("Guests can't use this bot", GUS)
    await asyncio.sleep(0.3)
    [note] = story.private(GUS)
    assert "Guests can't use this bot" in note["text"]
    assert story.view(GUS) is None
    assert story.roots() == []


async def test_reply_and_button_of_guest_change_nothing(story: Story) -> None:
    root = await story.finished(f"{PROMPT} and fail on purpose")
    [end] = await story.replies(root, 1)
    await story.press(end, "run_again", user=GUS)
    await story.answer("Guests can't use this bot", GUS)
    story.reply(root, "Delete everything", user=GUS)
    await asyncio.sleep(0.3)
    assert len(story.private(GUS)) == 2  # both with the same text
    await story.replies(root, 1)
    assert len(story.roots()) == 1


async def test_new_member_gets_answer_and_form(story: Story) -> None:
    await story.command("/docs-agent", "help", user=BEN)
    assert "/docs-agent jobs" in (await story.answer("/docs-agent", BEN))["text"]
    await story.command("/docs-agent", "", user=CHIKA)
    await story.until(lambda: story.view(CHIKA), "a form")


@pytest.mark.parametrize(
    ("lists", "may", "may_not"),
    [
        ({"allowed_user_groups": frozenset({"S01WRITERS"})}, [ANA, BEN], [CHIKA]),
        ({"allowed_users": frozenset({CHIKA})}, [CHIKA], [ANA, BEN]),
        ({"allowed_users": frozenset({CHIKA}), "admins": frozenset({ANA})}, [ANA, CHIKA], [BEN]),
        ({"allowed_user_groups": frozenset({"S0GONE"})}, [], [ANA]),
    ],
)
async def test_lists_and_groups_admit_their_members(
    world: World, lists: dict[str, Any], may: list[str], may_not: list[str]
) -> None:
    async with running_bot(world.settings.model_copy(update={**FAST, **lists}), timeouts=STEADY):
        story = Story(world)
        for user in may_not:
            await story.command("/docs-agent", f"{PROMPT} for {user}", user=user)
            await story.answer(":no_entry:", user)
        for user in may:
            await story.asked(f"{PROMPT} for {user}", user=user)
        assert len(story.roots()) == len(may)
