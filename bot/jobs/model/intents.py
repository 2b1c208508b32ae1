"""Intents: the kind of a text, and the bot's deed about it at each door. In doubt it is an instruction.

``intents.txt`` holds the texts of each kind. An exact kind counts only as the whole text. From the others a
naive Bayes classifier learns instructions, questions, and talk among people. To change the kind of
a text, add it there: ``make words`` measures the effect.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from math import log
from typing import NamedTuple


class Intent(StrEnum):
    """The kind of a text. The last three are learned; of the others a text has to match an example wholly."""

    HELP = "help"
    STATUS = "status"
    STOP = "stop"
    RETRY = "retry"
    MERGE = "merge"
    """To merge or close the pull request, which the bot cannot."""
    PING = "ping"
    """To mention somebody, which the bot does not."""
    REVIEWED = "reviewed"
    """Somebody has reviewed, approved or merged the pull request."""
    SLIP = "slip"
    """A word that is almost one of the bot's own."""
    NO = "no"
    THANKS = "thanks"
    GREETING = "greeting"
    INSTRUCTION = "instruction"
    QUESTION = "question"
    TALK = "talk"


class Door(StrEnum):
    """The way by which a text came. A plain reply where only mentions steer has none: it is left alone."""

    FIRST = "first"
    """By command, form, mention or direct message, to start a job."""
    ADDRESSED = "addressed"
    """By ``/docs-followup``, its form, or a mention in the job's thread."""
    REPLY = "reply"
    """A reply without a mention in the job's own thread."""


class Deed(StrEnum):
    """The bot's action about a text."""

    SEND = "send"
    RUN = "run"
    """Carry out the bot's own word."""
    THANK = "thank"
    GREET = "greet"
    ASK = "ask"
    """Ask its author in private for the change that they want."""
    OFFER = "offer"
    """Answer that questions are not answered, with a button that sends it to the agent."""
    LEAVE = "leave"


_OWN = (
    Intent.HELP,
    Intent.STATUS,
    Intent.STOP,
    Intent.RETRY,
    Intent.MERGE,
    Intent.REVIEWED,
    Intent.PING,
)
LEARNED = (Intent.INSTRUCTION, Intent.QUESTION, Intent.TALK)
_ALWAYS: Mapping[Intent, Deed] = {
    **dict.fromkeys(_OWN, Deed.RUN),
    Intent.THANKS: Deed.THANK,
    Intent.GREETING: Deed.GREET,
    Intent.NO: Deed.ASK,
    **dict.fromkeys((*LEARNED, Intent.SLIP), Deed.SEND),
}
DEEDS: Mapping[Door, Mapping[Intent, Deed]] = {
    Door.FIRST: {**_ALWAYS, Intent.QUESTION: Deed.OFFER, Intent.SLIP: Deed.RUN},
    Door.ADDRESSED: _ALWAYS,
    Door.REPLY: {**_ALWAYS, Intent.GREETING: Deed.LEAVE, Intent.TALK: Deed.LEAVE},
}
"""The whole rule: the deed for each kind of text at each door."""


def deed_for(intent: Intent, door: Door, *, retries: bool) -> Deed:
    """Return the deed for a text. ``retries``: the job of its thread ended without a result.

    "Try again" about any other job is for its agent.
    """
    if intent is Intent.RETRY and door is not Door.FIRST and not retries:
        return Deed.SEND
    return DEEDS[door][intent]


LONGEST = 500
"""Characters of the longest text that is classified. A longer one is an instruction."""
_SEQUENCES = (Intent.NO, Intent.REVIEWED, Intent.THANKS, Intent.GREETING)
"""The kinds of which several may make up a text: "ok, great, thanks". The first one counts."""
_PEOPLE = re.compile(
    r"\W{0,3}(?:\w{1,20}[ :,]{1,2}){0,2}\+? ?@(?!docs-agent)\w"
    r"|[A-Z][a-z]{1,20}, (?:can|could|do|did|have|would|will) you\b"
)
"""A text for somebody who is named."""
_OPENERS = re.compile(r"(?:i'll|let me|we'll|who |who's|(?:\w+ )?(?:any|some)(?:one|body) )")
"""How talk among people begins."""
_ASKS = re.compile(
    r"(?:(?:hi|hey|hello|so|ok|quick q\w*|question)[ ,:!]+)*"
    r"(?:((?:what|which|who|whose|where|when|why|how)(?:'?s)?|does|can i|since when)"
    r"|is|are|was|were|do|did|has|have|will|any|can you|could you tell)\b(?! about)"
)
"""How a question begins, also without its mark if there is the group."""
_PING = re.compile(r"(?:(?:[Cc]an|[Cc]ould) you )?(?:please )?[Pp]ing @?[A-Z]\w+(?: to \w+)?\W*$")
_SIGNS = re.compile(r":[a-z0-9_+'-]+:|(?<!\S)(?:[:;=8x]['-]?[()dpo/|\]]+|<3+|\^\^|\\o/)(?!\S)")
_MARKS = " \t\n?!.,;:…'\"`“”‘()[]{}*_~-–—"
_POLITE = frozenset(("please", "pls", "plz", "kindly"))
_LONGEST_PHRASE = 7
_SURE = 2.0
"""The odds, as their logarithm, from which a text is talk. Below it is in doubt."""
_SURELY_NONE = -10.0
"""The odds, as their logarithm, up to which a text in the form of a question is none: a polite order."""


def classify(
    text: str, door: Door, own_words: Collection[str] = (), learned: Learned | None = None
) -> Intent:
    """Return the kind of a plain text that came by this door.

    Args:
        text: the text.
        door: the way by which it came.
        own_words: the first words of the bot's commands, of which a text may be a near miss.
        learned: the classifiers; None for those of this version.
    """
    if len(text) > LONGEST or not text.strip():
        return Intent.INSTRUCTION
    if (kind := exact(text)) is not None or door is Door.ADDRESSED:
        return kind or Intent.INSTRUCTION
    folded, learned = _folded(text), learned or _LEARNED
    if door is Door.FIRST:
        tokens, _ = _words_and_signs(folded)
        is_word = len(tokens) == 1 or (len(tokens) == 2 and tokens[1].lstrip("#").isdecimal())
        if is_word and _near_word(tokens[0], own_words):
            return Intent.SLIP
        asks = _ASKS.match(folded)
        is_question = asks and (
            folded.rstrip().endswith("?") or (asks[1] and len(folded.split()) < 10)
        )
        return (
            Intent.QUESTION
            if is_question and learned.questions.odds(text) > 0
            else Intent.INSTRUCTION
        )
    if _PEOPLE.match(text) or _OPENERS.match(folded):
        doubt = -_SURE
    else:
        doubt = 2 * _SURE if "?" in folded or len(folded.split()) == 1 else _SURE
    return Intent.TALK if learned.talk.odds(text) > doubt else Intent.INSTRUCTION


def may_be_question(text: str) -> bool:
    """Return whether a text that was taken as an instruction may be a question all the same."""
    folded = _folded(text)
    is_like_one = "?" in folded or _ASKS.match(folded)
    return len(text) <= LONGEST and _LEARNED.questions.odds(text) > (
        _SURELY_NONE if is_like_one else _SURE
    )


@lru_cache(1)  # a command asks three times in a row
def exact(text: str) -> Intent | None:
    """Return the exact kind of the whole text; None if it has none."""
    if len(text) > LONGEST:
        return None
    folded = _folded(text)
    tokens, signs = _words_and_signs(folded)
    table = read_texts().exact
    kinds = {table.get((sign,), Intent.GREETING) for sign in signs}
    if not tokens:
        kinds |= {Intent.NO} if not signs and re.search("[?!.…]", folded) else set()
        return next((kind for kind in _SEQUENCES if kind in kinds), None)
    if _PING.match(text):
        return Intent.PING
    own = table.get(tokens[:-1] if job_number(text) else tokens)
    if own in _OWN and (own is not Intent.REVIEWED or "?" not in folded):
        return own
    place = 0
    while place < len(tokens):
        counts = (
            many
            for many in range(_LONGEST_PHRASE, 0, -1)
            if table.get(tokens[place : place + many]) in _SEQUENCES
        )
        if not (count := next(counts, 0)):
            return None
        kinds.add(table[tokens[place : place + count]])
        place += count
    return (
        None
        if "?" in folded and kinds != {Intent.GREETING}
        else next(kind for kind in _SEQUENCES if kind in kinds)
    )


_MIN_LIKENESS = 0.75
"""Of a mistyped word to one of the bot's own."""
_MIN_MISTYPED = 4
"""Letters of the shortest of the bot's own words that a text is compared with."""


def _near_word(word: str, own_words: Collection[str]) -> str | None:
    """Return the bot's own word that a word is almost; None if it is like none."""
    compared = sorted(own for own in own_words if len(own) >= _MIN_MISTYPED)
    return next(iter(get_close_matches(word, compared, 1, _MIN_LIKENESS)), None)


def asks_help(text: str) -> bool:
    return exact(text) is Intent.HELP


def job_number(text: str) -> int | None:
    """Return the job number at the end of a text: ``retry job 12``; None without one."""
    match = re.search(r"\s#?([1-9][0-9]{0,8})\W*$", text)
    return int(match[1]) if match else None


def asks_yes_or_no(text: str) -> bool:
    """Return whether a question about a job can be answered with yes: "is it ready?"."""
    return (
        re.match(r"(?:is|are|did|has|ready|done|finished)\b", text.strip(), re.IGNORECASE)
        is not None
    )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'").casefold()


def _words_and_signs(folded: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the words of a text without marks and politeness, and its emoji and smileys."""
    signs = _SIGNS.findall(folded)
    bare = _SIGNS.sub(" ", folded)
    if bare.isascii():  # most are, and each command is classified: 8 us instead of 17
        bare = bare.replace("^", " ").replace("`", " ")
    else:
        signs += [
            char for char in bare if unicodedata.category(char) == "So" and ord(char) > 0x2000
        ]
        bare = "".join(
            char if unicodedata.category(char) not in ("So", "Sk", "Mn", "Cf") else " "
            for char in bare
        )
    tokens = tuple(word for part in bare.split() if (word := part.strip(_MARKS)))
    return tuple(word for word in tokens if word not in _POLITE) or tokens, signs


def _features(text: str) -> Iterator[str]:
    """Yield the features to learn from: words, pairs of words, the first word, stems, and signs."""
    folded = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+", _folded(text))
    tokens = ["0" if word.isdecimal() else word for word in folded]
    yield from tokens
    yield from (f"{one} {two}" for one, two in zip(["^", *tokens], [*tokens, "$"], strict=True))
    yield from (f"{word[:5]}~" for word in tokens if len(word) > 5)
    yield from (f"1 {word}" for word in tokens[:1])
    yield f"length {len(tokens).bit_length()}"
    yield from (name for name, sign in _SHAPES.items() if sign.search(text))


_SHAPES = {
    "a digit": re.compile(r"\d"),
    "code": re.compile(r"`|\w[/_.(]\w|\w\(\)|--\w|[a-z][A-Z]|\{|<\w|[-=]>|→"),
    "a quote": re.compile(r"[\"“”]|(?<!\w)'\w"),
    "a name": re.compile(r"(?<!^)(?<![.!?] )\b[A-Z]\w"),
    "capitals": re.compile(r"\b[A-Z]{2,}\b"),
    "?": re.compile(r"\?"),
    "!": re.compile("!"),
    "a mention": re.compile(r"@\w"),
    "emoji": re.compile(":[a-z0-9_+'-]+:|[\u2600-\u27bf\U0001f300-\U0001faff]"),
}


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of each kind. ``exact`` is by their words."""

    exact: Mapping[tuple[str, ...], Intent]
    examples: Sequence[tuple[str, Intent]]


@cache
def read_texts() -> Texts:
    exact, examples, kind, is_exact = {}, [], Intent.TALK, False
    for line in files(__package__).joinpath("intents.txt").read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"\[(exact )?(\w+)\]", line):
            is_exact, kind = bool(heading[1]), Intent(heading[2])
        elif is_exact:
            tokens, signs = _words_and_signs(_folded(line))
            exact[tokens or tuple(signs[:1])] = kind
        elif line:
            examples.append((line, kind))
    return Texts(exact, examples)


class Classifier:
    """A naive Bayes classifier of two kinds of texts. Both kinds count alike, also with fewer examples."""

    def __init__(self, texts: Iterable[str], others: Iterable[str]) -> None:
        of_kind, of_others = (
            Counter(f for text in group for f in {*_features(text)}) for group in (texts, others)
        )
        every = of_kind.keys() | of_others.keys()
        sums = [counts.total() + _SMOOTHING * len(every) for counts in (of_kind, of_others)]
        self._weights = {
            name: log((of_kind[name] + _SMOOTHING) / sums[0])
            - log((of_others[name] + _SMOOTHING) / sums[1])
            for name in every
        }

    def odds(self, text: str) -> float:
        """Return the logarithm of how much likelier the text is of the kind than of the others."""
        return sum(self._weights.get(name, 0.0) for name in {*_features(text)})


_SMOOTHING = 0.5


class Learned(NamedTuple):
    """The classifiers: of talk among all texts, and of questions among questions and instructions."""

    talk: Classifier
    questions: Classifier


def learn(examples: Sequence[tuple[str, Intent]]) -> Learned:
    """Learn from texts, each with its kind."""
    instructions, questions, talk = (
        [text for text, kind in examples if kind is label] for label in LEARNED
    )
    return Learned(Classifier(talk, instructions + questions), Classifier(questions, instructions))


_LEARNED = learn(read_texts().examples)
"""Learned when the bot starts, which takes 0.1 s that no first request has to wait for."""
