"""After an outage of the docs service, jobs that ended meanwhile are soon shown as ended."""

from __future__ import annotations

from tests.talk import Talk


async def test_first_answer_after_an_outage_brings_polls_forward(talk: Talk) -> None:
    await talk.started()
    talk.service.says("get", 503, times=1_000)
    await talk.time.passes(minutes=10)
    talk.service.finish()
    await talk.time.passes(hours=2)
    talk.service.instead["get"].clear()
    await talk.started("Add another page", by=talk.ben)
    await talk.time.passes(minutes=2)
    assert "Pull request ready" in talk.job(1)
    talk.everything()
