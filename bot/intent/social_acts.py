"""Thanks, greetings, disapproval and empty phrases as whole texts (step 2)."""

from __future__ import annotations

from bot.intent.folding import tokenize
from bot.intent.kinds import Kind
from bot.intent.phrases import CONNECTIVES, PHRASES
from bot.intent.utterance import Utterance, skip_fillers

SOCIAL_ACTS = frozenset(
    {
        "thanks",
        "emoji",
        "greetings",
        "disapproval",
        "empty_phrases",
        "asides",
        "withdrawals",
        CONNECTIVES,
    }
)
"""The names of the lists in ``[phrases]``."""
MAX_INTERJECTION_WORDS = 2
"""A longer text of connectives alone is a sentence: "are you it"."""


def match_social_act(utterance: Utterance) -> Kind | None:
    """Return the kind of a text that only such phrases make up: "ok, thanks!", "wrong page"."""
    names = find_acts(utterance)
    if names is None or not names <= SOCIAL_ACTS:
        return None
    if names == {CONNECTIVES} and len(tokenize(utterance.text)) > MAX_INTERJECTION_WORDS:
        return None
    if "empty_phrases" in names:
        return Kind.UNCLEAR
    if "greetings" in names:
        return Kind.GREETING
    if names and utterance.text.endswith("?"):
        return None
    if "disapproval" in names:
        return Kind.DISAPPROVAL
    if names & {"thanks", "emoji"}:
        return Kind.THANKS
    if names & {"asides", "withdrawals"}:
        return Kind.TALK
    return Kind.UNCLEAR


def find_acts(utterance: Utterance) -> set[str] | None:
    """Return the names of the phrases that make up a text; None if other words remain."""
    start = skip_fillers(utterance.text, utterance.lexicon)
    opened = PHRASES.find_open(start)
    if opened in SOCIAL_ACTS:
        return {opened}
    return PHRASES.find_names(tokenize(utterance.text))


def is_thanks(folded: str) -> bool:
    """Return whether a whole folded text is thanks or praise: "nice"."""
    names = PHRASES.find_names(tokenize(folded))
    return names is not None and "thanks" in names
