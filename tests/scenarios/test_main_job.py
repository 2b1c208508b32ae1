"""The main job as people see it; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import aiohttp
import pytest

from tests.scenarios.story import ANA, ANAS_DM, BEN, DOCS, PRODUCT, SECRET, Story

PROMPT = "Add a quickstart for the Python SDK"


@pytest.fixture(params=["socket", "http"])
def http_mode(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "http")


async def test_without_text_a_form_opens_and_starts_the_job(story: Story) -> None:
    await story.command("/docs-agent")
    assert "errors" in await story.send_form(prompt="  \u200b ")
    assert (await story.send_form(prompt=PROMPT))["ok"]
    await story.until(lambda: story.roots() or None, "a root message")
    assert story.view() is None


async def test_a_mention_and_a_direct_message_ask_too(story: Story) -> None:
    asked = story.people.say(ANA, DOCS, f"@docs-agent {PROMPT}")
    story.people.say(ANA, ANAS_DM, "Explain rate limits better")
    await story.replies(asked, 2)  # the face and the end
    await story.until(lambda: story.roots(ANAS_DM) or None, "a root in the conversation")
    assert story.roots() == []


async def test_a_mention_in_a_thread_of_people_is_answered_there(story: Story) -> None:
    talk = story.people.say(ANA, DOCS, "The quickstart lacks Python")
    story.reply(talk, "True", BEN)
    story.reply(talk, f"@docs-agent {PROMPT}")
    [face, end] = await story.replies(talk, 2)
    await story.until(lambda: "Pull request ready" in face["text"] or None, "the state in the face")
    assert f"<@{ANA}>" in end["text"]
    thanked = story.reply(talk, "@docs-agent thanks!", BEN)
    story.reply(talk, "Let us review it tomorrow", BEN)
    story.reply(talk, "@docs-agent jobs", BEN)
    note = await story.answer("Job 1", BEN)
    assert note["thread_ts"] == talk["ts"]
    await story.until(lambda: thanked["reactions"] or None, "a reaction")
    story.reply(talk, "@docs-agent Mention Python 3.11 too", BEN)
    await story.replies(talk, 3)
    prompts = [one["operation"] for one in await requests(story) if one["operation"] != "get"]
    assert prompts.count("create") == 1
    assert story.roots() == []


async def test_a_public_channel_is_joined_and_a_private_one_needs_an_invitation(story: Story) -> None:
    first = await story.asked(PROMPT, channel=PRODUCT)
    await story.command("/docs-agent", PROMPT, channel=SECRET)
    await story.until(lambda: story.private() or None, "a private word")
    assert "/invite @docs-agent" in story.private()[-1]["text"]
    story.people.invite(ANA, SECRET, "@docs-agent")
    second = await story.asked(PROMPT, channel=SECRET)
    for root in (first, second):
        await story.replies(root, 1)
    created = [one for one in await requests(story) if one["operation"] == "create"]
    assert len(created) == 2


async def requests(story: Story) -> list[dict[str, str]]:
    """What the docs service was asked."""
    url = f"{story.world.docs_service_url}/sandbox/log"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        log: list[dict[str, str]] = await answer.json()
        return log


def mrkdwn_of(value: object) -> list[str]:
    """Every text in which Slack would read entities."""
    if isinstance(value, list):
        return [text for each in value for text in mrkdwn_of(each)]
    if not isinstance(value, dict):
        return []
    own = [value["text"]] if value.get("type") == "mrkdwn" else []
    return own + [text for each in value.values() for text in mrkdwn_of(each)]


async def test_what_people_write_pings_nobody(story: Story) -> None:
    root = await story.asked("Tell @ben and @channel about <!channel> & <https://evil.example|good>")
    mrkdwn = [root["text"], *mrkdwn_of(root["blocks"])]
    assert not any("<!channel>" in text or "<@U02BEN" in text for text in mrkdwn)
    assert "&lt;!channel&gt;" in root["text"]


async def test_a_shortcut_on_a_message_starts_from_its_text_in_its_thread(story: Story) -> None:
    message = story.people.say(BEN, DOCS, "The webhook page is out of date")
    await story.people.shortcut(ANA, "ask_about", DOCS, message["ts"])
    view = await story.until(lambda: story.view(), "a dialogue")
    assert "The webhook page is out of date" in str(view["blocks"])
    assert (await story.send_form(prompt="Bring the webhook page up to date"))["ok"]
    [face, *_] = await story.until(lambda: story.said(message) or None, "a face in the message's thread")
    assert "Bring the webhook page up to date" in face["text"]
