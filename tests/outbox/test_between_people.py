"""Slack refuses posts between two people: requests there get advice."""

from __future__ import annotations

import pytest

from tests.talk import Talk


async def test_job_between_two_people_returns_its_prompt(talk: Talk) -> None:
    await talk.ana.types("/docs-agent Add a quickstart", channel="ana-ben")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert (
        "Use a channel, a group direct message that I am in, or a direct message with me." in answer
    )
    assert answer.endswith("Add a quickstart")
    assert "/invite" not in answer
    assert talk.agent_got() == []


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("subscribe monday 09:00 UTC", "is paused"), ("digest now", "I couldn't post the answer")],
)
async def test_digest_is_refused_with_the_same_advice(talk: Talk, text: str, outcome: str) -> None:
    await talk.ana.types(f"/docs-visitors {text}", channel="ana-ben")
    await talk.time.passes(60)
    [answer] = [note for note in talk.ana.reads() if outcome in note]
    assert "nobody can invite me into a direct message between two people" in answer
    assert "/invite" not in answer


async def test_private_channel_gets_the_advice_to_invite(talk: Talk) -> None:
    await talk.ana.types("/docs-agent Add a quickstart", channel="docs-secret")
    await talk.time.passes()
    [answer] = talk.ana.reads()
    assert "/invite @docs-agent" in answer
    assert answer.endswith("What you wrote, to copy:\nAdd a quickstart")
