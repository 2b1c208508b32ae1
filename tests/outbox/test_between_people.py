"""Nothing can be posted in a direct message between two people: who asks there is told a way that works."""

from __future__ import annotations

import pytest

from tests.talk import Talk


async def test_a_job_between_two_people_is_not_started_and_its_prompt_given_back(talk: Talk) -> None:
    await talk.ana.types("/docs-agent Add a quickstart", channel="ana-ben")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert "Use a channel, a group direct message that I am in, or a direct message with me." in answer
    assert answer.endswith("Add a quickstart")
    assert "/invite" not in answer
    assert talk.agent_got() == []


@pytest.mark.parametrize(
    ("words", "outcome"),
    [("subscribe monday 09:00 UTC", "is paused"), ("digest now", "I couldn't post the answer")],
)
async def test_a_digest_is_refused_with_the_same_advice(talk: Talk, words: str, outcome: str) -> None:
    await talk.ana.types(f"/docs-visitors {words}", channel="ana-ben")
    await talk.time.passes(60)
    [answer] = [each for each in talk.ana.reads() if outcome in each]
    assert "nobody can invite me into those between two people" in answer
    assert "/invite" not in answer


async def test_in_a_private_channel_an_invitation_is_the_way(talk: Talk) -> None:
    await talk.ana.types("/docs-agent Add a quickstart", channel="docs-secret")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert "/invite @docs-agent" in answer
    assert answer.endswith("What you wrote, to copy:\nAdd a quickstart")
