"""The lexicon: the lists of words in the languages of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

from bot.intent.word_files import read_files
from bot.intent.word_lists import WordList, Words


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The words of each list in ``[lexicon]``, in the languages of a text.

    words/en.toml has an example for each.
    """

    # The beginning and the clauses of a text.
    fillers: Words
    intensifiers: Words
    clause_openers: Words
    # 1. The addressee.
    bot_as_object: Words
    bot_predicates: Words
    modals: Words
    colleague_requests: Words
    colleague_statements: Words
    # 2. Whole texts: the bot's own words in a sentence.
    show_requests: Words
    articles: Words
    polite_endings: Words
    product_signs: Words
    scheduling_verbs: Words
    digests: Words
    time_words: Words
    # 3. Imperatives.
    verbs: Words
    verbs_anywhere: Words
    verbs_in_jobs: Words
    gerunds: Words
    idioms: Words
    prohibitions: Words
    prohibition_endings: Words
    negators: Words
    negation_endings: Words
    wording_verbs: Words
    leave_verbs: Words
    unchanged_endings: Words
    verb_nouns: Words
    noun_openers: Words
    place_openers: Words
    docs_parts: Words
    containers: Words
    vague_objects: Words
    requests: Words
    shared_requests: Words
    verbs_of_use: Words
    possibility_openers: Words
    making_verbs: Words
    indefinite_articles: Words
    past_acts: Words
    actors: Words
    indirect_requests: Words
    requests_anywhere: Words
    answer_verbs: Words
    report_verbs: Words
    for_me_endings: Words
    passive_openers: Words
    docs_subjects: Words
    passives: Words
    wishes: Words
    needs: Words
    story_openers: Words
    proposal_openers: Words
    should_openers: Words
    would_openers: Words
    comparisons: Words
    doubt_openers: Words
    doubts: Words
    # 4. Questions.
    question_openers: Words
    question_verbs: Words
    subjects: Words
    predicates: Words
    conditions: Words
    question_endings: Words
    relative_openers: Words
    question_phrases: Words
    asking_verbs: Words
    question_words: Words
    search_phrases: Words
    about_bot: Words
    about_changes: Words
    about_state: Words
    about_reasons: Words
    about_this: Words
    hint_openers: Words
    where_openers: Words
    conjunctions: Words
    people_questions: Words
    who_openers: Words
    # 5. Statements.
    faults: Words
    fact_signs: Words
    finite_verbs: Words
    negations: Words
    no_contrast: Words
    revision_signs: Words
    fragment_openers: Words
    talk_openers: Words
    talk_signs: Words
    personal_talk: Words
    first_person: Words
    opinions: Words
    process_verbs: Words


LIST_NAMES = tuple(field.name for field in fields(Lexicon))


def _load() -> Mapping[str, Mapping[str, WordList]]:
    """Return the lists of each language."""
    return {
        code: {
            name: WordList(words, joins_hyphens=content["language"].get("joins_hyphens", False))
            for name, words in content["lexicon"].items()
        }
        for code, content in read_files().items()
    }


_LISTS = _load()


@lru_cache(maxsize=256)
def lexicon_of(languages: Sequence[str]) -> Lexicon:
    """Return the lexicon of languages by their codes: ``("en", "de")``."""
    return Lexicon(**{name: Words(_find_lists(name, languages)) for name in LIST_NAMES})


def _find_lists(name: str, languages: Sequence[str]) -> list[WordList]:
    return [_LISTS[code][name] for code in languages if name in _LISTS[code]]
