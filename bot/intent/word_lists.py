"""Lists of words and phrases that are looked for in a text, in time that grows as the text does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from bot.intent.folding import fold

UNSPACED = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
"""Scripts without blanks between words, so that a word may begin and end anywhere."""
_TOKEN = re.compile(r"\w{1,2}'(?=\w)|\w+(?:'\w+)*|[^\w\s]")
"""A word, the short word before an apostrophe ("l'", "i'"), or a sign."""
_MAX_PHRASE_TOKENS = 12
_MAX_STEM = 20
"""Characters of the longest ``deploy*``."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


@lru_cache(maxsize=512)
def _tokens(text: str) -> tuple[_Token, ...]:
    return tuple(_Token(found[0], *found.span()) for found in _TOKEN.finditer(text))


@lru_cache(maxsize=512)
def _first_tokens(text: str) -> tuple[_Token, ...]:
    found = islice(_TOKEN.finditer(text), _MAX_PHRASE_TOKENS)
    return tuple(_Token(token[0], *token.span()) for token in found)


@lru_cache(maxsize=512)
def _distinct_words(text: str) -> frozenset[str]:
    return frozenset(token.text for token in _tokens(text))


def _beginnings(word: str) -> Iterator[str]:
    return (word[:end] for end in range(1, min(len(word), _MAX_STEM) + 1))


@dataclass(slots=True)
class _Node:
    """A place in the tree of phrases."""

    is_end: bool = False
    """A phrase ends here."""
    words: dict[str, _Node] = field(default_factory=dict)
    """The places after each word that may follow."""
    stems: set[str] = field(default_factory=set)
    """The beginnings of words with which a phrase may end."""

    def has_stem(self, word: str) -> bool:
        """Return whether a word begins with one of the stems."""
        return bool(self.stems) and any(stem in self.stems for stem in _beginnings(word))


class WordList:
    """The words and phrases of one list in one language.

    ``deploy*`` stands for any word that begins so. ``joins_hyphens``: "cool-down" is one word, in
    which there is no "cool".
    """

    def __init__(self, phrases: Iterable[str], *, joins_hyphens: bool) -> None:
        self._joins_hyphens = joins_hyphens
        self._root = _Node()
        folded = sorted({fold(phrase) for phrase in phrases}, key=len, reverse=True)
        self._unspaced = [phrase for phrase in folded if UNSPACED.search(phrase)]
        for phrase in folded:
            if not UNSPACED.search(phrase):
                self._add(phrase)
        self._first_words = frozenset(self._root.words)

    def _add(self, phrase: str) -> None:
        node = self._root
        *words, last = [token.text for token in _tokens(phrase.removesuffix("*"))]
        for word in words:
            node = node.words.setdefault(word, _Node())
        if phrase.endswith("*"):
            node.stems.add(last)
        else:
            node.words.setdefault(last, _Node()).is_end = True

    def match(self, text: str) -> str:
        """Return the longest phrase at the beginning of a text; "" if there is none."""
        for phrase in self._unspaced:
            if text.startswith(phrase):
                return phrase
        tokens = _first_tokens(text)
        if not tokens or tokens[0].start > 0:
            return ""
        if tokens[0].text not in self._root.words and not self._root.has_stem(tokens[0].text):
            return ""
        return text[: self._end_at(tokens, 0)]

    def search(self, text: str) -> bool:
        """Return whether a text contains a phrase."""
        if any(phrase in text for phrase in self._unspaced):
            return True
        if not self._root.stems and self._first_words.isdisjoint(_distinct_words(text)):
            return False
        return any(True for _ in self._spaced_spans(text))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of the longest phrase at each place of a text."""
        for phrase in self._unspaced:
            start = text.find(phrase)
            if start >= 0:
                yield start, start + len(phrase)
        if self._root.stems or not self._first_words.isdisjoint(_distinct_words(text)):
            yield from self._spaced_spans(text)

    def _spaced_spans(self, text: str) -> Iterator[tuple[int, int]]:
        tokens = _tokens(text)
        root = self._root
        for at, token in enumerate(tokens):
            if token.text not in root.words and not root.has_stem(token.text):
                continue
            end = self._end_at(tokens, at)
            if end > 0:
                yield token.start, end

    def _end_at(self, tokens: Sequence[_Token], start: int) -> int:
        """Return the end of the longest phrase that begins with a token; 0 if there is none."""
        if self._joins_hyphens and _is_joined(tokens, start):
            return 0
        longest = 0
        node: _Node | None = self._root
        place = start
        while node is not None and place < len(tokens):
            word = tokens[place].text
            place += 1
            if node.has_stem(word):
                longest = max(longest, self._end_of(tokens, place))
            node = node.words.get(word)
            if node is not None and node.is_end:
                longest = max(longest, self._end_of(tokens, place))
        return longest

    def _end_of(self, tokens: Sequence[_Token], place: int) -> int:
        """Return the end of the phrase before a place; 0 if a hyphen joins more to it."""
        if self._joins_hyphens and _is_joined(tokens, place, after=True):
            return 0
        return tokens[place - 1].end


def _is_joined(tokens: Sequence[_Token], at: int, *, after: bool = False) -> bool:
    """Return whether a hyphen joins the words before and after a place: "cool-down"."""
    first = at if after else at - 1
    if not 1 <= first < len(tokens) - 1 or tokens[first].text != "-":
        return False
    before, hyphen, following = tokens[first - 1 : first + 2]
    return before.end == hyphen.start and hyphen.end == following.start


class Words:
    """The words of one list, in the languages of a text."""

    def __init__(self, lists: Iterable[WordList]) -> None:
        self._lists = tuple(lists)

    def match(self, text: str) -> str:
        """Return the longest phrase at the beginning of a text; "" if there is none."""
        longest = ""
        for words in self._lists:
            phrase = words.match(text)
            if len(phrase) > len(longest):
                longest = phrase
        return longest

    def opens(self, text: str) -> bool:
        """Return whether a text begins with a phrase."""
        return self.match(text) != ""

    def search(self, text: str) -> bool:
        """Return whether a text contains a phrase."""
        return any(words.search(text) for words in self._lists)

    def is_whole(self, text: str) -> bool:
        """Return whether a whole text is a phrase."""
        return text != "" and self.match(text) == text

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of the longest phrase at each place of a text."""
        for words in self._lists:
            yield from words.spans(text)

    def find_ending(self, text: str) -> int | None:
        """Return the start of the phrase at the end of a text; None if there is none."""
        return next((start for start, end in self.spans(text) if end == len(text)), None)
