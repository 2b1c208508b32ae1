"""A job in a group direct message, as people see it; the same in Socket Mode and over HTTP."""

from __future__ import annotations

import pytest

from tests.scenarios.story import ANA, BEN, DOCS, Story

TRIO, CHIKA = "C06TRIO", "U03CHIKA"
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
    await story.answer("I know no job “1”", CHIKA)
    assert story.roots(DOCS) == []
