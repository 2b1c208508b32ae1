"""The phrase book: the phrases of which a whole text may consist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.intent.folding import Phrase, fold, tokenize
from bot.intent.word_files import read_lists

CONNECTIVES = "connectives"
"""The list of phrases between others, which mean nothing alone."""
MAX_OPEN_WORDS = 10
"""The words for which ``…`` may stand."""
_OPTION_PATTERN = re.compile(r"\{\w+\}")


@dataclass(frozen=True, slots=True)
class OpenPhrase:
    """A phrase with ``…``: its parts, with any words between them."""

    parts: Sequence[Phrase]
    name: str
    is_open_at_end: bool

    @classmethod
    def parse(cls, phrase: str, name: str) -> OpenPhrase:
        """Return the phrase of a text with ``…``."""
        # Folding would turn … into three full stops.
        parts = [tokenize(fold(part)) for part in phrase.split("…")]
        return cls([part for part in parts if part], name, is_open_at_end=not parts[-1])

    def matches(self, tokens: Phrase) -> bool:
        """Return whether a whole text is the phrase."""
        first, *others = self.parts
        if tokens[: len(first)] != first:
            return False
        end = len(first)
        for part in others:
            start = _find(part, tokens, end)
            if start is None:
                return False
            end = start + len(part)
        return end == len(tokens) or (self.is_open_at_end and len(tokens) - end <= MAX_OPEN_WORDS)


def _find(part: Phrase, tokens: Phrase, start: int) -> int | None:
    """Return the place of a part in a text, a few words after a place at most."""
    for place in range(start, start + MAX_OPEN_WORDS + 1):
        if tokens[place : place + len(part)] == part:
            return place
    return None


class PhraseBook:
    """Phrases, each with the name of its list.

    An open phrase contains ``…``, which stands for any few words: ``how far is …``. An option such
    as ``{job}`` is for readers alone: options are taken out of a text before.
    """

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        self._names: dict[Phrase, str] = {}
        self._open: dict[str, list[OpenPhrase]] = {}
        # Connectives come first, so that a phrase that is more than that replaces them.
        for name in sorted(lists, key=lambda name: name != CONNECTIVES):
            for phrase in lists[name]:
                self._add(phrase, name)
        self._longest = max(map(len, self._names))

    def _add(self, phrase: str, name: str) -> None:
        visible = _OPTION_PATTERN.sub(" ", phrase)
        if "…" in visible:
            opened = OpenPhrase.parse(visible, name)
            self._open.setdefault(opened.parts[0][0], []).append(opened)
        else:
            self._names[tokenize(fold(visible))] = name

    def find_open(self, folded: str) -> str | None:
        """Return the name of the open phrase that matches a whole text; None if none matches."""
        tokens = tokenize(folded)
        for phrase in self._open.get(tokens[0], ()) if tokens else ():
            if phrase.matches(tokens):
                return phrase.name
        return None

    def find_names(self, tokens: Phrase) -> set[str] | None:
        """Return the names of the phrases that make up a text; None if other words remain."""
        pieces = self.find_pieces(tokens)
        return None if pieces is None else {name for _, name in pieces}

    def find_pieces(self, tokens: Phrase) -> list[tuple[Phrase, str]] | None:
        """Return the phrases that make up a text, with their names; None if other words remain.

        An emoji without a phrase of its own has the name ``emoji``.
        """
        pieces = []
        start = 0
        while start < len(tokens):
            end = start + max(self._measure_phrase(tokens, start), 1)
            phrase = tokens[start:end]
            if phrase not in self._names and phrase[0][0].isalnum():
                return None
            pieces.append((phrase, self._names.get(phrase, "emoji")))
            start = end
        return pieces

    def _measure_phrase(self, tokens: Phrase, start: int) -> int:
        """Return the number of words of the longest phrase at a position; 0 if there is none."""
        for length in range(self._longest, 0, -1):
            if tokens[start : start + length] in self._names:
                return length
        return 0


PHRASES = PhraseBook({**read_lists("phrases"), **read_lists("own_words")})
"""Phrases by the names of their lists, and phrases of own words by the words to type."""
