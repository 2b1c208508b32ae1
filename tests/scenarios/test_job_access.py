"""A job is as private as its channel, as people see it; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import Channel
from tests.scenarios.story import ANA, ANAS_DM, BEN, DOCS, Json, Story

CHIKA = "U03CHIKA"
PROMPT = "Add a quickstart for the Python SDK"


pytestmark = pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])


def private_channel(story: Story) -> str:
    """Add a channel of Ana, Chika and the bot."""
    channel = "C0HUSH"
    story.state.channels[channel] = Channel(channel, "hush", [ANA], is_private=True)
    for invited in ("@chika", "@docs-agent"):
        story.people.invite(ANA, channel, invited)
    return channel


async def answer_to(story: Story, command: str, text: str, user: str) -> str:
    """Return the single private answer to a command."""
    before = len(story.private(user))
    assert (await story.command(command, text, user=user))["ok"]
    await story.until(lambda: len(story.private(user)) > before or None, "an answer")
    [note] = story.private(user)[before:]
    return str(note["text"])


async def ended(story: Story, channel: str) -> Json:
    """Return the root of an ended job of Ana's."""
    root = await story.asked(PROMPT, channel)
    await story.replies(root, 1)
    return root


@pytest.mark.parametrize("where", ["a private channel", "a direct message"])
async def test_outsider_learns_and_changes_nothing(story: Story, where: str) -> None:
    root = await ended(story, ANAS_DM if where == "a direct message" else private_channel(story))
    for command, text in (
        ("/docs-agent", "status {}"),
        ("/docs-followup", "{}"),
        ("/docs-followup", "{} Delete everything"),
    ):
        hidden = await answer_to(story, command, text.format(1), BEN)
        unknown = await answer_to(story, command, text.format(9), BEN)
        assert hidden == unknown.replace("Job 9", "Job 1")
        assert "There's no Job 1 that you can see" in hidden
    assert story.view(BEN) is None
    await story.replies(root, 1)
    assert story.roots(DOCS) == []


async def test_member_of_private_channel_steers_from_elsewhere(story: Story) -> None:
    root = await ended(story, private_channel(story))
    assert PROMPT in await answer_to(story, "/docs-agent", "status 1", CHIKA)
    assert "Sent to Job 1" in await answer_to(
        story, "/docs-followup", "1 Mention Python 3.11 too", CHIKA
    )
    await story.replies(root, 3)
    await story.command("/docs-followup", "1", user=CHIKA)
    assert (await story.send_form(CHIKA, prompt="Add an example"))["ok"]
    [*_, end] = await story.replies(root, 5)
    assert f"<@{CHIKA}>" in end["text"]
