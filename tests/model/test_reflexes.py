"""Which whole texts are no instruction, and that everything else is a prompt."""

from __future__ import annotations

from time import perf_counter

import pytest

from bot.model.reflexes import LONGEST, Reflex, taken_for
from tests.model.reflex_texts import TEXTS


@pytest.mark.parametrize("kind", [each for each in TEXTS if each != "command"])
def test_each_text_is_what_the_table_says(kind: str) -> None:
    """Commands are known by the words of the bot's commands; see tests/commands/test_reflexes.py."""
    expected = None if kind == "prompt" else Reflex(kind)
    found = {text: taken_for(text) for text in TEXTS[kind]}
    assert {text: taken for text, taken in found.items() if taken is not expected} == {}


def test_the_table_has_each_kind_and_each_text_once() -> None:
    texts = [text for texts in TEXTS.values() for text in texts]
    assert {*TEXTS} == {*Reflex, "prompt"}
    assert len(texts) == len(set(texts)) > 600


@pytest.mark.parametrize(
    "text", ["STOP!!", "*stop*", "`stop`", "  stop\n", "please  stop", "Stop :octagonal_sign:"]
)
def test_capitals_marks_and_emoji_do_not_count(text: str) -> None:
    assert taken_for(text) is Reflex.STOP


@pytest.mark.parametrize("text", ["👍", "👍🏽", "❤️", ":+1::skin-tone-3:", ":tada: :tada:", "🇩🇪", ":-)"])
def test_emoji_alone_are_thanks(text: str) -> None:
    assert taken_for(text) is Reflex.THANKS


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Thanks! Is it done?", Reflex.STATUS),
        ("Who owns webhooks? I have no idea.", Reflex.QUESTION),
        ("Looks good. Merged!", Reflex.REVIEWED),
        ("Hi. Stop.", Reflex.STOP),
        ("Why is it POST? It should be PUT.", None),
        ("Thanks. Add a table.", None),
        ("Merged! Now translate it.", None),
        ("Who can use it? That is missing.", None),
    ],
)
def test_several_sentences_are_a_prompt_if_one_has_something_to_change(
    text: str, kind: Reflex | None
) -> None:
    assert taken_for(text) is kind


@pytest.mark.parametrize("text", ["", "   ", "\n", "更新してください", "s/colour/color/"])
def test_nothing_and_a_sentence_without_blanks_are_no_single_word(text: str) -> None:
    assert taken_for(text) is None


@pytest.mark.parametrize(
    "part", ["stop ", "?", "(", " ", ":a", "thanks for ", "is it ", "can you ", "a.", "👍"]
)
def test_a_long_text_is_a_prompt_and_takes_no_time(part: str) -> None:
    began = perf_counter()
    assert taken_for(part * 20_000) is None
    taken_for((part * LONGEST)[:LONGEST])
    assert perf_counter() - began < 1


@pytest.mark.parametrize(
    "text",
    [
        "Füge einen Schnellstart für das Python SDK hinzu",
        "Bitte die Seite über Webhooks kürzer machen",
        "Ajoute une page sur les webhooks",
        "Agrega una guía rápida para el SDK de Python",
    ],
)
def test_what_is_said_in_another_language_goes_to_the_agent(text: str) -> None:
    assert taken_for(text) is None
