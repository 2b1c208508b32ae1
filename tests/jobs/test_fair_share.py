"""A fair share: how many prompts of one person wait, status messages in turn, and look-ups in time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.talk import Talk

TOO_MANY = "10 prompts of yours wait already"


async def ten_waiting(talk: Talk) -> None:
    """Let ten prompts of Ana's wait for the limit, which Ben's has used up."""
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a page on keys", by=talk.ben)
    for number in range(10):
        await talk.ana.asks(f"Add page {number}")
    await talk.time.passes(20)
    talk.everything()


async def test_eleventh_prompt_is_returned_and_not_stored(talk: Talk) -> None:
    await ten_waiting(talk)
    answer = await talk.ana.answer_to("/docs-agent Mention https://x.example & more")
    assert TOO_MANY in answer
    assert "Mention https://x.example & more" in str(answer.message["blocks"])
    await talk.time.passes(20)
    assert len(talk.channel()) == 11


async def test_others_and_people_with_free_places_are_served(talk: Talk) -> None:
    await ten_waiting(talk)
    await talk.ben.asks("Add mine")
    assert talk.ben.reads() == []
    await talk.time.passes(3_700)
    assert len(talk.agent_got()) == 2
    await talk.ana.asks("Add the eleventh")
    assert talk.ana.reads() == []
    await talk.ana.asks("Add the twelfth")
    assert TOO_MANY in talk.ana.reads()[0]
    talk.everything()


async def test_requests_of_one_moment_count_together(talk: Talk) -> None:
    await talk.hears()
    await asyncio.gather(*(talk.ana.asks(f"Add page {number}") for number in range(14)))
    assert sum(TOO_MANY in answer for answer in talk.ana.reads()) == 4
    await talk.time.passes(60)
    assert len(talk.channel()) == 10


async def test_a_follow_up_counts_too(talk: Talk) -> None:
    await ten_waiting(talk)
    await talk.ana.replies("Write more")
    await talk.time.passes(20)
    [note] = talk.ana.reads()
    assert TOO_MANY in note
    assert TOO_MANY in await talk.ana.answer_to("/docs-followup 1 Add a table")
    assert talk.agent_got() == ["Add a page on keys"]


async def test_eleventh_mention_is_answered_in_private(talk: Talk) -> None:
    await ten_waiting(talk)
    message = await talk.ana.says("@docs-agent Add a glossary")
    await talk.time.passes(20)
    [note] = talk.ana.reads()
    assert TOO_MANY in note
    assert talk.thread(message) == []


async def test_form_with_an_eleventh_prompt_stays_open(talk: Talk) -> None:
    await ten_waiting(talk)
    await talk.ana.types("/docs-agent")
    errors = await talk.ana.fills_in(prompt="Add a glossary")
    assert [error.startswith(TOO_MANY) for error in errors.values()] == [True]


async def test_first_messages_of_several_people_go_out_in_turn(talk: Talk) -> None:
    for number in range(5):
        await talk.ana.asks(f"Add a{number}")
    await talk.ben.asks("Add b0")
    await talk.ben.asks("Add b1")
    await talk.chika.asks("Add c0")
    await talk.time.passes(20)
    order = [root.splitlines()[1].removeprefix("Add ") for root in talk.channel()]
    assert order == ["a0", "b0", "c0", "a1", "b1", "a2", "a3", "a4"]


async def test_refused_first_message_delays_no_other(talk: Talk) -> None:
    talk.faults.refuses("chat.postMessage", "channel_not_found")
    await talk.ana.asks("Add keys")
    await talk.ana.asks("Add two")
    await talk.time.passes(10)
    assert talk.agent_got() == ["Add two"]
    talk.everything()


@pytest.mark.parametrize("when", ["together", "later"])
async def test_a_slow_look_up_delays_nobody_else(talk: Talk, when: str) -> None:
    await talk.started("Add a page on keys")
    await talk.started("Add a page on limits", by=talk.ben)
    talk.newcomer("Slow")
    talk.faults.hangs("users.info")
    await talk.ana.asks("Add a page for @slow")
    if when == "later":
        await talk.time.passes(1)
    await talk.ben.asks("Add mine")
    await talk.time.passes(10)
    assert "Add mine" in talk.agent_got()
    talk.everything()


async def test_first_twenty_names_are_looked_up(talk: Talk) -> None:
    names = [f"p{number:03}" for number in range(25)]
    for name in names:
        talk.newcomer(name)
    message = await talk.ana.says("@docs-agent Add " + " ".join(f"@{name}" for name in names))
    await talk.time.passes()
    [prompt] = talk.agent_got()
    assert prompt.split()[19:23] == ["@p018", "@p019", "@UP020", "@UP021"]
    talk.thread(message)


async def test_names_that_slack_returns_late_stay_ids(talk: Talk) -> None:
    talk.process.timeouts = replace(talk.process.timeouts, names_seconds=0.2)
    await talk.started("Add a page on keys")
    talk.newcomer("Slow")
    talk.faults.hangs("users.info")
    message = await talk.ana.says("@docs-agent Add what @slow wrote in #general")
    await talk.time.passes()
    await talk.stuck_work_ends()
    await talk.time.passes()
    assert talk.agent_got()[1:] == ["Add what @USLOW wrote in #general"]
    talk.thread(message)
    talk.channel()
