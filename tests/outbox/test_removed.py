"""Removed from a public channel, the bot comes back only when somebody asks there."""

from __future__ import annotations

from sandbox.workspace.state import BOT_USER
from tests.talk import Talk


def remove_bot(talk: Talk) -> None:
    """Remove the bot from #docs."""
    talk.note("the bot is removed from docs")
    talk.room("docs").members.remove(BOT_USER)


def is_back(talk: Talk) -> bool:
    return BOT_USER in talk.room("docs").members


async def test_result_goes_to_the_requester_without_joining(talk: Talk) -> None:
    await talk.started()
    talk.status()
    remove_bot(talk)
    await talk.ends()
    assert not is_back(talk)
    assert talk.replies() == []
    assert len(talk.ana.reads()) == 1


async def test_unclear_result_is_not_searched_by_joining(talk: Talk) -> None:
    await talk.started()
    talk.status()
    remove_bot(talk)
    talk.faults.fails("chat.postMessage")
    await talk.ends()
    await talk.time.passes(30)
    assert not is_back(talk)
    assert len(talk.ana.reads()) == 1


async def test_requested_digest_brings_the_bot_back(talk: Talk) -> None:
    remove_bot(talk)
    await talk.ana.types("/docs-visitors digest now")
    await talk.time.passes(60)
    assert is_back(talk)
    [digest] = talk.channel()
    assert "Your docs" in digest
    talk.ana.reads()


async def test_edit_of_a_deleted_status_is_no_lost_message(talk: Talk) -> None:
    await talk.started()
    [status] = talk.slack.state.history(talk.room("docs").id)
    talk.note("somebody deletes the status message")
    del talk.slack.state.messages[status["channel"]][status["ts"]]
    await talk.ends()
    await talk.time.passes(60)
    [end] = talk.channel()
    assert "is done" in end
    assert talk.kept("message_not_found") == []
