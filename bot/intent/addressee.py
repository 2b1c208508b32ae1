"""The addressee of a text (step 1): the bot, a colleague, or people who talk about the bot."""

from __future__ import annotations

import re

from bot.intent.folding import fold, hide_quotes, tokenize
from bot.intent.imperatives import is_vague
from bot.intent.kinds import JOB_THREADS, MENTION_ONLY, Place
from bot.intent.lexicon import Lexicon
from bot.intent.phrases import PHRASES
from bot.intent.questions import opens_question
from bot.intent.social_acts import is_thanks
from bot.intent.utterance import drop_mentions, find_mention, skip_fillers, skip_requests

_MAX_START_CHARACTERS = 150
"""The addressee of a text stands at its start."""
_MAX_JUDGED_CHARACTERS = 500
"""The text before and after the mention, by which it is known for whom the text is."""
_MAX_SHORT_WORDS = 3
"""A longer text after the mention stands for itself: "@docs-agent maybe you know"."""
_ASIDE_PATTERN = re.compile(r"\s*(?:!|aside\b)", re.IGNORECASE)
"""Begins a text that is never for the bot."""
_CLAUSE_ENDED_PATTERN = re.compile(r"[.,!?;:…)\n\u2600-\u27bf\U0001f300-\U0001faff][ \t]*\Z")
_AFTER_MENTION_PATTERN = re.compile(r"(?:[\s,;-]|:(?![a-z0-9_+'-]+:))*", re.IGNORECASE)
"""The signs between a mention and the text after it. The colon of an emoji (``:tada:``) stays."""
_POSSESSIVE_PATTERN = re.compile(r"['’]s\b", re.IGNORECASE)
_COLLEAGUE_PATTERN = re.compile(r"(?:cc:? )?[+^ ]*@[\w.-]+[ ,:]*")
_NAME_PATTERN = re.compile(r"(?:hey |hi )?([^\W\d_]{2,15}),? ")
_CAPITALISED_PATTERN = re.compile(r"(?:[Hh]ey |[Hh]i )?([A-ZÀ-ÖØ-Þ][^\W\d_]{1,14}), ")


def find_part(text: str, place: Place, *, mention: str, lexicon: Lexicon) -> str | None:
    """Return the part of a text for the bot; None if the text is for others.

    "> @docs-agent add a page" is only quoted, "@ana can you look?" is for a colleague.
    """
    visible = hide_quotes(text)
    start = find_mention(visible, mention)
    if start is not None:
        before = visible[:start]
        after = text[start + len(mention) :]
        part = _find_part_by_mention(text, before, after, mention=mention, lexicon=lexicon)
        return None if part is None or is_aside(part, place) else part
    if place in MENTION_ONLY or is_aside(text, place):
        return None
    if place in JOB_THREADS and names_colleague(visible, lexicon):
        return None
    return text.strip()


def is_aside(part: str, place: Place) -> bool:
    """Return whether a text begins with the sign that it is never for the bot."""
    return place is not Place.COMMAND and _ASIDE_PATTERN.match(part) is not None


def _find_part_by_mention(
    text: str,
    before: str,
    after: str,
    *,
    mention: str,
    lexicon: Lexicon,
) -> str | None:
    """Return the part of a text for the bot; None if the text is about the bot.

    After a greeting or the end of a clause the rest is for the bot ("not sure, @docs-agent do we
    have a limit?"). The whole is, if the mention is its end ("is there a limit @docs-agent?") or
    the rest refers to the clause ("we have a new flag. @docs-agent document it").
    """
    whole = text.strip()
    introduction = fold(before[-_MAX_JUDGED_CHARACTERS:]).strip()
    rest = _AFTER_MENTION_PATTERN.sub("", after, count=1).rstrip()
    folded_rest = fold(drop_mentions(rest[:_MAX_JUDGED_CHARACTERS], mention))
    if not tokenize(folded_rest):
        return None if _is_spoken_of(introduction, lexicon) else whole
    if _POSSESSIVE_PATTERN.match(after) or _is_about_bot(introduction, folded_rest, lexicon):
        return None
    if is_thanks(introduction):  # "nice @docs-agent, that was quick"
        return whole
    words_before = skip_fillers(introduction, lexicon)
    if lexicon.modals.is_whole(words_before):  # "can @docs-agent add it?"
        return whole
    is_short = len(tokenize(folded_rest)) <= _MAX_SHORT_WORDS
    if introduction.endswith("?") and is_short:  # "is there a limit? @docs-agent maybe you know"
        return whole
    if words_before == "" or after.startswith(":"):  # "let's ask @docs-agent: is it?"
        return rest
    if _CLAUSE_ENDED_PATTERN.search(before) or _continues_with_request(
        introduction, folded_rest, lexicon
    ):
        return whole if is_vague(folded_rest, lexicon) else rest
    return None


def _is_about_bot(introduction: str, rest: str, lexicon: Lexicon) -> bool:
    """Return whether the mention is the subject of a statement: "@docs-agent helped me"."""
    is_subject = skip_fillers(introduction, lexicon) == ""
    return is_subject and lexicon.bot_predicates.opens(rest)


def _continues_with_request(introduction: str, rest: str, lexicon: Lexicon) -> bool:
    """Return whether a request follows a clause without punctuation: "sorry @bot but what is …"."""
    if _is_spoken_of(introduction, lexicon) or not lexicon.clause_openers.opens(rest):
        return False
    start = skip_requests(skip_fillers(rest, lexicon), lexicon)
    return opens_question(start, lexicon) or lexicon.verbs.opens(start)


def _is_spoken_of(introduction: str, lexicon: Lexicon) -> bool:
    """Return whether a text before the mention is about the bot: "you can ask"."""
    words = introduction.split()
    return bool(words) and lexicon.bot_as_object.is_whole(words[-1])


def names_colleague(visible: str, lexicon: Lexicon) -> bool:
    """Return whether a text addresses a colleague: "@ana can you look?", "Ben, did you see it?"."""
    start = skip_fillers(fold(visible[:_MAX_START_CHARACTERS]), lexicon)
    colleague = _COLLEAGUE_PATTERN.match(start)
    if colleague is not None:
        return not lexicon.colleague_statements.opens(start[colleague.end() :])
    name = _CAPITALISED_PATTERN.match(visible.lstrip())
    if name is not None and not _is_known_word(fold(name[1]), lexicon):
        rest = fold(visible.lstrip()[name.end() : _MAX_JUDGED_CHARACTERS])
        return rest.rstrip().endswith("?") or "you" in tokenize(rest)
    name = _NAME_PATTERN.match(start)
    if name is None or _is_known_word(name[1], lexicon):
        return False
    return lexicon.colleague_requests.opens(start[name.end() :])


def _is_known_word(word: str, lexicon: Lexicon) -> bool:
    """Return whether a word is no name: "perfect" in "perfect, can you also add a table?"."""
    if PHRASES.find_names((word,)) is not None:
        return True
    known = (
        lexicon.fillers,
        lexicon.talk_openers,
        lexicon.question_openers,
        lexicon.question_verbs,
        lexicon.verbs,
        lexicon.docs_parts,
    )
    return any(words.is_whole(word) for words in known)
