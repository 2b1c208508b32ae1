"""A delivery that fails in a way that the bot does not know is tried a few times and then told elsewhere."""

from __future__ import annotations

from contextlib import suppress

from tests.talk import Talk


async def test_end_that_fails_unexpectedly_is_told_directly(talk: Talk) -> None:
    await talk.started("Add a page on keys")
    talk.faults.breaks("chat.postMessage", times=12)
    talk.service.finish()
    calls = talk.slack.calls.count("chat.postMessage")
    for _ in range(60):
        with suppress(KeyError):
            await talk.time.passes(91)
    assert talk.slack.calls.count("chat.postMessage") == calls + 13
    [told] = talk.ana.reads()
    assert "Add a page on keys" in told
    assert "unexpected_error" in await talk.operator("jobs")
    assert talk.errors() == {"delivery_broken"}
    talk.everything()


async def test_delivery_that_fails_unexpectedly_stops_no_other(talk: Talk) -> None:
    talk.faults.breaks("chat.postMessage")
    await talk.ana.asks("Add a page on keys")
    await talk.ben.asks("Add a guide", "general")
    with suppress(KeyError):
        await talk.time.passes(0.5)
    assert talk.channel() == []
    assert len(talk.channel("general")) == 1
    await talk.time.passes(minutes=3)
    talk.everything()
