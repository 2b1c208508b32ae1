"""What people say while the bot is down, and Slack's last try is over, is heard when the bot is back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.app import running_bot
from sandbox.world import World
from tests.scenarios.conftest import FAST
from tests.scenarios.story import ANA, ANAS_DM, Json, Story
from tests.scenarios.timeouts import STEADY

PROMPT = "Add a quickstart for the Python SDK"


def unheard(story: Story, channel: str, text: str, thread_ts: str | None = None) -> Json:
    """Say something of which the bot gets no event."""
    said: dict[str, Any] = {"user": ANA, "text": text, "thread_ts": thread_ts}
    return story.state.add_message(channel, **said)


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_what_slack_gave_up_on_is_taken_once_also_when_it_comes_after_all(world: World) -> None:
    story, settings = Story(world), world.settings.model_copy(update=FAST)
    async with running_bot(settings, timeouts=STEADY):
        root = await story.finished(PROMPT)
        story.people.say(ANA, ANAS_DM, "help")
        await story.until(lambda: story.roots(ANAS_DM) or None, "the greeting")
    reply = unheard(story, root["channel"], "Mention retries", root["ts"])
    unheard(story, root["channel"], "aside: I wonder when it is back", root["ts"])
    direct = unheard(story, ANAS_DM, "Add a page about webhooks")
    async with running_bot(settings, timeouts=STEADY):
        await story.replies(root, 2)
        own = await story.until(lambda: next(iter(story.roots(ANAS_DM)[1:]), None), "a job")
        await story.replies(own, 1)
        for late in (reply, direct):
            story.people.send_message_event(late)
        await story.until(lambda: {reply["ts"], direct["ts"]} <= acknowledged(world) or None, "both")
    before = len(reads(world))
    async with running_bot(settings, timeouts=STEADY):
        await story.until(lambda: len(reads(world)) > before or None, "another reading")
        await asyncio.sleep(0.3)
    assert (len(story.said(root)), len(story.roots(ANAS_DM)), len(story.said(own))) == (2, 2, 1)
    assert [each["name"] for each in reply["reactions"]] == ["eyes"]


async def test_what_is_said_over_a_silent_connection_is_heard_over_another(world: World) -> None:
    """Nothing closes such a connection: only pings that stay unanswered tell the bot."""
    story, settings = Story(world), world.settings.model_copy(update=FAST)
    line = world.workspace.bot_connection
    async with running_bot(settings, timeouts=replace(STEADY, deaf_seconds=6.0)):
        root = await story.finished(PROMPT)
        # More patient than Slack, which sends the event again twice, so that a slow machine is in time too.
        line.options = replace(line.options, ack_seconds=1.0, redeliver_after_seconds=(1.0,) * 30)
        line.sockets.silence()
        story.reply(root, "Mention retries")
        await story.replies(root, 2)


def acknowledged(world: World) -> set[str | None]:
    """Return the timestamps of the messages of which the bot has acknowledged an event."""
    return {each.get("ts") for each in world.workspace.log if each.get("acked")}


def reads(world: World) -> list[Json]:
    """Return the calls that read direct messages again."""
    return [e for e in world.workspace.log if e.get("method") == "conversations.history"]
