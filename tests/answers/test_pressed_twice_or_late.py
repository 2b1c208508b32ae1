"""Buttons of questions: pressed twice, one after another, or where the question came from elsewhere."""

from __future__ import annotations

from tests.answers.conftest import asks
from tests.talk import Talk
from tests.talk_people import Shown

FACT = "the free plan has 100 requests a minute now"


async def taken_for_a_task(talk: Talk) -> Shown:
    """Let Ana's fact wait as a task, since the hour's only use is spent, and return the note about it."""
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a page on limits", by=talk.ben)
    await talk.ana.says(f"@docs-agent {FACT}")
    await talk.time.passes()
    talk.everything()
    [note] = [note for note in talk.slack.state.ephemerals.values() if note["user"] == talk.ana.id]
    return Shown.of(note)


async def test_second_press_of_just_answer_it_changes_nothing(talk: Talk) -> None:
    note = await taken_for_a_task(talk)
    await talk.ana.presses("Just answer it", note)
    [first] = talk.ana.reads()
    await talk.ana.presses("Just answer it", note)
    assert talk.ana.reads() in ([], [first])
    await talk.time.passes()
    talk.everything()
    assert talk.service.questions == [(FACT, None)]


async def test_draft_has_the_question_as_it_was_asked(talk: Talk) -> None:
    text = "How do I use Map&lt;String, int&gt; with &amp;lt; and &lt;@U0123&gt;?"
    await talk.ana.presses("Draft a page", await asks(talk, text))
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()
    talk.everything()
    assert talk.service.questions == [(text, None)]
    [prompt] = talk.agent_got()
    assert prompt.startswith(f"Readers ask:\n> {text}\n\n")


async def test_long_question_can_be_drafted(talk: Talk) -> None:
    text = f"How do I {'rotate the very long key of my account ' * 120}?"
    await talk.ana.asks(f"ask {text}")
    await talk.time.passes()
    await talk.ana.presses("Draft a page")
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()
    talk.everything()
    [prompt] = talk.agent_got()
    assert "rotate the very long key of my account" in prompt
