"""The bot's messages are those of the files in ``approved``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import CodeType, FrameType

import pytest

from tests.messages.approval import APPROVED, FAMILIES, render
from tests.messages.functions import literals, public_functions

ANEW = "Read the difference. `make approve` writes it into tests/messages/approved."


@pytest.mark.parametrize("family", FAMILIES)
def test_messages_are_as_approved(family: str) -> None:
    assert render(family) == (APPROVED / f"{family}.txt").read_text(encoding="utf-8"), ANEW


def test_each_approved_file_has_its_family() -> None:
    assert sorted(path.stem for path in APPROVED.iterdir()) == sorted(FAMILIES), ANEW


def test_samples_call_every_public_function_of_messages() -> None:
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for family in FAMILIES:
            render(family)
    finally:
        sys.setprofile(before)
    missing = [
        name for name, function in public_functions().items() if function.__code__ not in called
    ]
    assert missing == [], (
        "give a family in tests/messages/families a sample of each, then run `make approve`"
    )


def sentences() -> Iterator[str]:
    """Yield each text of three words or more in the modules of messages, without docstrings."""
    for piece in (piece for text in literals() for piece in re.split(r"\{[^}]*\}|\n", text)):
        if len(re.findall(r"\b[a-z]{2,}\b", piece)) > 1 < piece.count(" "):
            yield piece.strip()


def test_every_sentence_of_messages_is_approved() -> None:
    approved = "\n".join(path.read_text(encoding="utf-8") for path in APPROVED.iterdir())
    missing = [piece for piece in dict.fromkeys(sentences()) if piece not in approved]
    assert missing == [], (
        "give a family in tests/messages/families a sample that shows these words, "
        "then run `make approve`"
    )
