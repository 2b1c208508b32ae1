"""Who may use the bot, as people see it: the guest, a list, a group, a channel, and Slack's silence."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.app import running_bot
from sandbox.world import World
from tests.scenarios.conftest import FAST
from tests.scenarios.story import ANA, BEN, DOCS, PRODUCT, Story
from tests.scenarios.timeouts import STEADY

GUS, CHIKA = "U04GUS", "U03CHIKA"
PROMPT = "Add a quickstart for the Python SDK"


async def test_a_guest_is_told_privately_and_the_channel_sees_nothing(story: Story) -> None:
    answer = await story.command("/docs-agent", PROMPT, user=GUS)
    assert answer["ok"]
    note = await story.answer("Guests can't start jobs", GUS)
    assert "Ask a teammate to send this for you." in note["text"]
    assert story.roots() == []


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
async def test_a_guest_sees_nothing_by_any_command_and_is_told_so(
    story: Story, command: str, text: str
) -> None:
    await story.command(command, text, user=GUS)
    await story.answer("Guests can't start jobs", GUS)
    await asyncio.sleep(0.3)
    [note] = story.private(GUS)
    assert "Guests can't start jobs" in note["text"]
    assert story.view(GUS) is None
    assert story.roots() == []


@pytest.mark.parametrize("text", ["unsubscribe", "subscribe friday 10:00 UTC"])
async def test_a_guest_of_whom_nothing_is_known_yet_touches_no_subscription(story: Story, text: str) -> None:
    await story.command("/docs-visitors", "subscribe monday 09:00 UTC")
    await story.post("Monday")
    await story.command("/docs-visitors", text, user=GUS)
    await story.answer("Guests can't start jobs", GUS)
    await asyncio.sleep(0.3)
    await story.command("/docs-visitors", "subscriptions")
    assert "Monday" in (await story.answer("09:00"))["text"]
    assert len(story.private(GUS)) == 1


async def test_a_guests_reply_and_button_change_nothing(story: Story) -> None:
    root = await story.finished(PROMPT)
    [end] = await story.replies(root, 1)
    await story.press(end, "job_menu", user=GUS)
    await story.answer("Guests can't start jobs", GUS)
    story.reply(root, "Delete everything", user=GUS)
    await asyncio.sleep(0.3)
    assert len(story.private(GUS)) == 1
    await story.replies(root, 1)
    assert len(story.roots()) == 1


async def test_a_member_sees_answer_and_form_though_slack_had_to_be_asked_first(story: Story) -> None:
    await story.command("/docs-agent", "help", user=BEN)
    assert "/docs-followup" in (await story.answer("/docs-agent", BEN))["text"]
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
async def test_lists_and_groups_let_in_whom_they_name(
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


async def test_only_listed_channels_are_served(world: World) -> None:
    settings = world.settings.model_copy(update={**FAST, "allowed_channels": frozenset({DOCS})})
    async with running_bot(settings, timeouts=STEADY):
        story = Story(world)
        await story.command("/docs-agent", PROMPT, channel=PRODUCT)
        await story.answer("isn't set up for this channel")
        await story.asked(PROMPT)
        assert story.roots(PRODUCT) == []
