"""The mention of the bot may stand anywhere in a message."""

from __future__ import annotations

from tests.talk import Talk


async def test_thanks_before_the_mention_cost_nothing(talk: Talk) -> None:
    await talk.finished()
    thanks = await talk.ana.replies("Thanks @docs-agent!")
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a quickstart"]
    assert talk.reactions(thanks) == ["+1"]


async def test_greeting_before_the_mention_starts_no_job(talk: Talk) -> None:
    await talk.ana.says("Hi @docs-agent")
    await talk.time.passes(30)
    talk.everything()
    assert talk.agent_got() == []


async def test_mention_after_a_colleague_counts_in_a_thread(talk: Talk) -> None:
    begun = await talk.ana.says("The limits page says 60")
    await talk.ben.replies("@ana good point. @docs-agent please fix it: it is 100", to=begun)
    await talk.time.passes(30)
    talk.everything()
    assert "it is 100" in "\n".join(talk.agent_got())
