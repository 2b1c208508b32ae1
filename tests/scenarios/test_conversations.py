"""Jobs in the conversations of people, as they see them; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import aiohttp
import pytest

from tests.scenarios.story import ANA, BEN, DOCS, Story

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
    await story.answer("There's no Job 1 that you can see", CHIKA)
    assert story.roots(DOCS) == []


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_a_text_file_goes_along_and_an_image_is_named_in_the_thread(story: Story) -> None:
    wrong = story.people.say(BEN, DOCS, "The quickstart forgets pip")
    files = [("notes.txt", "Use uv"), ("screen.png", "pixels")]
    asked = story.people.say(ANA, DOCS, f"@docs-agent {PROMPT}", files=files, forwards=wrong)
    replies = await story.replies(asked, 3)  # the face, what was not sent, and the end
    [told] = [one["text"] for one in replies if "Not sent" in one["text"]]
    assert "screen.png" in told
    assert "notes.txt" not in told


async def test_the_agent_corrects_the_page_of_which_people_spoke(story: Story) -> None:
    root = story.people.say(BEN, DOCS, "The rate limits page says 60, it is 100")
    story.reply(root, "@docs-agent fix the page please")
    await story.replies(root, 2)
    async with aiohttp.request("GET", f"{story.world.docs_service_url}/acme/acme-docs/pull/1") as page:
        assert "+| Free | 100 | 5 |" in await page.text()
