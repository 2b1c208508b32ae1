"""How well the decision does on texts with a known handling, and that the lists hold none of them."""

from __future__ import annotations

import pytest

from bot.intent.folding import fold, tokenize
from bot.intent.lexicon import LIST_NAMES
from bot.intent.own_words import THREAD_WORDS
from bot.intent.phrases import PHRASES
from bot.intent.social_acts import SOCIAL_ACTS
from bot.intent.word_files import read_files, read_lists
from tests.intent.catalogue import VOCABULARY
from tests.intent.words import (
    ALL,
    FILES,
    handle_purely,
    listed_phrases,
    measure,
    read_rows,
    words_of,
)

MAX_LISTED_WORDS = 3
"""A longer text of the files may not stand in the lists: they would answer the test by heart."""


@pytest.mark.parametrize(
    ("file", "paid", "undone", "unanswered", "silent"),
    [
        ("words.json", 2, 1, 2, 2),
        ("words-more.json", 4, 3, 8, 3),
        ("words-unseen.json", 2, 1, 3, 2),
        ("words-unseen-2.json", 2, 1, 3, 2),
        ("words-unseen-3.json", 2, 1, 3, 2),
        ("words-unseen-4.json", 2, 1, 3, 2),
    ],
)
def test_few_texts_are_handled_wrongly(
    file: str, paid: int, undone: int, unanswered: int, silent: int
) -> None:
    rows = read_rows(file)
    count = measure(rows, handle_purely(rows))[ALL]
    assert count.paid <= paid, count.wrong
    assert count.undone <= undone, count.wrong
    assert count.unanswered <= unanswered, count.wrong
    assert count.silent <= silent, count.wrong


@pytest.mark.parametrize("file", ["words.json", "words-more.json"])
def test_few_texts_are_asked_about(file: str) -> None:
    rows = read_rows(file)
    count = measure(rows, handle_purely(rows))[ALL]
    assert count.asked <= 0.08 * count.texts, count.wrong


@pytest.mark.parametrize("file", FILES)
def test_no_measured_text_stands_in_the_lists(file: str) -> None:
    listed = listed_phrases()
    texts = [words_of(row) for row in read_rows(file)]
    assert [text for text in texts if len(text) > MAX_LISTED_WORDS and text in listed] == []


def test_every_list_is_read() -> None:
    assert {*read_lists("lexicon")} == {*LIST_NAMES}
    assert {*read_lists("phrases")} | {"emoji"} == SOCIAL_ACTS


def test_every_own_word_in_the_lists_is_one_of_the_bot() -> None:
    heads = {typed.split()[0] for typed in read_lists("own_words")}
    assert heads <= VOCABULARY.names | THREAD_WORDS


def test_english_has_every_list() -> None:
    english = read_files()["en"]
    assert {*english["lexicon"]} == {*LIST_NAMES}
    for content in read_files().values():
        assert {*content["lexicon"]} <= {*english["lexicon"]}
        assert {*content["phrases"]} <= {*english["phrases"]}


def test_phrase_of_a_language_stands_in_one_list() -> None:
    for code, content in read_files().items():
        names: dict[tuple[str, ...], str] = {}
        for name, phrases in [*content["phrases"].items(), *content["own_words"].items()]:
            for phrase in phrases if name != "connectives" else ():
                words = tokenize(fold(phrase))
                assert names.setdefault(words, name) == name, f"{code}: {phrase}"


def test_whole_text_of_phrases_is_found() -> None:
    assert PHRASES.find_names(("never", "mind")) == {"withdrawals"}
    assert PHRASES.find_names(("ok", "never", "mind")) == {"thanks", "withdrawals"}
    assert PHRASES.find_names(("never", "mind", "the", "zebra")) is None
