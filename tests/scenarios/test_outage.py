"""Messages during an outage, after Slack's last try, are handled after the restart."""

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


def add_without_event(story: Story, channel: str, text: str, thread_ts: str | None = None) -> Json:
    """Add a message without an event for the bot."""
    fields: dict[str, Any] = {"user": ANA, "text": text, "thread_ts": thread_ts}
    return story.state.add_message(channel, **fields)


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_dropped_events_are_handled_once(world: World) -> None:
    story, settings = Story(world), world.settings.model_copy(update=FAST)
    async with running_bot(settings, timeouts=STEADY):
        root = await story.finished(PROMPT)
        story.people.say(ANA, ANAS_DM, "help")
        await story.until(lambda: story.roots(ANAS_DM) or None, "the greeting")
    reply = add_without_event(story, root["channel"], "Mention retries", root["ts"])
    add_without_event(story, root["channel"], "aside: I wonder when it is back", root["ts"])
    direct = add_without_event(story, ANAS_DM, "Add a page about webhooks")
    async with running_bot(settings, timeouts=STEADY):
        await story.replies(root, 2)
        own = await story.until(lambda: next(iter(story.roots(ANAS_DM)[1:]), None), "a job")
        await story.replies(own, 1)
        for late in (reply, direct):
            story.people.send_message_event(late)
        await story.until(
            lambda: {reply["ts"], direct["ts"]} <= acknowledged(world) or None, "both"
        )
    before = len(history_calls(world))
    async with running_bot(settings, timeouts=STEADY):
        await story.until(lambda: len(history_calls(world)) > before or None, "another reading")
        await asyncio.sleep(0.3)
    assert [len(story.replies_in(root)), len(story.roots(ANAS_DM)), len(story.replies_in(own))] == [
        2,
        2,
        1,
    ]
    assert [reaction["name"] for reaction in reply["reactions"]] == ["eyes"]


async def test_reply_on_silent_connection_arrives_over_another(world: World) -> None:
    """Nobody closes such a connection: the bot only misses the answers to its pings."""
    story, settings = Story(world), world.settings.model_copy(update=FAST)
    line = world.workspace.bot_connection
    async with running_bot(settings, timeouts=replace(STEADY, deaf_seconds=6.0)):
        root = await story.finished(PROMPT)
        # Slack repeats an event only twice; a slow machine needs more.
        line.options = replace(line.options, ack_seconds=1.0, redeliver_after_seconds=(1.0,) * 30)
        line.sockets.silence()
        story.reply(root, "Mention retries")
        await story.replies(root, 2)


def acknowledged(world: World) -> set[str | None]:
    """Return the timestamps of the messages with acknowledged events."""
    return {call.get("ts") for call in world.workspace.log if call.get("acked")}


def history_calls(world: World) -> list[Json]:
    return [call for call in world.workspace.log if call.get("method") == "conversations.history"]
