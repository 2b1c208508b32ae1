"""Whole texts that are no instruction for the agent: thanks, ``stop``, ``is it done?``, a single word.

A text whose words are all of one kind is of that kind: "ok, great work!" only thanks. Any other text is a
prompt only if ``signals`` finds something to change in it; else it is what it resembles most.

To teach it a word, add that to its kind in ``lexicon.py``, and a text to tests/model/reflex_texts.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.model import lexicon, signals

LONGEST = 500
"""Characters of the longest text that may be a reflex."""


class Reflex(StrEnum):
    """What a text is that is no prompt. The first one counts where a text is several."""

    STOP = "stop"
    STATUS = "status"
    """It asks how a job is doing."""
    REVIEWED = "reviewed"
    """It says that the work is reviewed, merged or done."""
    QUESTION = "question"
    """It asks for an answer, not for a change."""
    HELP = "help"
    """It asks what the bot is and can do."""
    COMMAND = "command"
    """A command of this bot or of others, or a wish about no text: ``retry 12``, ``merge it``."""
    THANKS = "thanks"
    """Thanks, praise, agreement or only emoji."""
    GREETING = "greeting"
    WORD = "word"
    """A single word, or words in which nothing says what to change."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a text is taken for. ``command``: the command that it resembles, as people type it."""

    reflex: Reflex
    command: str = ""


Judge = Callable[[str], Taken | None]
"""Returns what a whole plain text is taken for; None for a prompt."""


def taken_for(text: str) -> Reflex | None:
    """Return what a whole plain text is; None for a prompt, and for a text without words, marks or emoji."""
    text = text.strip()
    if len(text) > LONGEST:
        return None
    said, has_emoji = _without_emoji(unicodedata.normalize("NFKC", text).replace("’", "'").casefold())
    sentences = [each for each in map(_Said.of, _SENTENCE.findall(said)) if each.words]
    words = tuple(word for each in sentences for word in each.words)
    if not words:
        return Reflex.THANKS if has_emoji else Reflex.HELP if said.strip(" \t\n!,") else None
    whole = _Said(words, any(each.asks for each in sentences), said)
    if (kind := _of_one_kind(whole)) is not None:
        return kind
    if len(words) == 1 and _is_word(words[0]):
        return Reflex.WORD
    if not re.search("[a-z]", said) or _is_foreign(words):
        return None
    found = [_of_sentence(each) for each in sentences]
    return None if None in found else next(kind for kind in Reflex if kind in found)


def _is_foreign(words: Sequence[str]) -> bool:
    """Return whether a text is in another language than English, so that nothing here can tell what it is."""
    known = sum(word in lexicon.HARMLESS for word in words)
    return len(words) >= _ENOUGH_WORDS and known * 4 < len(words)


_ENOUGH_WORDS = 4


@dataclass(frozen=True, slots=True)
class _Said:
    """The words of a sentence, without marks around them. ``asks``: it ends with a question mark.

    ``0`` stands for any number.
    """

    words: tuple[str, ...]
    asks: bool
    text: str

    @classmethod
    def of(cls, sentence: str) -> _Said:
        return cls(signals.words_of(sentence), "?" in sentence[-4:], sentence)


_SENTENCE = re.compile(r"(?:[^.!?;\n]|[.!?](?=[\w\"'”/]))+[.!?;)\"'”*_~]*")
"""Up to a mark that no letter follows, so that ``v2.0`` and ``docs.acme.com`` stay whole."""
_EMOJI = re.compile(r":[a-z0-9_+'-]+:(?::skin-tone-[2-6]:)?")
_SMILEY = re.compile(r"(?<!\S)(?:[:;=8x]['-]?[()dpo/|\]]+|<3+|\^\^|\\o/)(?!\S)")


def _without_emoji(text: str) -> tuple[str, bool]:
    """Return a text with commas for emoji and smileys, and whether it had any."""
    kept = "".join(" , " if _is_emoji(character) else character for character in text)
    words, emoji = _EMOJI.subn(" , ", kept)
    words, smileys = _SMILEY.subn(" , ", words)
    return words, emoji + smileys > 0 or kept != text


def _is_emoji(character: str) -> bool:
    """Return whether a character is an emoji, or joins or colours one."""
    is_sign = unicodedata.category(character) in ("So", "Sk") and ord(character) > 0x2000
    return is_sign or character in "\ufe0f\u200d"


def _is_word(word: str) -> bool:
    """Return whether a text without blanks is one word: of a script with blanks, and no ``s/old/new/``."""
    return not word.startswith("s/") and all(unicodedata.category(each) != "Lo" for each in word)


@dataclass(frozen=True, slots=True)
class _Kind:
    """The phrases that are typical of a kind, and the words that may stand beside them."""

    reflex: Reflex
    typical: frozenset[tuple[str, ...]]
    beside: frozenset[str]

    def covers(self, words: Sequence[str]) -> bool:
        """Return whether all words are of this kind, and some are typical of it."""
        place, is_typical = 0, False
        while place < len(words):
            count = lexicon.longest(words, place, self.typical)
            soft = lexicon.longest(words, place, lexicon.SOFT)
            if not (count or soft or words[place] in self.beside or words[place] in lexicon.SMALL):
                return False
            is_typical |= count > 0 and count >= soft
            place += max(count, soft, 1)
        return is_typical


_KINDS = (
    _Kind(Reflex.REVIEWED, lexicon.REVIEWED, lexicon.REVIEWED_MORE | lexicon.COURTESY),
    _Kind(Reflex.THANKS, lexicon.THANKS, lexicon.COURTESY),
    _Kind(Reflex.GREETING, lexicon.GREETING, lexicon.COURTESY),
    _Kind(Reflex.STOP, lexicon.STOP, lexicon.STOP_MORE | lexicon.JOB),
    _Kind(Reflex.STATUS, lexicon.STATUS, lexicon.STATUS_MORE | lexicon.JOB),
    _Kind(Reflex.HELP, lexicon.HELP, lexicon.HELP_MORE),
    _Kind(Reflex.COMMAND, lexicon.COMMAND, lexicon.COMMAND_MORE),
)
_NOT_ASKED = (Reflex.REVIEWED, Reflex.THANKS)
"""With a question mark behind them, these words mean something else."""


def _of_one_kind(said: _Said) -> Reflex | None:
    """Return the kind that covers all words; None if none does, and for an order about a job."""
    for kind in _KINDS:
        if (said.asks and kind.reflex in _NOT_ASKED) or not kind.covers(said.words):
            continue
        if kind.reflex is not Reflex.STATUS or not signals.is_order(said.words):
            return kind.reflex
    return Reflex.WORD if lexicon.SMALL.issuperset(said.words) else None


def _of_sentence(said: _Said) -> Reflex | None:
    """Return what a sentence resembles that may be of several kinds; None if it has something to change."""
    if (kind := _of_one_kind(said)) is not None:
        return kind
    if signals.has_signal(said.text, asks=said.asks):
        return None
    if said.asks or signals.opens_question(said.words):
        is_told = signals.TELL.search(" ".join(said.words)) is not None
        return Reflex.QUESTION if is_told or lexicon.BOT.isdisjoint(said.words) else Reflex.HELP
    clauses = [_of_clause(each) for each in signals.clauses_of(said.text)]
    return next((kind for kind in Reflex if kind in clauses), Reflex.WORD)


def _of_clause(words: tuple[str, ...]) -> Reflex | None:
    """Return what a clause resembles: the kind of all its words, or else of the first ones."""
    if (kind := _of_one_kind(_Said(words, asks=False, text=""))) is not None:
        return kind
    is_known = sum(word in lexicon.HARMLESS for word in words) * 2 >= len(words)
    for reflex, phrases in _FIRST:
        if lexicon.longest(words, 0, phrases) and (is_known or reflex is not Reflex.THANKS):
            return reflex
    praises = (lexicon.longest(words, place, lexicon.THANKS) for place in range(len(words)))
    return Reflex.THANKS if is_known and any(praises) else None


_FIRST = (
    (Reflex.STOP, lexicon.STOP),
    (Reflex.COMMAND, lexicon.COMMAND),
    (Reflex.THANKS, lexicon.THANKS),
    (Reflex.GREETING, lexicon.GREETING),
)
"""What a clause with other words is known by. Thanks only if half of it is known: nobody sees their words."""
