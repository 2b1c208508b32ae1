"""Metrics of prompts with an unknown outcome."""

from __future__ import annotations

from tests.talk import Talk


async def test_unconfirmed_prompts_have_their_own_counter(talk: Talk) -> None:
    talk.service.loses_the_answer()
    await talk.started("Add keys")
    talk.service.says("create", 500)
    await talk.started("Add two")
    for text in ("Add three", "Add four"):
        talk.service.hangs("create")
        await talk.started(text)
    before = await talk.metrics()
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(120)
    after = await talk.metrics()
    for counted in (before, after):
        assert counted["prompts_total unconfirmed"] == 2
        assert counted["prompts_total unavailable"] == 0
    talk.everything()
