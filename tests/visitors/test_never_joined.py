"""A digest for a channel that the bot never joined, because Slack refused its first post."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import BOT_USER
from tests.talk import Talk
from tests.work.readers import digests, until


async def subscribed_in_vain(talk: Talk, code: str) -> str:
    """Let Ana subscribe a channel without the bot, refuse the first post, and return the note."""
    talk.opens_channel("fresh", bot=False)
    talk.faults.refuses("chat.postMessage", code)
    await talk.ana.types("/docs-visitors subscribe monday 09:00 UTC", "fresh")
    await talk.time.passes(5)
    assert BOT_USER not in talk.room("fresh").members
    talk.log()
    return talk.ana.reads()[-1]


async def test_digest_joins_once_the_token_works_again(talk: Talk) -> None:
    note = await subscribed_in_vain(talk, "token_revoked")
    assert "the next digest is tried at its time." in note
    await until(talk, 9, 9, 0)
    assert len(digests(talk, "fresh")) == 1
    assert BOT_USER in talk.room("fresh").members


async def test_resumed_digest_joins_the_channel(talk: Talk) -> None:
    assert "is paused" in await subscribed_in_vain(talk, "restricted_action")
    await talk.ana.answer_to("/docs-visitors resume", "fresh")
    await until(talk, 9, 9, 0)
    assert len(digests(talk, "fresh")) == 1


@pytest.mark.parametrize("weeks", [0, 1])
async def test_bot_that_was_removed_does_not_come_back(talk: Talk, weeks: int) -> None:
    talk.opens_channel("fresh", bot=False)
    await talk.ana.types("/docs-visitors subscribe monday 09:00 UTC", "fresh")
    await talk.time.passes(5)
    await until(talk, 9 if weeks else 3, 9, 0)
    talk.everything()
    talk.room("fresh").members.remove(BOT_USER)
    await until(talk, 9 + 7 * weeks, 9, 0)
    assert BOT_USER not in talk.room("fresh").members
    assert "is paused" in talk.ana.reads()[-1]
    talk.log()
