"""The texts of the bot keep the rules of docs/voice.md that a program can see."""

from __future__ import annotations

import re

from bot.slack.client import REFUSAL_BY_CODE
from tests.messages.approval import APPROVED
from tests.messages.functions import literals
from tests.papers import DOCS, codes, rows

EMOJI = re.compile(r":[a-z_]+:")
STIFF = re.compile(
    r"\b(cannot|could not|did not|do not|does not|is not|are not|was not|will not|has not)\b"
)


def test_emoji_stand_for_the_states_of_the_docs() -> None:
    explained = {code for row in rows((DOCS / "voice.md").read_text()) for code in codes(row[0])}
    used = {emoji for text in literals() for emoji in EMOJI.findall(text)}
    # The help names this reaction.
    used.discard(":eyes:")
    assert used - explained == set(), "give each of these emoji a row in the table of docs/voice.md"
    assert explained - used == set(), "docs/voice.md explains emoji that no message has"


def test_emoji_precede_the_words_and_words_are_contracted() -> None:
    later = [text for text in literals() if re.search(rf"[\w.,] {EMOJI.pattern}", text)]
    assert [text for text in later if ":eyes:" not in text and "{everybody}" not in text] == []
    assert [text for text in literals() if STIFF.search(text)] == []


def test_messages_have_no_error_code_of_slack() -> None:
    approved = "\n".join(path.read_text(encoding="utf-8") for path in APPROVED.iterdir())
    assert [code for code in REFUSAL_BY_CODE if "_" in code and code in approved] == []


def test_follow_up_with_a_capital_begins_its_sentence() -> None:
    assert not re.search(
        r"[\w,;] The follow-up", (APPROVED / "jobs.txt").read_text(encoding="utf-8")
    )
