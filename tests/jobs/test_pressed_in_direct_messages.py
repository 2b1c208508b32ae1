"""Buttons in direct messages about a message elsewhere."""

from __future__ import annotations

from tests.talk import Talk


async def test_draft_about_a_reply_elsewhere_starts_a_job(talk: Talk) -> None:
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel")
    begun = await talk.ben.says("Readers ask about SSO")
    await talk.ana.replies("@docs-agent How do I set up SSO?", to=begun)
    await talk.time.passes()
    [told] = talk.ana.reads()
    assert told.message["channel"] == talk.room("dm").id
    await talk.ana.presses("Draft a page on it", told)
    assert await talk.ana.fills_in() == {}
    await talk.time.passes(30)
    talk.everything()
    assert talk.agent_got()
