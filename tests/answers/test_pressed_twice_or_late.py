"""Buttons of questions: pressed twice, one after another, or where the question came from elsewhere."""

from __future__ import annotations

from tests.answers.conftest import asks
from tests.defects import known_defect
from tests.talk import Talk
from tests.talk_people import Shown

PERHAPS_A_QUESTION = "Could you tell me where SSO is set up"


async def taken_for_a_task(talk: Talk) -> Shown:
    """Let Ana's question wait as a task, since the hour's only use is spent, and return the note about it."""
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a page on limits", by=talk.ben)
    await talk.ana.says(f"@docs-agent {PERHAPS_A_QUESTION}")
    await talk.time.passes()
    talk.everything()
    [note] = [note for note in talk.slack.state.ephemerals.values() if note["user"] == talk.ana.id]
    return Shown.of(note)


async def test_write_it_instead_starts_a_job_after_just_answer_it(talk: Talk) -> None:
    await talk.ana.presses("Just answer it", await taken_for_a_task(talk))
    await talk.time.passes()
    await talk.ana.presses("Write it instead")
    await talk.time.passes(hours=2)
    talk.everything()
    assert talk.agent_got() == ["Add a page on limits", PERHAPS_A_QUESTION]


@known_defect("A second press of Just answer it says of a withdrawn job that nobody can stop it.")
async def test_second_press_of_just_answer_it_changes_nothing(talk: Talk) -> None:
    note = await taken_for_a_task(talk)
    await talk.ana.presses("Just answer it", note)
    [first] = talk.ana.reads()
    await talk.ana.presses("Just answer it", note)
    assert talk.ana.reads() in ([], [first])
    await talk.time.passes()
    talk.everything()
    assert talk.service.questions == [(PERHAPS_A_QUESTION, None)]


async def test_write_it_instead_sends_the_text_as_it_was_asked(talk: Talk) -> None:
    text = "How do I use Map&lt;String, int&gt; with &amp;lt; and &lt;@U0123&gt;?"
    answer = await asks(talk, text)
    await talk.ana.presses("Write it instead", answer)
    await talk.time.passes()
    talk.everything()
    assert talk.service.questions == [(text, None)]
    assert talk.agent_got() == [text]


async def test_long_question_can_be_drafted(talk: Talk) -> None:
    text = f"How do I {'rotate the very long key of my account ' * 120}?"
    await talk.ana.asks(f"ask {text}")
    await talk.time.passes()
    await talk.ana.presses("Change the docs")
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()
    talk.everything()
    [prompt] = talk.agent_got()
    assert "rotate the very long key of my account" in prompt
