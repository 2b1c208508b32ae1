"""The kinds of texts: exact ones, and those learned from examples."""

from __future__ import annotations

from time import thread_time

import pytest

from bot.jobs.model.intents import (
    DEEDS,
    LEARNED,
    Deed,
    Door,
    Intent,
    classify,
    deed_for,
    exact,
    read_texts,
)
from tests.growth import too_slow
from tests.words import measure


def test_most_instructions_and_little_talk_are_sent() -> None:
    sent, _ = measure()
    in_threads = {
        kind: many / every for kind, (many, every) in sent["a reply in a job's thread"].items()
    }
    first = {kind: many / every for kind, (many, every) in sent["a first prompt"].items()}
    assert in_threads[Intent.INSTRUCTION] >= 0.96
    assert in_threads[Intent.TALK] <= 0.16
    assert first[Intent.INSTRUCTION] >= 0.96
    assert first[Intent.QUESTION] <= 0.16


def test_texts_and_kinds_are_complete() -> None:
    texts = read_texts()
    assert {*texts.exact.values()} == {*Intent} - {*LEARNED, Intent.PING, Intent.SLIP}
    assert {kind for _, kind in texts.examples} == {*LEARNED}
    folded = [text.casefold() for text, _ in texts.examples]
    assert len(folded) == len({*folded}) > 2_000
    assert [text for text, _ in texts.examples if exact(text)] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("STOP!!", Intent.STOP),
        ("`stop`", Intent.STOP),
        ("Please cancel job #12", Intent.STOP),
        ("Is it ready?", Intent.STATUS),
        ("try again please", Intent.RETRY),
        ("close the PR", Intent.MERGE),
        ("Thanks! Merged 🎉", Intent.REVIEWED),
        ("ok, great, thank you so much!", Intent.THANKS),
        ("👍🏽", Intent.THANKS),
        (":+1::skin-tone-3: :tada:", Intent.THANKS),
        ("thank you but no", Intent.NO),
        ("nope, that is wrong", Intent.NO),
        ("👎", Intent.NO),
        ("nice 👎", Intent.NO),
        ("??", Intent.NO),
        ("hello?", Intent.GREETING),
        ("🇩🇪", Intent.GREETING),
        ("can you ping Chika to review", Intent.PING),
        ("merged?", None),
        ("stop using passive voice", None),
        ("thanks page should redirect to home", None),
        ("status codes are missing", None),
        ("no tables", None),
        ("", None),
        ("\u200b", None),
    ],
)
def test_exact_kind_needs_the_whole_text(text: str, kind: Intent | None) -> None:
    assert exact(text) is kind


@pytest.mark.parametrize("door", Door)
def test_nothing_negative_is_thanked(door: Door) -> None:
    negative = [
        " ".join(exact_text) for exact_text, kind in read_texts().exact.items() if kind is Intent.NO
    ]
    assert {
        DEEDS[door][classify(f"{text} {more}", door)]
        for text in negative
        for more in ("", "!", "👍")
    } == {Deed.ASK}


@pytest.mark.parametrize(
    ("door", "retries", "deed"),
    [
        (Door.REPLY, True, Deed.RUN),
        (Door.REPLY, False, Deed.SEND),
        (Door.ADDRESSED, False, Deed.SEND),
        (Door.FIRST, False, Deed.RUN),
    ],
)
def test_retry_runs_a_failed_job_again(door: Door, retries: bool, deed: Deed) -> None:
    assert deed_for(Intent.RETRY, door, retries=retries) is deed


@pytest.mark.parametrize(
    "part", ["stop ", "?", "(", " ", ":a", "thanks ", "who ", "can you ", "a.", "👍", "@a "]
)
def test_long_text_is_quickly_an_instruction(part: str) -> None:
    def seconds(text: str) -> float:
        began = thread_time()
        for door in Door:
            classify(text, door)
        return thread_time() - began

    assert classify(part * 20_000, Door.REPLY) is Intent.INSTRUCTION
    assert too_slow(seconds, lambda length: (part * length)[:length], floor=0.02) is None
