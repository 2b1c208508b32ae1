"""Answers of the assistant that answer nothing."""

from __future__ import annotations

import pytest

from tests.answers.conftest import QUESTION, asks
from tests.services import answer_stream
from tests.talk import Talk

NOTHING = "I could not find anything about that in the documentation."


async def test_question_without_an_answer_is_a_gap_without_a_press(talk: Talk) -> None:
    talk.service.answer = answer_stream(NOTHING)
    answer = await asks(talk)
    assert NOTHING in answer.blocks
    assert "I'll tell you when it's written" in answer.blocks
    assert QUESTION in await talk.ben.answer_to("/docs-agent gaps")
    talk.everything()


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("Press *Rotate*.", [("API keys", "https://docs.example/keys")]),
        ("See [the guide](/guides/keys).", []),
        ("Which kind of key do you mean?", []),
    ],
)
async def test_answer_with_a_source_or_a_link_or_a_question_back_is_no_gap(
    talk: Talk, text: str, sources: list[tuple[str, str]]
) -> None:
    talk.service.answer = answer_stream(text, *sources)
    await asks(talk)
    assert await talk.ben.answer_to("/docs-agent gaps") == "No open questions here."
    talk.everything()
