"""Replies steer a job after its channel or its thread has changed."""

from __future__ import annotations

from tests.talk import Talk
from tests.talk_messages import change_channel_id


async def test_replies_count_after_the_channel_has_a_new_id(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    await talk.ana.asks("Add a quickstart", "secret")
    await talk.time.passes(10)
    await talk.ends()
    root = talk.root(channel="secret")
    await change_channel_id(talk, "secret")
    await talk.ana.replies("Mention Python 3.11 too", to=root)
    await talk.time.passes(60)
    talk.everything()
    assert talk.agent_got() == ["Add a quickstart", "Mention Python 3.11 too"]


async def test_message_that_lost_its_thread_takes_the_replies_it_invites(talk: Talk) -> None:
    asked = await talk.ana.says("@docs-agent Add a page on quotas")
    del talk.slack.state.messages[asked["channel"]][asked["ts"]]  # its event comes late or never
    await talk.time.passes(30)
    await talk.ends()
    posts = list(talk.slack.state.messages[asked["channel"]].values())
    inviting = [post for post in posts if "Just reply" in post["text"]]
    for number, post in enumerate(inviting):
        await talk.ana.replies(f"Mention Python 3.{number}", to=post)
    await talk.time.passes(60)
    talk.everything()
    assert len(talk.agent_got()) == 1 + len(inviting)
