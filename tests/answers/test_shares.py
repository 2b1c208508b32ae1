"""One person's questions leave others their answers, their place in the queue, and their say."""

from __future__ import annotations

from tests.answers.conftest import QUESTION
from tests.talk import Talk


async def ask_many(talk: Talk, count: int) -> None:
    """Let Ana ask so many questions, one after the other is answered."""
    for number in range(count):
        await talk.ana.says(f"@docs-agent What is limit {number}?")
        await talk.time.passes()
    talk.everything()


async def test_one_person_leaves_a_share_of_the_assistants_answers(talk: Talk) -> None:
    talk.process.settings["ANSWERS_A_DAY"] = "10"
    await ask_many(talk, 12)
    assert len(talk.service.questions) == 8
    asked = await talk.ben.says(f"@docs-agent {QUESTION}")
    await talk.time.passes()
    assert "Settings" in talk.thread(asked)[-1]
    assert len(talk.service.questions) == 9
    talk.everything()


async def test_few_questions_of_one_person_wait_at_once(talk: Talk) -> None:
    talk.process.settings["ANSWERS"] = "search"
    for number in range(6):
        await talk.ana.types(f"/docs-agent ask What is limit {number}?")
    replies = [str(reply) for reply in talk.ana.reads()]
    assert replies.count(":eyes: Reading the docs…") == 5
    assert replies[-1].startswith(":no_entry: Five questions of yours wait already")
    await talk.time.passes()
    talk.everything()
    assert "Reading" in await talk.ana.answer_to("/docs-agent ask What is limit 7?")
    await talk.time.passes()
    talk.everything()


async def test_gaps_count_people_and_have_pages(talk: Talk) -> None:
    talk.process.settings["ANSWERS"] = "search"  # finds nothing: each question is a gap at once
    for _ in range(3):
        await talk.ana.says(f"@docs-agent {QUESTION}")
        await talk.time.passes()
    await ask_many(talk, 11)
    listed = await talk.ben.answer_to("/docs-agent gaps")
    assert listed.startswith("*12 open questions here*")
    assert QUESTION not in listed
    await talk.ben.presses("Next")
    [page] = talk.ben.reads()
    assert f"“{QUESTION}” · asked by 1 person" in page
    assert "Previous" in page.buttons
    assert "Next" not in page.buttons
    await talk.ben.presses("Previous", page)
    talk.everything()
