"""Whoever may no longer is refused when the request is sent, however short it has waited."""

from __future__ import annotations

from tests.talk import Talk

BOT = "@docs-agent"
_ROOM_CALLS = ("users.info", "conversations.info", "conversations.members")


def refusals(talk: Talk) -> list[str]:
    return [note for note in talk.ana.reads() if note.startswith(":no_entry:")]


async def let_in_ben_alone(talk: Talk) -> None:
    await talk.process.stops()
    await talk.process.starts(allowed_users=talk.ben.id)


async def test_who_left_the_channel_within_seconds_is_refused_once(talk: Talk) -> None:
    talk.opens_channel("plans", talk.ana, talk.ben, is_private=True)
    await talk.ana.says(f"{BOT} Add a page on keys", channel="plans")
    talk.room("plans").members.remove(talk.ana.id)
    await talk.time.passes(60)
    assert talk.agent_got() == []
    [note] = refusals(talk)
    assert "You aren't in <#CPLANS> any more" in note
    talk.everything()


async def test_who_is_excluded_while_a_request_waits_for_a_use_is_refused_once(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a quickstart", by=talk.ben)
    await talk.time.passes(minutes=59, seconds=0)
    await talk.ana.types("/docs-agent Add a page on keys")
    await talk.time.passes(10)
    await let_in_ben_alone(talk)
    await talk.time.passes(minutes=5)
    assert talk.agent_got() == ["Add a quickstart"]
    [note] = refusals(talk)
    assert "set up for some people only" in note
    talk.everything()


async def test_requests_cost_no_call_of_their_own(talk: Talk) -> None:
    await talk.ana.says(f"{BOT} Add a page on keys")
    await talk.time.passes(20)
    before = [talk.slack.calls.count(name) for name in _ROOM_CALLS]
    for number in range(3):
        await talk.ana.says(f"{BOT} Add page {number}")
        await talk.time.passes(20)
    assert [talk.slack.calls.count(name) for name in _ROOM_CALLS] == before
    assert len(talk.agent_got()) == 4
    talk.everything()
