"""The mechanical rules of ``docs/voice.md``, over every text that the bot says."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from bot.messages.problems import Spent
from tests import texts
from tests.papers import DOCS, codes, rows

SAID = [text for _, _, said in texts.by_module() for text in said]
STATES = {code for row in rows((DOCS / "voice.md").read_text("utf-8")) for code in codes(row[0])}
_EMOJI = re.compile(r":[a-z0-9_+-]*[a-z][a-z0-9_+-]*:")
_PICTURE = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]")
_STIFF = re.compile(r"\b(?:cannot|(?:do|does|did|is|are|was|were|has|have|could|will|would|should) not)\b")


def test_the_states_stand_in_the_page_about_the_voice() -> None:
    assert {":memo:", ":no_entry:"} <= STATES


def _broken(rule: Callable[[str], object]) -> list[str]:
    return [text for text in SAID if rule(text)]


def test_no_space_stands_before_a_percent_sign() -> None:
    assert _broken(lambda text: re.search(r"[\d}]\s+%", text)) == []


def test_an_emoji_shows_a_state_before_the_first_word() -> None:
    assert _broken(_PICTURE.search) == []
    assert _broken(lambda text: set(_emoji(text)) - STATES) == []
    assert _broken(lambda text: _emoji(text) and not re.match(r"(?:\{…\} ?)?:", text)) == []


def _emoji(text: str) -> list[str]:
    """Return the emoji of a text; the help names the reaction to a reply, which is none of its own."""
    return [] if "gets :eyes:" in text else _EMOJI.findall(re.sub("`[^`]*`", "", text))


def test_texts_are_written_as_people_speak() -> None:
    assert _broken(_STIFF.search) == []
    assert _broken(lambda text: "!" in re.sub(r"`[^`]*`", "", text)) == []


def test_a_limit_is_named_only_where_some_of_it_is_spent_or_explained() -> None:
    """What else names the hourly limit shows it, or waits for it."""
    spent = {text for text in SAID if re.search(r"\b(?:was|been|is) spent\b", text)}
    assert spent == {Spent.YES.value, Spent.PERHAPS.value}
    assert Spent.NO.value == ""


@pytest.mark.parametrize(
    "text",
    [
        "Guests can't start jobs. Ask a teammate to send this for you.",
        ":grey_question: *Unconfirmed* (may or may not have started)",
        ":ghost: *Lost track*",
        "Dismiss",
        "*No longer read*",
        "I don't know the time zone {…}. Try `Europe/Berlin`.",
    ],
)
def test_a_text_stands_as_it_was_agreed(text: str) -> None:
    assert text in SAID


@pytest.mark.parametrize(
    "part",
    [
        "I won't resend it, so the work isn't done twice.",
        "Check the repository for a new pull request, then choose.",
        "Tell me what to change in the docs, and I'll open a pull request.",
        "*Stopped checking after {…}*",
    ],
)
def test_a_sentence_stands_as_it_was_agreed(part: str) -> None:
    assert any(part in said for said in SAID)
