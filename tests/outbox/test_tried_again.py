"""Undelivered messages that an operator has delivered again."""

from __future__ import annotations

import re

from tests.talk import Talk


async def retry(talk: Talk) -> None:
    """Let the operator deliver the only undelivered message again."""
    [letter] = re.findall(r"--retry (\d+)", await talk.operator("jobs"))
    assert "is tried again" in await talk.operator("jobs", "--retry", letter)
    # The command has the machine's clock, which may be ahead of the held one: a sweep corrects that.
    await talk.time.passes(minutes=1)


async def test_refused_end_is_posted_when_tried_again(talk: Talk) -> None:
    await talk.started()
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.ends()
    assert talk.replies() == []
    await retry(talk)
    [end] = talk.replies()
    assert "is done" in end
    await talk.time.passes()
    assert len(talk.replies()) == 1
    talk.everything()


async def test_end_posted_after_all_is_not_posted_twice(talk: Talk) -> None:
    await talk.started()
    talk.faults.loses_the_answer("chat.postMessage", code="is_archived")
    await talk.ends()
    await retry(talk)
    assert len(talk.replies()) == 1
    assert "--retry" not in await talk.operator("jobs")
    talk.everything()


async def test_refused_status_message_is_the_only_undelivered_one(talk: Talk) -> None:
    """Its job ends with it, and an edit of a message that is not there would be refused as well."""
    talk.faults.refuses("chat.postMessage", "channel_not_found")
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes(60)
    _, letters = (await talk.operator("jobs")).split("Could not be said:\n")
    assert letters.split() == ["1", "#1", "status:", "channel_not_found"]
    talk.everything()
