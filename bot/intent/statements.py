"""Statements (step 5): facts for the docs, talk among people, topics, and unclear ones."""

from __future__ import annotations

import re
from itertools import pairwise

from bot.intent.folding import tokenize
from bot.intent.imperatives import is_vague
from bot.intent.kinds import ANSWER_THREADS, JOB_THREADS, Kind
from bot.intent.lexicon import Lexicon
from bot.intent.phrases import CONNECTIVES, PHRASES
from bot.intent.utterance import Utterance, skip_fillers, skip_marks, skip_requests

MAX_TOPIC_WORDS = 3
"""A longer statement is no topic: "rate limits page"."""
MIN_SET_PHRASE_WORDS = 3
"""A shorter beginning of talk may begin a fact as well: "works", "the team"."""
MAX_FRAGMENT_WORDS = 5
"""A longer statement is no fragment of a change: "also for Firefox"."""
_EXACT_PATTERN = re.compile(r"\d|\"|->|=>|→|\bs/\w|, not ")
"""Signs that are exact: a number, a quotation, an arrow, s/old/new, "POST, not PUT"."""


def classify_statement(utterance: Utterance) -> Kind:
    """Return a statement's kind: "free plan is 100 now" is likely a change."""
    if is_talk(utterance):
        return Kind.TALK
    if utterance.place in ANSWER_THREADS:
        return Kind.QUESTION
    text = utterance.text
    lexicon = utterance.lexicon
    if utterance.place in JOB_THREADS:
        is_revision = has_fact(text, lexicon) or has_revision(text, lexicon)
        return Kind.LIKELY_CHANGE if is_revision else Kind.SUGGESTION
    if len(tokenize(text)) <= MAX_TOPIC_WORDS and not lexicon.faults.search(text):
        return Kind.TOPIC
    if has_fact(text, lexicon) or names_part(text, lexicon):
        return Kind.LIKELY_CHANGE
    return Kind.UNCLEAR


def names_part(text: str, lexicon: Lexicon) -> bool:
    """Return whether a text is a sentence about a part of the docs: "the page loads slowly"."""
    if not lexicon.docs_parts.search(text) or not lexicon.finite_verbs.search(text):
        return False
    return not is_vague(text, lexicon)


def is_talk(utterance: Utterance) -> bool:
    """Return whether a statement is talk: "lol that was fast", not "great, but step 2 fails"."""
    has_talk = False
    for clause in utterance.clauses:
        if is_talk_clause(clause, utterance):
            has_talk = True
        elif is_substantial(clause, utterance):
            return False
    return has_talk


def is_talk_clause(clause: str, utterance: Utterance) -> bool:
    """Return whether a clause is talk: "I'll review it tomorrow", not "cool mode is missing"."""
    lexicon = utterance.lexicon
    start = skip_fillers(clause, lexicon)
    starts = (skip_marks(clause), start, skip_requests(start, lexicon))
    if utterance.place in JOB_THREADS and is_about_work(start, lexicon):
        return True
    if utterance.place in JOB_THREADS and any(is_personal(start, lexicon) for start in starts):
        return True
    openers = [lexicon.talk_openers.match(start) for start in starts]
    if any(is_set_phrase(opener) for opener in openers):
        return True
    if lexicon.faults.search(clause):
        return False
    return any(openers) or lexicon.talk_signs.search(clause)


def is_about_work(start: str, lexicon: Lexicon) -> bool:
    """Return whether a clause is about the work around a change: "we should announce this"."""
    verb = skip_requests(start, lexicon)
    verb = skip_fillers(verb[len(lexicon.shared_requests.match(verb)) :], lexicon)
    process = lexicon.process_verbs.match(verb)
    return verb != start and len(process) > len(lexicon.verbs.match(verb))


def is_set_phrase(opener: str) -> bool:
    """Return whether a beginning of talk is too long to be chance: "should be fine"."""
    return len(opener.split()) >= MIN_SET_PHRASE_WORDS


def is_personal(start: str, lexicon: Lexicon) -> bool:
    """Return whether a clause is about its author: "I fixed it", not "I expected a table"."""
    if lexicon.personal_talk.opens(start):
        return True
    return lexicon.first_person.opens(start) and not lexicon.opinions.opens(start)


def is_substantial(clause: str, utterance: Utterance) -> bool:
    """Return whether a clause has a sign of a fact or a revision other than "please"."""
    if PHRASES.find_names(tokenize(clause)) == {CONNECTIVES}:
        return False
    if has_fact(clause, utterance.lexicon):
        return True
    return utterance.place in JOB_THREADS and has_revision(clause, utterance.lexicon)


def has_fact(text: str, lexicon: Lexicon) -> bool:
    """Return whether a text has a sign of a fact for the docs: "the flag was renamed"."""
    if _EXACT_PATTERN.search(text) or has_contrast(text, lexicon):
        return True
    return lexicon.fact_signs.search(text) or lexicon.faults.search(text)


def has_contrast(text: str, lexicon: Lexicon) -> bool:
    """Return whether a text has a right word and a wrong one: "h3 not h2", not "it is not"."""
    words = text.split()
    for word, following in pairwise(words):
        is_contrast = lexicon.negations.is_whole(following) and following != words[-1]
        if is_contrast and word.isalnum() and not lexicon.no_contrast.is_whole(word):
            return True
    return False


def has_revision(text: str, lexicon: Lexicon) -> bool:
    """Return whether a text has a sign of a change without a verb: "shorter", "and Ruby"."""
    if lexicon.revision_signs.search(text) or lexicon.docs_parts.search(text):
        return True
    is_short = len(tokenize(text)) <= MAX_FRAGMENT_WORDS
    return is_short and lexicon.fragment_openers.opens(skip_marks(text))
