"""The bot's own words as whole texts (step 2), by their names and in people's words."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from bot.intent.folding import Phrase, fold, tokenize
from bot.intent.kinds import ANSWER_THREADS, JOB_THREADS, WITHOUT_CONTEXT, Kind, Place
from bot.intent.lexicon import Lexicon
from bot.intent.options import Options, take_options
from bot.intent.phrases import CONNECTIVES, PHRASES
from bot.intent.utterance import Utterance, skip_fillers, skip_requests, strip_ending
from bot.intent.vocabulary import Vocabulary

MAX_OWN_WORD_CHARACTERS = 150
"""A longer text is none of the bot's own words."""
MIN_LIKENESS = 0.75
"""Of a mistyped word to one of the bot's own."""
THREAD_WORDS = frozenset({"stop", "retry", "merge", "reviewed", "changes", "preview"})
"""Own words that belong to no command."""
VIEWS_OF_JOBS = frozenset({"changes", "preview"})
"""Own words that need a job: the job of the thread, or a named job."""
WORDS_OF_JOBS = frozenset({"status", "retry", "merge", "reviewed", "changes", "preview"})
"""In an answer's thread their phrases are about the question: "link?"."""
ALONE_IS_HELP = frozenset({Place.COMMAND, Place.DIRECT})
"""Where an empty text asks for help."""
_KINDS_IN_JOBS = {
    "stop": Kind.STOP,
    "changes": Kind.CHANGES_QUESTION,
    "preview": Kind.STATE_QUESTION,
}
"""The kinds of own words in a job's thread."""
_SUBSCRIPTIONS = "subscriptions"
"""The own word that shows the times of the bot's digests, and how to change them."""
_HOUR_PATTERN = re.compile(r"\d{1,2}(?:[.h]\d{2})?(?:am|pm|h)?")
"""A word that is a time of day or a part of it: ``10am``, ``09``."""
_ZONE_PATTERN = re.compile(r"(?<!\S)[a-z]+/[a-z_]+(?!\S)")
"""``europe/berlin``."""
_MARKS = ' `*_.!?…？"'


@dataclass(frozen=True, slots=True)
class FoundWord:
    """One of the bot's own words, found in a text."""

    name: str
    typed: str
    """The word with its options, as a person types it: ``visitors last week``."""
    commands: tuple[str, ...] = ()
    """The commands with this word. A word of threads has none."""


STOP = FoundWord("stop", "stop")


def find_own_word(utterance: Utterance, vocabulary: Vocabulary, command: str) -> FoundWord | None:
    """Return the bot's own word that a whole text is: "status 12", "ok, is it ready?"."""
    plain = utterance.plain.strip(_MARKS)
    folded = " ".join(utterance.text.split()).strip(_MARKS)
    if max(len(plain), len(folded)) > MAX_OWN_WORD_CHARACTERS:
        return None
    if not tokenize(utterance.text):
        is_help = utterance.place in ALONE_IS_HELP and not utterance.has_files
        return _to_found_word("help", vocabulary, command) if is_help else None
    wanted = _strip_request(folded, utterance.lexicon)
    texts = dict[str, str]()
    for text in (plain, folded, wanted, _strip_article(wanted, utterance.lexicon)):
        # Own words are the same in any case.
        texts.setdefault(text.lower(), text)
    for text in texts.values():
        words = vocabulary.find(text, command) if text else ()
        if words:
            return FoundWord(words[0].name, text, tuple(word.command for word in words))
        typed = _find_label(text, utterance, vocabulary)
        typed = typed or _find_phrase(text, utterance, vocabulary)
        may_be_digest = _SUBSCRIPTIONS in vocabulary.names and utterance.place not in JOB_THREADS
        if typed is None and may_be_digest and _sets_digest_time(text, utterance.lexicon):
            typed = _SUBSCRIPTIONS
        if typed is not None:
            return _to_found_word(typed, vocabulary, command)
    if wanted in vocabulary.names and (
        wanted not in VIEWS_OF_JOBS or utterance.place in JOB_THREADS
    ):
        return _to_found_word(wanted, vocabulary, command)
    return None


def _to_found_word(typed: str, vocabulary: Vocabulary, command: str) -> FoundWord:
    """Return the word of a text to type, with the commands that take this text."""
    name = typed.split()[0]
    words = vocabulary.find(typed, command)
    commands = tuple(word.command for word in words) or vocabulary.commands_of(name)
    return FoundWord(name, typed, commands)


def _find_label(text: str, utterance: Utterance, vocabulary: Vocabulary) -> str | None:
    """Return the text to type instead of a button with this label: "my jobs"."""
    typed = vocabulary.find_label(tokenize(fold(text)))
    if typed in VIEWS_OF_JOBS and utterance.place not in JOB_THREADS:
        return None
    return typed


def _strip_request(folded: str, lexicon: Lexicon) -> str:
    """Return the word that a sentence asks to see: "show me the gaps please" is "the gaps"."""
    text = skip_fillers(folded, lexicon)
    wish = skip_requests(text, lexicon)
    wish = skip_fillers(wish[len(lexicon.shared_requests.match(wish)) :], lexicon)
    for start in (wish, text):
        request = lexicon.show_requests.match(start)
        if request:
            return strip_ending(skip_fillers(start[len(request) :], lexicon), lexicon)
    return strip_ending(text, lexicon)


def _strip_article(text: str, lexicon: Lexicon) -> str:
    return text[len(lexicon.articles.match(text)) :].lstrip()


def _find_phrase(text: str, utterance: Utterance, vocabulary: Vocabulary) -> str | None:
    """Return the word to type for a text in other words: "is it ready?" is "status"."""
    options = take_options(fold(text))
    names = vocabulary.names | THREAD_WORDS
    if utterance.place in ANSWER_THREADS:
        names -= WORDS_OF_JOBS
    if utterance.place not in JOB_THREADS and not options.job:
        names -= VIEWS_OF_JOBS
    template = _find_template(options, names, utterance)
    return options.fill(template) if template is not None else None


def _find_template(options: Options, names: Collection[str], utterance: Utterance) -> str | None:
    """Return the template of a text without its options: "visitors {period} {path}"."""
    text = options.text
    if not tokenize(text):
        return _template_of_options(options, names, utterance.place)
    template = PHRASES.find_open(text)
    if template is not None and template.split()[0] in names:
        is_about_product = utterance.lexicon.product_signs.search(text)
        return None if is_about_product else template
    pieces = PHRASES.find_pieces(tokenize(text)) or []
    parts = {name for _, name in pieces}
    own = sorted((part for part in parts if part.split()[0] in names), key=len, reverse=True)
    if own == ["reviewed {job}"] and utterance.text.endswith("?"):
        return "status {job}"
    if own:
        is_single = all(len(phrase) == 1 for phrase, name in pieces if name in own)
        return None if is_single and _has_verb(pieces, utterance.lexicon) else own[0]
    return "stop {job}" if _is_withdrawal(parts, utterance.place) else None


def _has_verb(pieces: Collection[tuple[Phrase, str]], lexicon: Lexicon) -> bool:
    """Return whether the connectives make a sentence: "is there a limit", not "can you …"."""
    connectives = [" ".join(phrase) for phrase, name in pieces if name == CONNECTIVES]
    return any(
        lexicon.question_verbs.opens(words) and not lexicon.shared_requests.opens(words)
        for words in connectives
        if not lexicon.requests.opens(words)
    )


def _is_withdrawal(parts: Collection[str], place: Place) -> bool:
    """Return whether a text of these phrases withdraws a request: not "never mind, found it"."""
    if "withdrawals" not in parts or place in ANSWER_THREADS:
        return False
    return place in JOB_THREADS or "thanks" not in parts


def _sets_digest_time(text: str, lexicon: Lexicon) -> bool:
    """Return whether a text names a time of the bot's digest: "change the digest to 10am".

    "Change the digest page" and "set the digest limit to 50" are about the docs.
    """
    request = skip_requests(skip_fillers(fold(text), lexicon), lexicon)
    request = skip_fillers(request[len(lexicon.shared_requests.match(request)) :], lexicon)
    digest = request[len(lexicon.scheduling_verbs.match(request)) :].lstrip()
    name = lexicon.digests.match(digest)
    words = tokenize(_ZONE_PATTERN.sub(" ", digest[len(name) :]))
    if not name or not words:
        return False
    return all(lexicon.time_words.is_whole(word) or _HOUR_PATTERN.fullmatch(word) for word in words)


def _template_of_options(options: Options, names: Collection[str], place: Place) -> str | None:
    """Return the template of a text that is nothing but options: "#7", "last week"."""
    if options.job and "status" in names:
        return "status {job}"
    if options.period and "visitors" in names and place in WITHOUT_CONTEXT:
        return "visitors {period} {path}"
    return None


def find_near_word(utterance: Utterance, vocabulary: Vocabulary, command: str) -> FoundWord | None:
    """Return the own word that a single word is almost: "joobs", "staus 12"."""
    options = take_options(utterance.text)
    words = tokenize(options.text)
    is_single = len(words) == 1 or (len(words) == 2 and words[1].isdecimal())
    if not is_single:
        return None
    names = [name for name in vocabulary.names if len(name) > 3]
    near = get_close_matches(words[0], sorted(names), 1, MIN_LIKENESS)
    if not near:
        return None
    typed = options.fill(" ".join((near[0], *words[1:], "{job} {period} {path}")))
    return _to_found_word(typed, vocabulary, command)


def classify_own_word(word: FoundWord, place: Place) -> Kind:
    """Return the kind of an own word: a shared one if several commands have it."""
    if len(word.commands) > 1:
        return Kind.SHARED_WORD
    if place in JOB_THREADS and word.name in _KINDS_IN_JOBS:
        return _KINDS_IN_JOBS[word.name]
    if word.name == "retry" and place is Place.FAILED_JOB:
        return Kind.RETRY
    return Kind.OWN_WORD
