"""The order of the decision about a text. Of its steps the first match counts.

1. The addressee: the bot, a colleague, or people who talk about the bot.
2. A whole text: one of the bot's own words, thanks, a greeting, disapproval.
3. An imperative in one of its clauses: "please add a table".
4. A question: "which plan has audit logs".
5. A statement: a fact ("free plan is 100 now") or talk ("I'll review it tomorrow").

Between 2 and 3, a text in no language that the bot understands is asked about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.intent.addressee import find_part, is_aside
from bot.intent.folding import fold, hide_paths, hide_quotations, replace_code, tokenize
from bot.intent.imperatives import match_imperative, takes_request_back
from bot.intent.kinds import JOB_THREADS, KINDS_ASKED_BACK, Kind, Place, kind_at
from bot.intent.languages import read_languages
from bot.intent.lexicon import Lexicon, lexicon_of
from bot.intent.own_words import (
    STOP,
    FoundWord,
    classify_own_word,
    find_near_word,
    find_own_word,
)
from bot.intent.questions import is_question, match_question
from bot.intent.social_acts import match_social_act
from bot.intent.statements import classify_statement, is_talk
from bot.intent.utterance import Utterance, drop_mentions, prepare
from bot.intent.vocabulary import Vocabulary

_NAMES_PATTERN = re.compile(r"@[\w.-]+")
"""Mentions of people, which are no words of an answer."""
MIN_ANSWER_WORDS = 4
"""A shorter reply answers nobody's question: "see the docs"."""
MAX_HEAD_CHARACTERS = 1_000
"""The beginning of a text, from which its languages are known."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The meaning of a text."""

    kind: Kind
    part: str = ""
    """The part of the text for the bot. It may contain the mention."""
    word: FoundWord | None = None
    """The bot's own word; None for a text that is none."""
    is_understood: bool = True
    """The text is in a language of the word lists."""
    is_asked_once: bool = False
    """A person is asked only once in a thread about such texts; later ones get no reaction."""


def decide(
    text: str,
    place: Place,
    vocabulary: Vocabulary,
    *,
    mention: str = "",
    command: str = "",
    has_files: bool = False,
    is_app: bool = False,
    can_answer: bool = True,
    is_job_unsent: bool = False,
) -> Decision:
    """Return the meaning of a text.

    Args:
        text: The text as a person sees it.
        place: The place of the text.
        vocabulary: The words of the bot's commands.
        mention: How a mention of the bot reads in the text: ``@docs-agent``. Empty if the text
            mentions it nowhere.
        command: The slash command after which it was typed: ``/docs-agent``. Empty elsewhere.
        has_files: Files came with it: they say what the text leaves open.
        is_app: Its author is an app, which cannot be asked back.
        can_answer: The bot answers questions about the docs.
        is_job_unsent: The job of the place has not gone to the agent yet.
    """
    reading = read_languages(_cut_head(text, mention))
    lexicon = lexicon_of(reading.languages)
    part = find_part(text, place, mention=mention, lexicon=lexicon)
    if part is None and mention:
        return Decision(Kind.ABOUT_BOT)
    if part is None:
        is_answer = _answers_colleague(text, place, lexicon)
        return Decision(Kind.COLLEAGUE_ANSWER if is_answer else Kind.FOR_COLLEAGUE)
    utterance = prepare(
        part,
        place,
        mention=mention,
        has_files=has_files,
        lexicon=lexicon,
        is_job_unsent=is_job_unsent,
    )
    word = find_own_word(utterance, vocabulary, command)
    if word is not None:
        return Decision(classify_own_word(word, place), part, word)
    word = find_near_word(utterance, vocabulary, command)
    if word is not None:
        return Decision(Kind.MISTYPED_WORD, part, word)
    kind = match_social_act(utterance)
    if kind is None and not reading.is_understood:
        is_asked_once = place in JOB_THREADS and not mention
        kind = kind_at(place, Kind.SUGGESTION)
        return Decision(kind, part, is_understood=False, is_asked_once=is_asked_once)
    kind = kind or _classify_sentences(utterance)
    if kind is Kind.STOP:
        return Decision(kind, part, STOP)
    if (is_app or has_files) and kind in KINDS_ASKED_BACK and utterance.text:
        kind = Kind.CHANGE
    if kind is Kind.QUESTION and not can_answer:
        kind = Kind.UNANSWERABLE
    return Decision(kind_at(place, kind), part)


def _answers_colleague(text: str, place: Place, lexicon: Lexicon) -> bool:
    """Return whether a text among people under an answer says something about its question.

    It is a statement or a link: "it's under Settings, Keys", "@ana press Rotate there".
    """
    if place is not Place.ANSWER or is_aside(text, place):
        return False
    words = _NAMES_PATTERN.sub(" ", text)
    utterance = prepare(words, place, mention="", has_files=False, lexicon=lexicon)
    if match_social_act(utterance) is not None or is_question(utterance):
        return False
    tokens = tokenize(utterance.text)
    if "url" in tokens:
        return True
    return len(tokens) >= MIN_ANSWER_WORDS and not is_talk(utterance)


def _cut_head(text: str, mention: str) -> str:
    """Return the folded beginning of a text without mentions and code, to know its languages."""
    head = fold(drop_mentions(text[:MAX_HEAD_CHARACTERS], mention))
    return hide_paths(hide_quotations(replace_code(head, " "), " "))


def _classify_sentences(utterance: Utterance) -> Kind:
    if takes_request_back(utterance):
        return Kind.STOP
    return match_imperative(utterance) or match_question(utterance) or classify_statement(utterance)
