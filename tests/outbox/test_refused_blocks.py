"""Status messages have plain blocks where Slack refuses theirs."""

from __future__ import annotations

from tests.talk import Talk


def kinds(talk: Talk) -> list[str]:
    return [block["type"] for block in talk.status().message["blocks"]]


async def test_refused_edit_keeps_the_rich_text_of_the_status(talk: Talk) -> None:
    await talk.started()
    talk.faults.refuses("chat.update", "invalid_blocks")
    await talk.ends()
    assert "rich_text" in kinds(talk)
    assert "Pull request ready" in talk.status()
    assert len(talk.replies()) == 1
    assert "blocks_refused" in talk.log()[0]


async def test_plain_status_stays_plain(talk: Talk) -> None:
    talk.faults.refuses("chat.postMessage", "feature_disabled")
    await talk.started()
    assert kinds(talk) == ["section"]
    await talk.ends()
    assert kinds(talk) == ["section", "actions"]
    assert len(talk.replies()) == 1
    assert "blocks_refused" in talk.log()[0]
