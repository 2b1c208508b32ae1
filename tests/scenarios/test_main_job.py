"""The main job as people see it; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import aiohttp
import pytest

from tests.scenarios.kills import requests
from tests.scenarios.story import ANA, ANAS_DM, BEN, DOCS, PRODUCT, SECRET, Json, Story

PROMPT = "Add a quickstart for the Python SDK"


pytestmark = pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])


def pull_request_url(message: Json) -> str:
    buttons = [button for block in message["blocks"] for button in block.get("elements", [])]
    return next(str(button["url"]) for button in buttons if "url" in button)


async def test_job_ends_and_takes_follow_up(story: Story) -> None:
    root = await story.finished(PROMPT)
    [end] = await story.replies(root, 1)
    assert f"<@{ANA}>" in end["text"]
    assert "Pull request ready" in root["text"]
    async with aiohttp.ClientSession() as session, session.get(pull_request_url(end)) as page:
        assert "python-quickstart.md" in await page.text()
    follow_up = story.reply(root, "Mention Python 3.11 too", user=BEN)
    [_, second] = await story.replies(root, 2)
    assert f"<@{BEN}>" in second["text"]
    assert [reaction["name"] for reaction in follow_up["reactions"]] == ["eyes"]
    assert len(story.roots()) == 1


async def test_command_without_text_opens_form(story: Story) -> None:
    await story.command("/docs-agent")
    assert "errors" in await story.send_form(prompt="  \u200b ")
    assert (await story.send_form(prompt=PROMPT))["ok"]
    await story.until(lambda: story.roots() or None, "a root message")
    assert story.view() is None


async def test_mention_and_direct_message_start_jobs(story: Story) -> None:
    asked = story.people.say(ANA, DOCS, f"@docs-agent {PROMPT}")
    story.people.say(ANA, ANAS_DM, "Explain rate limits better")
    await story.replies(asked, 2)  # the status message and the end
    await story.until(lambda: story.roots(ANAS_DM) or None, "a root in the conversation")
    assert story.roots() == []


async def test_mention_in_thread_of_people_is_answered_there(story: Story) -> None:
    talk = story.people.say(ANA, DOCS, "The quickstart lacks Python")
    story.reply(talk, "True", BEN)
    story.reply(talk, f"@docs-agent {PROMPT}")
    [status, end] = await story.replies(talk, 2)
    await story.until(
        lambda: "Pull request ready" in status["text"] or None, "the end in the status message"
    )
    assert f"<@{ANA}>" in end["text"]
    thanked = story.reply(talk, "@docs-agent thanks!", BEN)
    story.reply(talk, "Let us review it tomorrow", BEN)
    story.reply(talk, "@docs-agent jobs", BEN)
    note = await story.answer("Job 1", BEN)
    assert note["thread_ts"] == talk["ts"]
    await story.until(lambda: thanked["reactions"] or None, "a reaction")
    story.reply(talk, "@docs-agent Mention Python 3.11 too", BEN)
    await story.replies(talk, 3)
    assert (await requests(story.world))["create"] == 1
    assert story.roots() == []


async def test_bot_joins_public_channel_and_needs_invitation_to_private_one(story: Story) -> None:
    first = await story.asked(PROMPT, channel=PRODUCT)
    await story.command("/docs-agent", PROMPT, channel=SECRET)
    await story.until(lambda: story.private() or None, "a private note")
    assert "/invite @docs-agent" in story.private()[-1]["text"]
    story.people.invite(ANA, SECRET, "@docs-agent")
    second = await story.asked(PROMPT, channel=SECRET)
    for root in (first, second):
        await story.replies(root, 1)
    assert (await requests(story.world))["create"] == 2


def mrkdwn_of(value: object) -> list[str]:
    """Return every text in which Slack reads entities."""
    if isinstance(value, list):
        return [text for item in value for text in mrkdwn_of(item)]
    if not isinstance(value, dict):
        return []
    own = [value["text"]] if value.get("type") == "mrkdwn" else []
    return own + mrkdwn_of(list(value.values()))


async def test_text_of_people_notifies_nobody(story: Story) -> None:
    root = await story.asked(
        "Add a page that tells @ben and @channel about <!channel> & <https://evil.example|good>"
    )
    mrkdwn = [root["text"], *mrkdwn_of(root["blocks"])]
    assert not any("<!channel>" in text or "<@U02BEN" in text for text in mrkdwn)
    assert "&lt;!channel&gt;" in root["text"]


async def test_shortcut_on_message_starts_job_in_its_thread(story: Story) -> None:
    message = story.people.say(BEN, DOCS, "The webhook page is out of date")
    await story.people.shortcut(ANA, "ask_about", DOCS, message["ts"])
    view = await story.until(lambda: story.view(), "a dialogue")
    assert "The webhook page is out of date" in str(view["blocks"])
    assert (await story.send_form(prompt="Bring the webhook page up to date"))["ok"]
    [status, *_] = await story.until(lambda: story.replies_in(message) or None, "a status message")
    assert "Bring the webhook page up to date" in status["text"]
