"""What somebody does in their first minute with the bot, in Socket Mode and over HTTP."""

from __future__ import annotations

import aiohttp
import pytest

from tests.scenarios.story import ANA, BEN, Story

PROMPT = "Add a quickstart for the Python SDK"


@pytest.fixture(params=["socket", "http"])
def http_mode(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "http")


def pull_request_url(message: dict[str, object]) -> str:
    blocks: list[dict[str, list[dict[str, str]]]] = message["blocks"]  # type: ignore[assignment]
    return next(one["url"] for block in blocks for one in block.get("elements", []) if "url" in one)


async def test_a_job_is_asked_for_finished_followed_up_and_finished_again(story: Story) -> None:
    root = await story.finished(PROMPT)
    [end] = await story.replies(root, 1)
    assert f"<@{ANA}>" in end["text"]
    assert "Pull request ready" in root["text"]
    async with aiohttp.ClientSession() as session, session.get(pull_request_url(end)) as page:
        assert "python-quickstart.md" in await page.text()
    follow_up = story.reply(root, "Mention Python 3.11 too", user=BEN)
    [_, second] = await story.replies(root, 2)
    assert f"<@{BEN}>" in second["text"]
    assert [one["name"] for one in follow_up["reactions"]] == ["eyes"]
    assert len(story.roots()) == 1
