"""A 429 while our own count has uses left: the service's time is waited for, not an hour of ours."""

from __future__ import annotations

import pytest

from tests.talk import Talk


@pytest.mark.parametrize("seconds", [120, None])
async def test_pending_prompts_go_after_the_services_wait(
    talk: Talk, seconds: float | None
) -> None:
    await talk.started("Add keys")
    talk.service.says("create", 429, seconds=seconds)
    await talk.ana.asks("Add two")
    await talk.time.passes(3)
    await talk.ben.asks("Add three")
    await talk.time.passes(103)
    assert talk.agent_got() == ["Add keys"]
    assert "It starts at <!date^" in talk.job(2)
    assert "It starts at <!date^" in talk.job(3)
    await talk.time.passes(30 if seconds else 15 * 60 - 90)
    assert sorted(talk.agent_got()) == ["Add keys", "Add three", "Add two"]
    talk.everything()


async def test_prompts_beyond_the_count_wait_for_free_uses(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=2)
    await talk.started("Add keys")
    talk.service.says("create", 429, seconds=120)
    await talk.ana.asks("Add two")
    await talk.time.passes(3)
    await talk.ben.asks("Add three")
    await talk.time.passes(133)
    assert len(talk.agent_got()) == 2
    await talk.time.passes(3_602)
    assert len(talk.agent_got()) == 3
    talk.everything()
