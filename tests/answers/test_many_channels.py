"""Digests of a workspace in which people ask in many channels."""

from __future__ import annotations

from tests.talk import Talk
from tests.work.readers import digests, subscribe, until

QUESTION = "How do I rotate an API key?"
CHANNELS = 60
"""Slack describes 50 a minute: https://docs.slack.dev/apis/web-api/rate-limits (tier 3)."""


async def test_digest_asks_slack_about_few_channels(talk: Talk) -> None:
    talk.process.settings["ANSWERS"] = "search"  # finds nothing: each question is a gap at once
    questions = [(talk.ana, f"What is limit {number}?") for number in range(CHANNELS)]
    questions += [(person, QUESTION) for person in (talk.ana, talk.ben, talk.chika)]
    for number, (person, text) in enumerate(questions):
        talk.opens_channel(f"room{number}")
        await person.says(f"@docs-agent {text}", f"room{number}")
        await talk.time.passes(2)
    talk.everything()
    await subscribe(talk)
    described = talk.slack.calls.count("conversations.info")
    await until(talk, 9)
    digest = digests(talk)[-1]
    talk.everything()
    assert talk.slack.calls.count("conversations.info") - described < 10
    assert "rotate an API key?" in digest
