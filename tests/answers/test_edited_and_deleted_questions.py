"""Questions whose message is edited, deleted or missed."""

from __future__ import annotations

from tests.answers.conftest import QUESTION
from tests.answers.test_digests import next_digest
from tests.talk import Talk

INSTRUCTION = "Add a page on how to rotate an API key"


async def test_deleted_question_is_in_no_list(talk: Talk) -> None:
    talk.process.settings["ANSWERS"] = "search"  # finds nothing: the question is a gap at once
    asked = await talk.ana.says("@docs-agent How do I give Globex Corp its discount?")
    await talk.time.passes()
    talk.everything()
    await talk.ana.deletes(asked)
    await talk.time.passes()
    talk.opens_channel("help")
    assert "Globex" not in await talk.ben.answer_to("/docs-agent gaps")
    assert "Globex" not in await next_digest(talk, "help")


async def test_edited_question_is_answered_as_edited(talk: Talk) -> None:
    asked = await talk.ana.says("@docs-agent How do I rotate an AIP key?")
    await talk.time.passes(2)
    await talk.ana.edits(asked, f"@docs-agent {QUESTION}")
    await talk.time.passes(20)
    assert [text for text, _ in talk.service.questions][-1] == QUESTION
    talk.everything()


async def test_question_edited_to_an_instruction_starts_a_job(talk: Talk) -> None:
    asked = await talk.ana.says(f"@docs-agent {QUESTION}")
    await talk.time.passes(10)
    await talk.ana.edits(asked, f"@docs-agent {INSTRUCTION}")
    await talk.time.passes(20)
    assert talk.agent_got() == [INSTRUCTION]
    talk.everything()


async def test_waiting_instruction_edited_to_a_question_is_answered(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a page on limits", by=talk.ben)
    asked = await talk.ana.says(f"@docs-agent {INSTRUCTION}")
    await talk.time.passes(10)
    await talk.ana.edits(asked, f"@docs-agent {QUESTION}")
    await talk.time.passes(20)
    assert talk.service.questions == [(QUESTION, None)]
    assert "Withdrawn" in talk.job(2)
    await talk.time.passes(hours=2)
    assert talk.agent_got() == ["Add a page on limits"]
    talk.everything()


async def test_question_missed_in_an_outage_is_answered(talk: Talk) -> None:
    asked = await talk.ana.says(f"@docs-agent {QUESTION}")
    await talk.time.passes()
    talk.slack.line.drops_events = True
    await talk.ben.replies("@docs-agent How often should I do that?", asked)
    talk.slack.line.drops_events = False
    talk.process.dies()
    await talk.time.passes(minutes=10)
    await talk.process.starts()
    await talk.time.passes(minutes=10)
    talk.everything()
    assert talk.service.questions == [(QUESTION, None), ("How often should I do that?", "talk-1")]


async def test_assistant_is_asked_again_once_after_a_kill(talk: Talk) -> None:
    talk.service.hangs("answer")
    asked = await talk.ana.says(f"@docs-agent {QUESTION}")
    await talk.time.passes(3)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=5)
    assert talk.service.calls.count("answer") == 2
    assert len(talk.thread(asked)) == 1
    talk.everything()
