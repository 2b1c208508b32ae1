"""Texts that nobody foresees: none raises, none takes long, and its part stands in it."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.intent.decision import decide
from bot.intent.kinds import Place
from bot.intent.lexicon import lexicon_of
from bot.intent.utterance import MAX_CLAUSES, MAX_READ_CHARACTERS, prepare
from tests.growth import SIGNS, texts_of, too_slow
from tests.intent.catalogue import MENTION, VOCABULARY
from tests.intent.words import FILES, read_rows

WORDS = sorted({word for file in FILES for row in read_rows(file) for word in row["text"].split()})
FLOOR = 0.05
"""Seconds. A decision that is quadratic takes a second and more for 40,000 characters."""
PARTS = (
    *SIGNS,
    MENTION,
    "and ",
    "stop ",
    "please ",
    "how ",
    "x not y ",
    "in the page ",
    "追加して",
    "İ",
    "ﷺ",
)

texts = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from([*WORDS, *SIGNS]), max_size=60).map(" ".join),
)
places = st.sampled_from(list(Place))


@given(texts, places, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_every_text_has_a_meaning(
    text: str, place: Place, is_mention: bool, has_files: bool, is_app: bool, can_answer: bool
) -> None:
    decision = decide(
        text,
        place,
        VOCABULARY,
        mention=MENTION if is_mention else "",
        has_files=has_files,
        is_app=is_app,
        can_answer=can_answer,
    )
    assert decision.part in text
    again = decide(text, place, VOCABULARY, mention=MENTION if is_mention else "")
    assert decision.is_understood == again.is_understood


@given(texts)
def test_what_is_read_of_a_text_is_bounded(text: str) -> None:
    lexicon = lexicon_of(("en",))
    long = (text or "a") * 5_000
    utterance = prepare(long, Place.JOB, mention=MENTION, has_files=False, lexicon=lexicon)
    assert len(utterance.text) <= MAX_READ_CHARACTERS
    assert len(list(utterance.clauses)) <= MAX_CLAUSES


def seconds_at(place: Place) -> Callable[[str], float]:
    def seconds(text: str) -> float:
        began = thread_time()
        decide(f"{MENTION} {text}", place, VOCABULARY, mention=MENTION)
        return thread_time() - began

    return seconds


@pytest.mark.slow
@pytest.mark.parametrize("place", [Place.CHANNEL, Place.JOB])
def test_time_grows_no_faster_than_the_text(place: Place) -> None:
    for text_of in texts_of(PARTS):
        assert (slow := too_slow(seconds_at(place), text_of, FLOOR)) is None, slow
