"""The languages that the bot understands, and the languages of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bot.intent.folding import fold, tokenize
from bot.intent.word_files import read_files
from bot.intent.word_lists import UNSPACED

DEFAULT_LANGUAGE = "en"
"""The language of a text without words: its signs and numbers read alike."""
MAX_JUDGED_WORDS = 60
"""A longer text is judged by its beginning."""
MAX_JUDGED_CHARACTERS = 400
MAX_TOPIC_WORDS = 3
"""A longer text is no topic, which reads alike in all languages: "terraform provider"."""
FOREIGN_WEIGHT = -2
"""Of a word with letters that a language lacks."""
MIN_SHARE = 0.4
"""Of a text's words, the share that its language must have."""
MIN_OWN_WORDS = 2
"""The words that a second language of a text must have and the likeliest one lacks."""
MIN_RIVAL = 0.5
"""Of the likeliest language's weight, the share that a second one must have."""
MAX_STEM = 20
"""Characters of the longest beginning that a list writes as ``deploy*``."""
_RANGE_PATTERN = re.compile(r".-.|.")
_LETTERS_PATTERN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)?")


@dataclass(frozen=True)
class Language:
    """A language of the word lists."""

    code: str
    name: str
    letters: Sequence[tuple[str, str]]
    """Ranges of its letters, each with its first and last one."""
    words: frozenset[str]
    stems: frozenset[str]
    """The beginnings that its lists write as ``deploy*``."""
    common: frozenset[str]
    """Words that are frequent in it."""
    endings: Sequence[str]
    """Endings of words: "deletes" is known by "delete"."""
    is_unspaced: bool
    """It has no blanks between words."""

    def has_word(self, word: str) -> bool:
        """Return whether its lists have a word, perhaps without its ending."""
        if word in self.words or any(stem in self.stems for stem in _list_beginnings(word)):
            return True
        return any(self._has_stem(word, ending) for ending in self.endings)

    def _has_stem(self, word: str, ending: str) -> bool:
        """Return whether a word is known without an ending: "deleting" by "delete"."""
        stem = word.removesuffix(ending)
        return stem != word and (stem in self.words or f"{stem}e" in self.words)

    def has_letters(self, word: str) -> bool:
        return all(any(first <= letter <= last for first, last in self.letters) for letter in word)

    def weigh(self, word: str) -> int:
        """Return how much a word speaks for the language: a common one twice."""
        if not self.has_letters(word):
            return FOREIGN_WEIGHT
        return self.has_word(word) + (word in self.common)


@dataclass(frozen=True, slots=True)
class Reading:
    """The languages of a text."""

    languages: tuple[str, ...]
    """Their codes, the likeliest first."""
    is_understood: bool = True


@dataclass(frozen=True, slots=True)
class _Word:
    """A word by languages: their codes."""

    weights: Mapping[str, int]
    known_to: frozenset[str]
    is_foreign: bool
    """It has letters of no language."""


def _list_beginnings(word: str) -> Iterator[str]:
    return (word[:end] for end in range(3, min(len(word), MAX_STEM)))


def _load() -> Sequence[Language]:
    return [_read_language(code, content) for code, content in read_files().items()]


def _read_language(code: str, content: Mapping[str, Any]) -> Language:
    about = content["language"]
    words = set(_list_words(content))
    return Language(
        code=code,
        name=about["name"],
        letters=[("a", "z"), ("0", "9"), ("'", "."), *_read_ranges(about["letters"])],
        words=frozenset(word for word in words if not word.endswith("*")),
        stems=frozenset(word.removesuffix("*") for word in words if word.endswith("*")),
        common=frozenset(map(fold, about.get("common", ()))),
        endings=about.get("endings", ()),
        is_unspaced=UNSPACED.search(about["letters"]) is not None,
    )


def _read_ranges(letters: str) -> Iterator[tuple[str, str]]:
    """Yield the ranges of letters, which read like ``äöü`` or ``ぁ-ヿ``."""
    for found in _RANGE_PATTERN.finditer(letters):
        yield found[0][0], found[0][-1]


def _list_words(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the single words of all lists of a language."""
    about = content["language"]
    lists = [about.get("common", ()), about.get("words", ())]
    for section in ("lexicon", "phrases", "own_words"):
        lists.extend(content[section].values())
    for phrases in lists:
        for phrase in phrases:
            yield from fold(phrase).split()


LANGUAGES = _load()
_TERMS = frozenset(read_files()[DEFAULT_LANGUAGE]["language"]["terms"])
"""Words of the field, which texts in all languages contain."""


def read_languages(folded: str) -> Reading:
    """Return the languages of a folded text, and whether it is in one of them at all.

    A text of few words may be a topic, which reads alike in all languages: "terraform provider".
    """
    judged = [word for word in tokenize(folded)[:MAX_JUDGED_WORDS] if _is_judged(word)]
    unspaced = "".join(UNSPACED.findall(folded[:MAX_JUDGED_CHARACTERS]))
    if len(unspaced) > len(judged):
        return Reading((*_find_unspaced_languages(unspaced), DEFAULT_LANGUAGE))
    if not judged:
        return Reading((DEFAULT_LANGUAGE,))
    words = [_look_up(word) for word in judged]
    languages = tuple(_find_likely_languages(words))
    known = sum(languages[0] in word.known_to for word in words)
    foreign = sum(word.is_foreign for word in words)
    is_named = known > 0 or len(words) == 1 or "?" not in folded
    is_topic = len(words) <= MAX_TOPIC_WORDS and not foreign and is_named
    return Reading(languages, is_topic or known - foreign >= MIN_SHARE * len(words))


def _is_judged(word: str) -> bool:
    """Return whether a word belongs to a language: not a term, a number or an address."""
    return _LETTERS_PATTERN.fullmatch(word) is not None and word not in _TERMS


@lru_cache(maxsize=4_096)
def _look_up(word: str) -> _Word:
    spaced = [language for language in LANGUAGES if not language.is_unspaced]
    weights = {language.code: language.weigh(word) for language in spaced}
    return _Word(
        weights=weights,
        known_to=frozenset(language.code for language in spaced if language.has_word(word)),
        is_foreign=all(weight < 0 for weight in weights.values()),
    )


def _find_likely_languages(words: Sequence[_Word]) -> Iterator[str]:
    """Yield the likeliest language, then others with enough own words: "bitte den typo fixen"."""
    weights = {code: sum(word.weights[code] for word in words) for code in words[0].weights}
    likely = sorted(weights, key=lambda code: (-weights[code], code != DEFAULT_LANGUAGE))
    first = likely[0]
    yield first
    for code in likely[1:]:
        own = sum(code in word.known_to and first not in word.known_to for word in words)
        if weights[code] >= MIN_RIVAL * weights[first] and own >= MIN_OWN_WORDS:
            yield code


def _find_unspaced_languages(text: str) -> Iterator[str]:
    """Yield the languages in whose letters a text is: "変更" may be Japanese or Chinese."""
    for language in LANGUAGES:
        if language.is_unspaced and language.has_letters(text):
            yield language.code
