"""Jobs in the conversations of people, as they see them; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import aiohttp
import pytest

from tests.scenarios.story import ANA, BEN, DOCS, Story

pytestmark = pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
TRIO, CHIKA, WORKFLOW = "C06TRIO", "U03CHIKA", "A0FLOW"
PROMPT = "Add a quickstart for the Python SDK"


async def test_job_of_group_direct_message_stays_private(story: Story) -> None:
    asked = story.people.say(ANA, TRIO, f"@docs-agent {PROMPT}")
    await story.replies(asked, 2)  # the status message and the end
    story.reply(asked, "Mention Python 3.11 too", BEN)
    [_, _, end] = await story.replies(asked, 3)
    assert f"<@{BEN}>" in end["text"]
    assert story.roots(TRIO) == []
    await story.command("/docs-agent", "status 1", BEN)
    await story.answer(PROMPT, BEN)
    await story.command("/docs-agent", "status 1", CHIKA)
    await story.answer("There's no Job 1 that you can see", CHIKA)
    assert story.roots(DOCS) == []


async def test_text_file_is_sent_and_image_is_named(story: Story) -> None:
    wrong = story.people.say(BEN, DOCS, "The quickstart forgets pip")
    files = [("notes.txt", "Use uv"), ("screen.png", "pixels")]
    asked = story.people.say(ANA, DOCS, f"@docs-agent {PROMPT}", files=files, forwards=wrong)
    replies = await story.replies(asked, 3)  # the status message, the note about files, and the end
    [note] = [reply["text"] for reply in replies if "Not sent" in reply["text"]]
    assert "screen.png" in note
    assert "notes.txt" not in note


async def test_agent_corrects_page_of_the_thread(story: Story) -> None:
    root = story.people.say(BEN, DOCS, "The rate limits page says 60, it is 100")
    story.reply(root, "@docs-agent fix the rate limits page please")
    await story.replies(root, 2)
    async with aiohttp.request(
        "GET", f"{story.world.docs_service_url}/acme/acme-docs/pull/1"
    ) as page:
        assert "+| Free | 100 | 5 |" in await page.text()


async def test_question_for_the_quickstart_is_answered_by_its_page(story: Story) -> None:
    asked = story.people.say(ANA, DOCS, "@docs-agent Where is the quickstart?")
    [answer] = await story.replies(asked, 1)
    assert f"{story.world.docs_service_url}/acme-docs/docs/quickstart" in answer["text"]
