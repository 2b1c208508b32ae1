"""Questions (step 4), and their subjects: "which plan has audit logs", "is it merged?"."""

from __future__ import annotations

from collections.abc import Sequence

from bot.intent.folding import tokenize
from bot.intent.kinds import ANSWER_THREADS, JOB_THREADS, Kind
from bot.intent.lexicon import Lexicon
from bot.intent.utterance import Utterance, skip_fillers, skip_marks, skip_requests

MAX_HINT_WORDS = 8
"""A longer question is no hint at a change: "what about Go?"."""
MAX_FRAGMENT_WORDS = 3
"""Maximum words of a question without a verb, such as "diagram?"."""


def match_question(utterance: Utterance) -> Kind | None:
    """Return the kind of a question: "which plan has audit logs", "is it live?"."""
    if not is_question(utterance):
        return None
    if utterance.place in ANSWER_THREADS:
        return Kind.QUESTION
    if has_fault(utterance):
        return Kind.LIKELY_CHANGE
    if utterance.place in JOB_THREADS:
        return classify_job_question(utterance)
    is_about_bot = utterance.lexicon.about_bot.search(utterance.text)
    return Kind.BOT_QUESTION if is_about_bot else Kind.QUESTION


def is_question(utterance: Utterance) -> bool:
    """Return whether a text is a question, with its mark or without."""
    clauses = list(utterance.clauses)
    if utterance.text.rstrip(' .!")').endswith(("?", "？")):
        return True
    if reports_question(clauses, utterance):
        return True
    if utterance.place not in JOB_THREADS and any(
        asks_for_answer(clause, utterance.lexicon) for clause in clauses
    ):
        return True
    return any(asks(sentence, utterance.lexicon) for sentence in utterance.sentences)


def asks_for_answer(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause requests an answer: "please explain what it does"."""
    start = skip_fillers(clause, lexicon)
    request = skip_requests(start, lexicon)
    verb = lexicon.answer_verbs.match(request)
    return verb != "" and (request != start or " " in verb)


def asks(sentence: Sequence[str], lexicon: Lexicon) -> bool:
    """Return whether a clause of a sentence is a question: "I'm lost, where do I set it"."""
    first, *others = sentence
    if opens_question(first, lexicon):
        return True
    if any(ends_question(clause, lexicon) for clause in sentence):
        return True
    main = [clause for clause in others if not is_relative_clause(clause, lexicon)]
    return any(opens_question(clause, lexicon) for clause in main)


def is_relative_clause(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause describes the noun before it: "the page, which says 50"."""
    is_relative = lexicon.relative_openers.opens(skip_fillers(clause, lexicon))
    return is_relative and not has_inversion(clause, lexicon)


def reports_question(clauses: Sequence[str], utterance: Utterance) -> bool:
    """Return whether clauses report a question: "a customer asks whether we have an SDK".

    In a job's thread "a note on how to pay" is about the page.
    """
    lexicon = utterance.lexicon
    if any(lexicon.question_phrases.search(clause) for clause in clauses):
        return True
    if any(has_asking_verb(clause, lexicon) for clause in clauses):
        return True
    if utterance.place in JOB_THREADS:
        return False
    return any(lexicon.search_phrases.search(clause) for clause in clauses)


def has_asking_verb(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a verb of asking stands before a question: "wonders if we have an SDK"."""
    ends = [end for _, end in lexicon.asking_verbs.spans(clause)]
    return any(lexicon.question_words.opens(clause[end:].lstrip()) for end in ends)


def opens_question(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause begins as a question: "who can", "does it", but not "is missing".

    "If I rename it will the links break" begins as a condition and goes on as a question.
    """
    start = skip_fillers(clause, lexicon)
    opener = lexicon.question_openers.match(start)
    if opener:
        return len(opener) >= len(lexicon.verbs_anywhere.match(start))
    if lexicon.conditions.opens(start):
        return has_inversion(start, lexicon)
    verb = lexicon.question_verbs.match(start)
    if not verb or lexicon.verbs.opens(start):
        return False
    subject = start[len(verb) :].lstrip()
    return subject != "" and not lexicon.predicates.opens(subject)


def has_inversion(text: str, lexicon: Lexicon) -> bool:
    """Return whether a verb stands before its subject: "will the links break"."""
    ends = [end for _, end in lexicon.question_verbs.spans(text)]
    return any(lexicon.subjects.opens(text[end:].lstrip()) for end in ends)


def ends_question(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause ends as a question: "rotate an api key how"."""
    return lexicon.question_endings.find_ending(clause) is not None


def has_fault(utterance: Utterance) -> bool:
    """Return whether a clause states a fault of the docs: "the import is missing".

    A clause that begins as a question has it at its end: "which regions exist is missing".
    """
    return any(states_fault(clause, utterance.lexicon) for clause in utterance.clauses)


def states_fault(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause states a fault of the docs."""
    if clause.endswith("?"):
        return False
    if lexicon.faults.opens(skip_fillers(clause, lexicon)):
        return True
    if opens_question(clause, lexicon):
        return lexicon.faults.find_ending(clause) is not None
    return lexicon.faults.search(clause)


def classify_job_question(utterance: Utterance) -> Kind:
    """Return the kind of a question in a job's thread: "what did you change?"."""
    text = utterance.text
    lexicon = utterance.lexicon
    count = len(tokenize(text))
    start = skip_fillers(text, lexicon)
    if count <= MAX_HINT_WORDS and is_hint(utterance):
        return Kind.SUGGESTION
    if lexicon.people_questions.opens(start) and not asks_for_state(start, lexicon):
        return Kind.TALK
    if lexicon.about_reasons.opens(start):
        return Kind.REASON_QUESTION if lexicon.about_this.search(text) else Kind.QUESTION
    if lexicon.about_changes.search(text):
        return Kind.CHANGES_QUESTION
    if lexicon.about_state.search(text):
        return Kind.STATE_QUESTION
    if lexicon.about_bot.search(text):
        return Kind.BOT_QUESTION
    if count <= MAX_FRAGMENT_WORDS and not opens_question(text, lexicon):
        return Kind.SUGGESTION
    if count <= MAX_HINT_WORDS and any(map(lexicon.conjunctions.opens, utterance.clauses)):
        return Kind.SUGGESTION
    return Kind.QUESTION


def is_hint(utterance: Utterance) -> bool:
    """Return whether a question hints at a change: "what about Go?", "where is the table?".

    Beside a job that the agent does not have yet, the second one asks for a place in the docs.
    """
    start = skip_marks(utterance.text)
    lexicon = utterance.lexicon
    if lexicon.where_openers.opens(start):
        return not utterance.is_job_unsent
    return lexicon.hint_openers.opens(start)


def asks_for_state(start: str, lexicon: Lexicon) -> bool:
    """Return whether people are asked who did something: "who can merge this?"."""
    return lexicon.who_openers.opens(start) and lexicon.about_state.search(start)
