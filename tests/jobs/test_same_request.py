"""Requests that arrive at the same moment are stored together, and each of them once."""

from __future__ import annotations

import asyncio

from tests.talk import Talk


async def test_requests_of_one_moment_are_stored_once_each(talk: Talk) -> None:
    texts = [f"Add page {number % 4}" for number in range(8)]
    await talk.process.starts()
    await asyncio.gather(*(person.asks(text) for text in texts for person in (talk.ana, talk.ben)))
    await talk.time.passes(60)
    assert sorted(talk.agent_got()) == sorted(texts)
    talk.everything()


async def test_mention_delivered_twice_at_once_is_stored_once(talk: Talk) -> None:
    talk.slack.line.drops_events = True
    await talk.ana.says("@docs-agent Add a page on keys")
    await asyncio.gather(*(talk.receives(talk.slack.line.sent[-1]) for _ in range(5)))
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()
