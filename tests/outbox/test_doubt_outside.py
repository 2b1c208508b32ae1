"""Posts of unclear outcome in a channel that the bot has not joined: searching needs a member, too."""

from __future__ import annotations

import pytest

from tests.talk import Talk


async def test_unclear_first_message_is_posted_after_joining(talk: Talk) -> None:
    talk.faults.fails("chat.postMessage")
    await talk.ana.types("/docs-agent Add a quickstart", channel="product-docs")
    await talk.time.passes(20)
    assert len(talk.channel("product-docs")) == 1
    assert talk.agent_got() == ["Add a quickstart"]


async def test_unclear_file_is_sent_after_joining(talk: Talk) -> None:
    talk.faults.fails("files.completeUploadExternal")
    await talk.ana.types("/docs-visitors 7d compare none csv here", channel="product-docs")
    await talk.time.passes(60)
    assert [len(post.message["files"]) for post in talk.channel("product-docs")] == [1]
    talk.ana.reads()


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("conversations.history", "invalid_blocks"),
        ("conversations.history", "team_added_to_org"),
        ("conversations.open", "team_added_to_org"),
    ],
)
async def test_refused_search_settles_no_unclear_file(talk: Talk, method: str, code: str) -> None:
    talk.faults.loses_the_answer("files.completeUploadExternal")
    await talk.ana.types("/docs-visitors 7d compare none csv")
    while talk.faults.left():
        await talk.time.passes(0.5)
    talk.faults.refuses(method, code)
    await talk.time.passes(90)
    assert talk.faults.left() == []
    assert len([post for post in talk.ana.reads() if post.message.get("files")]) == 1


async def test_channel_that_cannot_be_joined_is_given_up(talk: Talk) -> None:
    talk.faults.fails("chat.postMessage")
    talk.faults.refuses("conversations.join", "is_archived", times=2)
    await talk.ana.types("/docs-agent Add a quickstart", channel="product-docs")
    await talk.time.passes(20)
    assert talk.channel("product-docs") == []
    assert talk.agent_got() == []
    [answer] = talk.ana.reads()
    assert "Nothing was started" in answer
