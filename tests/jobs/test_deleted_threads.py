"""Threads whose first message was deleted: Slack posts a reply there into the channel, without an error."""

from __future__ import annotations

from sandbox.workspace.state import Json
from tests.talk import Talk


def vanishes(talk: Talk, message: Json) -> None:
    """Delete a message of which the bot learns nothing: its event comes late or never."""
    talk.note(f"{message['text']!r} is deleted")
    del talk.slack.state.messages[message["channel"]][message["ts"]]


async def test_job_goes_on_under_its_own_status_message(talk: Talk) -> None:
    said = await talk.ana.says("@docs-agent Add a page on quotas")
    vanishes(talk, said)
    await talk.time.passes(30)
    await talk.ends()
    assert "Pull request ready" in talk.status()
    [end] = talk.replies()
    assert "Just reply" in end
    await talk.ana.replies("Mention Python 3.11 too", to=end.message)
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a page on quotas", "Mention Python 3.11 too"]
    talk.everything()


async def test_reply_to_a_deleted_message_is_one_without_a_thread(talk: Talk) -> None:
    root = await talk.ben.says("The page is wrong")
    await talk.ana.replies("@docs-agent Add a page on quotas", to=root)
    vanishes(talk, root)
    await talk.time.passes(30)
    assert talk.agent_got() == ["Add a page on quotas"]
    assert "didn't let me read" not in talk.status()
    await talk.ana.replies("Mention Python 3.11 too")
    await talk.time.passes(30)
    assert talk.agent_got()[1:] == ["Mention Python 3.11 too"]
    talk.everything()


async def test_status_message_of_unclear_outcome_is_found_in_the_channel(talk: Talk) -> None:
    said = await talk.ana.says("@docs-agent Add a page on quotas")
    vanishes(talk, said)
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.time.passes(60)
    assert len(talk.channel()) == 1
    await talk.ends()
    assert len(talk.replies()) == 1
    talk.status()


async def test_job_goes_on_under_the_post_that_lost_its_thread(talk: Talk) -> None:
    await talk.started()
    vanishes(talk, talk.root())
    await talk.ends()
    [end] = talk.channel()
    assert f"<@{talk.ana.id}>" in end
    await talk.ana.replies("Mention Python 3.11 too", to=end.message)
    await talk.time.passes(30)
    await talk.ends()
    assert talk.agent_got()[1:] == ["Mention Python 3.11 too"]
    assert len(talk.channel()) == 1
    assert talk.thread(end.message)
    talk.everything()
