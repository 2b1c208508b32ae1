"""The main job as people see it; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import aiohttp
import pytest

from tests.scenarios.story import ANA, ANAS_DM, BEN, DOCS, PRODUCT, SECRET, Story

PROMPT = "Add a quickstart for the Python SDK"


@pytest.fixture(params=["socket", "http"])
def http_mode(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "http")


@pytest.mark.parametrize(
    ("prompt", "word"),
    [
        ("Nothing to change, please", "nothing changed"),
        ("Fail on purpose", "Failed"),
        ("Archive this", "Archived"),
    ],
)
async def test_every_other_end_is_told_with_what_to_do_next(story: Story, prompt: str, word: str) -> None:
    root = await story.finished(prompt)
    [end] = await story.replies(root, 1)
    assert word in root["text"]
    assert end["text"].count(f"<@{ANA}>") == 1


async def test_private_questions_are_answered_privately(story: Story) -> None:
    await story.finished(PROMPT)
    for text in ("help", "jobs", "status 1", "status 77"):
        assert (await story.command("/docs-agent", text))["ok"]
    await story.answer("“77”")
    words = [note["text"] for note in story.private()]
    assert len(words) == 4
    assert "/docs-followup" in words[0]
    assert "Job 1" in words[1]
    assert "Job 1" in words[2]
    assert "77" in words[3]
    assert len(story.roots()) == 1


async def test_without_text_a_form_opens_and_starts_the_job(story: Story) -> None:
    await story.command("/docs-agent")
    assert "errors" in await story.send_form(prompt="  \u200b ")
    assert (await story.send_form(prompt=PROMPT))["ok"]
    await story.until(lambda: story.roots() or None, "a root message")
    assert story.view() is None


async def test_a_follow_up_by_command_names_its_job_or_takes_the_latest(story: Story) -> None:
    root = await story.finished(PROMPT)
    await story.command("/docs-followup", "1 Make it shorter")
    await story.replies(root, 3)  # the quoted follow-up and its end
    await story.command("/docs-followup", "Mention the changelog")
    said = await story.replies(root, 5)
    assert "Make it shorter" in said[1]["text"]
    assert "Job 1" in story.private()[-1]["text"]


async def test_a_follow_up_by_button_goes_through_its_form(story: Story) -> None:
    root = await story.finished(PROMPT)
    await story.press(story.said(root)[0], "follow_up", user=BEN)
    assert (await story.send_form(user=BEN, prompt="Add an example"))["ok"]
    said = await story.replies(root, 3)
    assert f"<@{BEN}>" in said[-1]["text"]


async def test_run_again_opens_the_prompt_and_the_old_thread_links_to_the_new_job(story: Story) -> None:
    root = await story.finished(PROMPT)
    await story.press(story.said(root)[0], "job_menu", user=BEN)
    assert PROMPT in str((await story.until(lambda: story.view(BEN), "a dialogue"))["blocks"])
    assert (await story.send_form(user=BEN, prompt=f"{PROMPT}, shorter"))["ok"]
    [_, linked] = await story.replies(root, 2)
    assert f"/archives/{DOCS}/p" in linked["text"]
    assert len(story.roots()) == 2


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


async def test_talk_among_people_is_left_alone(story: Story) -> None:
    root = await story.finished(PROMPT)
    said = [story.reply(root, text) for text in ("aside, nice", "! later", "@ben what do you think?")]
    kept = story.reply(root, "Mention retries")
    await story.replies(root, 2)
    assert kept["reactions"]
    assert not any(one["reactions"] for one in said)


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


async def test_a_shortcut_on_a_message_starts_from_its_text(story: Story) -> None:
    message = story.people.say(BEN, DOCS, "The webhook page is out of date")
    await story.people.shortcut(ANA, "ask_about", DOCS, message["ts"])
    view = await story.until(lambda: story.view(), "a dialogue")
    assert "The webhook page is out of date" in str(view["blocks"])
