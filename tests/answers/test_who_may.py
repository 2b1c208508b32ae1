"""Access to questions, and the privacy of private channels."""

from __future__ import annotations

import pytest

from tests.answers.conftest import QUESTION, asks, drafts, merges
from tests.talk import Talk
from tests.talk_people import Person, Shown

UNKNOWN = "I no longer have that question. Ask it again."


async def presses_elsewhere(person: Person, label: str, button_of: Shown, message: Shown) -> None:
    """Press a button of one message as if another message had it."""
    await person.presses(
        label, Shown.of({**message.message, "blocks": button_of.message["blocks"]})
    )


async def test_guest_asks_in_vain(talk: Talk) -> None:
    await talk.gus.says(f"@docs-agent {QUESTION}")
    await talk.gus.asks(f"ask {QUESTION}")
    await talk.time.passes()
    assert len(talk.gus.reads()) == 2
    assert talk.service.questions == []
    assert talk.kept(QUESTION) == []


async def test_gap_of_another_channel_is_not_listed(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, is_private=True)
    await talk.ana.presses("Didn't help", await asks(talk, channel="secret"))
    talk.everything()
    assert await talk.ben.answer_to("/docs-agent gaps") == "No open questions here."
    assert QUESTION in await talk.ana.answer_to("/docs-agent gaps", "secret")


async def test_job_of_a_private_channel_is_announced_there_only(talk: Talk) -> None:
    talk.opens_channel("secret", talk.ana, talk.ben, is_private=True)
    await talk.ana.presses("Didn't help", await asks(talk))
    hidden = await asks(talk, channel="secret")
    await talk.ben.presses("Didn't help", hidden)
    await drafts(talk)
    talk.everything()
    await merges(talk)
    replies = [reply for reply in talk.all_replies() if "It is written now" in reply]
    assert [reply.message["channel"] for reply in replies] == [hidden.message["channel"]]
    assert QUESTION in await talk.ben.answer_to("/docs-agent gaps")
    talk.everything()


async def test_same_words_in_public_channels_are_one_gap_and_all_hear_it(talk: Talk) -> None:
    talk.opens_channel("help")
    asked = await talk.chika.says("@docs-agent how do i rotate an API key", "help")
    await talk.time.passes()
    await talk.ana.presses("Didn't help", await asks(talk))
    await talk.ben.presses("Didn't help", talk.thread(asked)[-1])
    await drafts(talk)
    talk.everything()
    await merges(talk)
    assert sum("It is written now" in reply for reply in talk.all_replies()) == 2
    talk.everything()


async def test_end_without_pull_request_leaves_the_gap(talk: Talk) -> None:
    await talk.ben.presses("Didn't help", await asks(talk))
    await drafts(talk, pr_link=None)
    assert "It is written now" not in talk.everything()
    assert QUESTION in await talk.ana.answer_to("/docs-agent gaps")
    talk.everything()


async def test_old_question_is_forgotten(talk: Talk) -> None:
    await talk.ana.presses("Didn't help", await asks(talk))
    talk.everything()
    assert talk.kept(QUESTION)
    await talk.time.passes(days=182)
    await talk.time.passes(hours=3)
    assert talk.kept(QUESTION) == []
    await talk.ana.presses("Draft a page")
    assert talk.ana.reads() == ["I no longer have that question. Ask it again."]


@pytest.mark.parametrize("label", ["Draft a page", "Didn't help", "Share", "Dismiss"])
async def test_button_about_a_question_of_another_channel_does_nothing(
    talk: Talk, label: str
) -> None:
    talk.opens_channel("secret", talk.ana, is_private=True)
    await talk.ana.presses("Didn't help", await asks(talk, channel="secret"))
    await talk.ana.asks("ask What does a key cost?", "secret")
    await talk.time.passes()
    answer, gaps = talk.ana.reads()[-1], await talk.ana.answer_to("/docs-agent gaps", "secret")
    message = await talk.ben.answer_to("/docs-agent limits")
    await presses_elsewhere(talk.ben, label, gaps if label == "Dismiss" else answer, message)
    assert talk.ben.reads() == [UNKNOWN]
    assert await talk.ana.answer_to("/docs-agent gaps", "secret") == gaps
    talk.everything()


async def test_answer_in_a_thread_is_not_shared(talk: Talk) -> None:
    posted = await asks(talk)
    await talk.ana.asks("ask What does a key cost?")
    await talk.time.passes()
    private = talk.ana.reads()[-1]
    share, of_posted = (
        private.message["blocks"][-1]["elements"][-1],
        posted.message["blocks"][-1]["elements"],
    )
    button = {**share, "value": of_posted[0]["value"]}
    forged = {**private.message, "blocks": [{"type": "actions", "elements": [button]}]}
    await talk.ana.presses("Share", Shown.of(forged))
    assert talk.ana.reads() == [UNKNOWN]


async def test_asker_whose_answer_helped_elsewhere_hears_nothing(talk: Talk) -> None:
    talk.opens_channel("help")
    for text in (QUESTION, "What does a key cost?"):
        await asks(talk, text)
    await talk.ana.presses("Didn't help", await asks(talk, channel="help"))
    await drafts(talk, by=talk.ana)
    talk.everything()
    await merges(talk)
    [notice] = [reply for reply in talk.all_replies() if "It is written now" in reply]
    assert notice.message["channel"] == talk.room("help").id


async def test_gap_is_dismissed_for_all_its_askers_in_one_channel(talk: Talk) -> None:
    talk.opens_channel("help")
    for channel in ("help", "docs", "docs"):
        await talk.ana.presses("Didn't help", await asks(talk, channel=channel))
    helped = await asks(talk)
    talk.everything()
    await talk.ana.presses("Dismiss", await talk.ana.answer_to("/docs-agent gaps"))
    assert talk.ana.reads() == ["No open questions here."]
    assert "asked by 1 person" in await talk.ana.answer_to("/docs-agent gaps", "help")
    await talk.ana.presses("Didn't help", helped)
    talk.everything()
    assert "asked by 1 person" in await talk.ana.answer_to("/docs-agent gaps")


async def test_question_without_help_after_its_notice_is_a_gap_again(talk: Talk) -> None:
    answer = await asks(talk)
    await drafts(talk, "Draft a page")
    talk.everything()
    await merges(talk)
    await talk.ana.presses("Didn't help", answer)
    talk.everything()
    assert "asked by 1 person" in await talk.ana.answer_to("/docs-agent gaps")
    await drafts(talk, "Draft a page", answer, pr_link=None)
    assert sum("It is written now" in reply for reply in talk.all_replies()) == 1
    assert "asked by 1 person" in await talk.ana.answer_to("/docs-agent gaps")
    talk.everything()


async def test_mark_on_one_answer_leaves_the_others(talk: Talk) -> None:
    await asks(talk)
    await talk.ana.presses("Didn't help", await asks(talk))
    talk.everything()
    assert "asked by 1 person" in await talk.ana.answer_to("/docs-agent gaps")
