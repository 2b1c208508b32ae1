"""A job in a group direct message, as people see it; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import pytest

from tests.scenarios.story import ANA, BEN, DOCS, Story

TRIO, CHIKA = "C06TRIO", "U03CHIKA"
PROMPT = "Add a quickstart for the Python SDK"


@pytest.mark.parametrize("http_mode", [False, True], ids=["socket", "http"])
async def test_a_job_of_a_group_direct_message_goes_whole_and_stays_private(story: Story) -> None:
    story.people.say(ANA, TRIO, f"@docs-agent {PROMPT}")
    root = await story.until(lambda: next(iter(story.roots(TRIO)), None), "a root message")
    await story.replies(root, 1)
    story.reply(root, "Mention Python 3.11 too", BEN)
    [_, end] = await story.replies(root, 2)
    assert f"<@{BEN}>" in end["text"]
    assert len(story.roots(TRIO)) == 1
    await story.command("/docs-agent", "status 1", BEN)
    await story.answer(PROMPT, BEN)
    await story.command("/docs-agent", "status 1", CHIKA)
    await story.answer("I know no job “1”", CHIKA)
    assert story.roots(DOCS) == []
