"""Jobs in the conversations of people, as they see them; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import pytest

from bot.app import running_bot
from sandbox.workspace.state import BOT_USER
from sandbox.world import World
from tests.scenarios.conftest import FAST
from tests.scenarios.story import ANA, BEN, DOCS, Json, Story
from tests.scenarios.timeouts import STEADY

TRIO, CHIKA, WORKFLOW = "C06TRIO", "U03CHIKA", "A0FLOW"
PROMPT = "Add a quickstart for the Python SDK"


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_a_job_of_a_group_direct_message_goes_whole_and_stays_private(story: Story) -> None:
    asked = story.people.say(ANA, TRIO, f"@docs-agent {PROMPT}")
    await story.replies(asked, 2)  # the face and the end
    story.reply(asked, "Mention Python 3.11 too", BEN)
    [_, _, end] = await story.replies(asked, 3)
    assert f"<@{BEN}>" in end["text"]
    assert story.roots(TRIO) == []
    await story.command("/docs-agent", "status 1", BEN)
    await story.answer(PROMPT, BEN)
    await story.command("/docs-agent", "status 1", CHIKA)
    await story.answer("I don't know the job “1”", CHIKA)
    assert story.roots(DOCS) == []


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_a_mention_takes_the_threads_earlier_messages_along(story: Story) -> None:
    root = story.people.say(BEN, DOCS, "The quickstart forgets pip")
    story.reply(root, "And the version", ANA)
    story.people.say("U04GUS", DOCS, "A guest's words", thread_ts=root["ts"])
    story.reply(root, f"@docs-agent {PROMPT}", ANA)
    face, *_ = await story.replies(root, 2)
    assert "with 2 earlier messages (1 left out)" in face["text"]
    await story.press(face, "show_attachments", BEN)
    shown = await story.answer("This went to the agent", BEN)
    assert "Asked by ana in #docs." in shown["text"]
    assert "&gt; ben: The quickstart forgets pip\n&gt; ana: And the version" in shown["text"]
    assert "guest" not in shown["text"]


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_a_text_file_goes_along_and_an_image_is_named_in_the_thread(story: Story) -> None:
    wrong = story.people.say(BEN, DOCS, "The quickstart forgets pip")
    files = [("notes.txt", "Use uv"), ("screen.png", "pixels")]
    asked = story.people.say(ANA, DOCS, f"@docs-agent {PROMPT}", files=files, forwards=wrong)
    replies = await story.replies(asked, 4)  # the face, the whole prompt, what was not sent, and the end
    [told] = [one["text"] for one in replies if "Not sent" in one["text"]]
    assert "screen.png" in told
    assert "notes.txt" not in told
    [whole] = [one["text"] for one in replies if "The whole prompt" in one["text"]]
    assert "Forwarded from Ben Okafor:\n&gt; The quickstart forgets pip" in whole


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_who_edits_a_message_that_went_out_is_told_in_its_thread(story: Story) -> None:
    asked = story.people.say(ANA, DOCS, f"@docs-agent {PROMPT}")
    await story.replies(asked, 2)
    story.people.edit(ANA, DOCS, asked["ts"], "@docs-agent Mention Python 3.11 too")
    told = await story.answer("You edited a message")
    assert told["thread_ts"] == asked["ts"]


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_words_that_nobody_means_as_a_prompt_go_out_where_they_were_said_once_that_is_said(
    story: Story,
) -> None:
    talk = story.people.say(BEN, DOCS, "The quickstart forgets pip")
    asked = [story.people.say(ANA, DOCS, "@docs-agent status"), story.reply(talk, "@docs-agent stop", ANA)]
    for words, thread in (("“status”", asked[0]), ("“stop”", talk)):
        told = await story.answer(words)
        assert story.said(thread) == []
        await story.press(told, "send_anyway")
        await story.replies(thread, 2)
    await story.command("/docs-agent", "hi")
    await story.press(await story.answer("“hi”"), "send_anyway")
    await story.replies(await story.post("hi"), 1)


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_the_shortcut_offers_the_threads_messages_in_its_form(story: Story) -> None:
    root = story.people.say(BEN, DOCS, "The quickstart forgets pip")
    asked = story.reply(root, PROMPT, ANA)
    await story.people.shortcut(ANA, "ask_about", DOCS, asked["ts"])
    view = await story.until(lambda: story.view(), "the form")
    elements = {block["block_id"]: block["element"] for block in view["blocks"]}
    assert elements["earlier"]["initial_value"] == "ben: The quickstart forgets pip"
    values = {
        name: {name: {"type": "plain_text_input", "value": elements[name]["initial_value"]}}
        for name in ("prompt", "earlier")
    }
    ticked = elements["take_earlier"]["initial_options"]
    values["take_earlier"] = {"take_earlier": {"type": "checkboxes", "selected_options": ticked}}
    assert (await story.people.submit_view(ANA, view["id"], values))["ok"]
    face = await story.post(PROMPT)
    assert "with 1 earlier message" in face["text"]


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_a_workflow_that_is_allowed_starts_a_job_and_another_is_left_alone(world: World) -> None:
    settings = world.settings.model_copy(update={**FAST, "allowed_bots": frozenset({WORKFLOW})})
    async with running_bot(settings, timeouts=STEADY):
        story = Story(world)
        stranger = said_by_app(story, "A0OTHER", f"@docs-agent {PROMPT}")
        asked = said_by_app(story, WORKFLOW, f"@docs-agent {PROMPT}")
        _, end = await story.replies(asked, 2)
        assert "Job 1 is done" in end["text"]
        assert story.said(stranger) == []


def said_by_app(story: Story, app: str, text: str) -> Json:
    """Let an app post a message as workflows do."""
    mentioning = text.replace("@docs-agent", f"<@{BOT_USER}>")
    said = story.state.add_message(
        DOCS, bot_id=f"B{app[1:]}", app_id=app, subtype="bot_message", text=mentioning
    )
    story.people.send_message_event(said)
    return said
