"""Prohibitions: clauses that forbid a change, as in "please don't touch the page"."""

from __future__ import annotations

from collections.abc import Iterable

from bot.intent.lexicon import Lexicon
from bot.intent.utterance import skip_fillers, skip_requests, strip_ending

_END_MARKS = " .!…"


def join_afterthoughts(clauses: Iterable[str], lexicon: Lexicon) -> list[str]:
    """Return clauses with those that only negate the one before: "ändere sie, bitte nicht"."""
    joined: list[str] = []
    for clause in clauses:
        words = skip_fillers(clause, lexicon).rstrip(_END_MARKS)
        is_ending = lexicon.negation_endings.is_whole(words)
        if joined and (is_ending or lexicon.unchanged_endings.is_whole(words)):
            joined[-1] += f" {words}"
        elif words:  # "please" alone asks for nothing
            joined.append(clause)
    return joined


def is_prohibition(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause forbids a change: "don't touch the page", "leave it as is"."""
    text = clause.rstrip(_END_MARKS)
    return (
        opens_with_negation(text, lexicon)
        or ends_with_negation(text, lexicon)
        or ends_with_negated_verb(text, lexicon)
        or leaves_unchanged(text, lexicon)
        or lexicon.prohibition_endings.find_ending(text) is not None
    )


def opens_with_negation(text: str, lexicon: Lexicon) -> bool:
    """Return whether a request begins with a negated verb of change: "don't delete the page".

    "Don't use the word simply" is another request: it asks for other words.
    """
    if any(is_lead(text[:start], lexicon) for start, _ in lexicon.prohibitions.spans(text)):
        return True
    return any(
        is_lead(text[:start], lexicon) and names_forbidden_change(text[end:].lstrip(), lexicon)
        for start, end in lexicon.negators.spans(text)
    )


def is_lead(text: str, lexicon: Lexicon) -> bool:
    """Return whether a text only leads up to a request: "ok, could you"."""
    starts = (text, skip_fillers(text, lexicon))
    return any(skip_requests(start, lexicon).strip() == "" for start in starts)


def names_forbidden_change(request: str, lexicon: Lexicon) -> bool:
    """Return whether a text after a negation is a change: "delete it", "die Seite ändern".

    "Nicht nur den Titel ändern" forbids nothing.
    """
    if opens_with_change(request, lexicon):
        return True
    if lexicon.wording_verbs.opens(request) or lexicon.fillers.opens(request):
        return False
    return lexicon.verbs_anywhere.find_ending(request) is not None


def opens_with_change(request: str, lexicon: Lexicon) -> bool:
    """Return whether a text begins with a verb of change that can be forbidden: "delete"."""
    if lexicon.wording_verbs.opens(request):
        return False
    return lexicon.verbs.opens(request) or lexicon.verbs_anywhere.opens(request)


def ends_with_negation(text: str, lexicon: Lexicon) -> bool:
    """Return whether a negation ends a request: "ändere die Seite nicht"."""
    request = skip_requests(skip_fillers(text, lexicon), lexicon)
    if lexicon.negation_endings.find_ending(request) is None:
        return False
    return opens_with_change(request, lexicon)


def ends_with_negated_verb(text: str, lexicon: Lexicon) -> bool:
    """Return whether a negated verb ends a request: "bitte die Seite nicht ändern"."""
    request = skip_requests(text, lexicon)
    verb = lexicon.verbs_anywhere.find_ending(request)
    if request == text or verb is None:
        return False
    before = request[:verb].rstrip()
    is_only_verb = not lexicon.verbs_anywhere.search(before)
    return is_only_verb and lexicon.negators.find_ending(before) is not None


def leaves_unchanged(text: str, lexicon: Lexicon) -> bool:
    """Return whether a request is to change nothing: "please leave the page as it is".

    "Leave a note that the key stays as it is" asks for something new.
    """
    start = skip_fillers(text, lexicon)
    request = skip_requests(start, lexicon)
    request = request[len(lexicon.shared_requests.match(request)) :].lstrip()
    if not (leaves_known_thing(start, lexicon) or leaves_known_thing(request, lexicon)):
        return False
    ends = (text, strip_ending(text, lexicon))
    return any(lexicon.unchanged_endings.find_ending(end) is not None for end in ends)


def leaves_known_thing(request: str, lexicon: Lexicon) -> bool:
    """Return whether a request begins as "leave the page" does, and not as "leave a note"."""
    verb = lexicon.leave_verbs.match(request)
    return bool(verb) and not lexicon.indefinite_articles.opens(request[len(verb) :].lstrip())
