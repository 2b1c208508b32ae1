"""The offer under an answer once a colleague has replied: "Answered by a colleague?"."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import Json
from tests.answers.conftest import QUESTION, asks, shares
from tests.talk import Talk
from tests.talk_people import Shown

REPLY = "It is under Settings, API keys: press Rotate & wait a minute"
OFFER = "Answered by a colleague?"
BUTTON = "Put it in the docs"


def read_again(talk: Talk, post: Shown) -> Shown:
    """Read the present state of a post of the bot."""
    now: Json = talk.slack.state.messages[post.message["channel"]][post.message["ts"]]
    return talk.mark_read(now)


async def offer_after(talk: Talk, text: str, by: str = "ben") -> bool:
    """Let somebody reply under an answer, and return whether the answer offers to keep that."""
    answer = await asks(talk)
    await getattr(talk, by).replies(text, to=answer.message)
    await talk.time.passes()
    now = read_again(talk, answer)
    return OFFER in now and BUTTON in now.buttons


@pytest.mark.parametrize(
    "text",
    [
        REPLY,
        "<@U01ANA> it moved to the key page last week",
        "Open Settings and press Rotate twice",
        "see https://wiki.example/keys",
        "https://wiki.example/keys",
        "Unter Einstellungen, dort auf Schlüssel erneuern klicken",
    ],
)
async def test_statement_or_link_of_a_colleague_brings_the_offer(talk: Talk, text: str) -> None:
    assert await offer_after(talk, text)


@pytest.mark.parametrize(
    "text",
    [
        "thanks a lot, that helped me",
        "no idea",
        "under Settings, Keys",
        "which key do you mean exactly?",
        "I'll have a look at it tomorrow",
        "lol that was fast, nice one",
        "aside: it is under Settings, API keys",
        "you can ask @docs-agent about the key page",
    ],
)
async def test_talk_question_and_short_reply_bring_none(talk: Talk, text: str) -> None:
    assert not await offer_after(talk, text)


@pytest.mark.parametrize("by", ["ana", "gus", "pia"])
async def test_reply_of_the_asker_or_of_an_outsider_brings_none(talk: Talk, by: str) -> None:
    talk.room("docs").members.append(talk.pia.id)
    assert not await offer_after(talk, REPLY, by)
    talk.everything()


async def test_offer_opens_the_form_and_notifies_nobody(talk: Talk) -> None:
    answer = await asks(talk)
    count = len(talk.thread(answer.message))
    await talk.ben.replies(REPLY, to=answer.message)
    await talk.time.passes()
    now = read_again(talk, answer)
    assert now.startswith(str(answer))
    assert now.buttons == ["Draft a page", "Didn't help", BUTTON]
    assert len(talk.thread(answer.message)) == count
    await talk.chika.presses(BUTTON, now)
    assert await talk.chika.fills_in() == {}
    await talk.time.passes()
    [prompt] = talk.agent_got()
    assert f"> Ben Okafor: {REPLY}" in prompt
    talk.everything()


async def test_nothing_is_kept_of_the_reply_but_the_fact(talk: Talk) -> None:
    answer = await asks(talk)
    await talk.ben.replies("The code name of the key is Bluebird", to=answer.message)
    await talk.time.passes()
    assert OFFER in read_again(talk, answer)
    assert talk.kept("Bluebird") == []
    assert talk.kept(talk.ben.id) == []


async def test_reply_before_the_answer_brings_the_offer_with_it(talk: Talk) -> None:
    hanging = talk.service.hangs("answer")
    asked = await talk.ana.says(f"@docs-agent {QUESTION}")
    await talk.time.passes()
    await talk.ben.replies(REPLY, to=asked)
    await talk.time.passes()
    hanging.answer.set_result(talk.service.answer)
    await talk.stuck_work_ends()
    await talk.time.passes()
    [answer] = talk.thread(asked)
    assert OFFER in answer
    talk.everything()


async def test_second_reply_edits_nothing(talk: Talk) -> None:
    answer = await asks(talk)
    await talk.ben.replies(REPLY, to=answer.message)
    await talk.time.passes()
    assert OFFER in read_again(talk, answer)
    edits = talk.slack.calls.count("chat.update")
    await talk.chika.replies("It was renamed to key rotation last year", to=answer.message)
    await talk.time.passes()
    assert talk.slack.calls.count("chat.update") == edits


async def test_offer_survives_a_kill_and_comes_once(talk: Talk) -> None:
    answer = await asks(talk)
    talk.faults.hangs("chat.update")
    await talk.ben.replies(REPLY, to=answer.message)
    await talk.time.passes()
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=15)
    now = read_again(talk, answer)
    assert now.count(OFFER) == 1
    talk.everything()


async def test_shared_answer_gets_the_offer(talk: Talk) -> None:
    shared = await shares(talk)
    await talk.ben.replies(REPLY, to=shared.message)
    await talk.time.passes()
    now = talk.status()
    assert now.startswith(f"<@{talk.ana.id}> asked: “{QUESTION}”")
    assert now.buttons == ["Draft a page", "Didn't help", BUTTON]


async def test_question_that_a_job_answers_gets_no_offer(talk: Talk) -> None:
    answer = await asks(talk)
    await talk.ben.presses("Didn't help", answer)
    await talk.ben.asks(f"ask {QUESTION}")
    await talk.time.passes()
    talk.everything()
    await talk.ben.presses("Draft a page")
    await talk.ben.fills_in()
    await talk.time.passes()
    await talk.chika.replies(REPLY, to=answer.message)
    await talk.time.passes()
    assert OFFER not in read_again(talk, answer)
    talk.everything()
