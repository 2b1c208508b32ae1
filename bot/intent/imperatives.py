"""Imperatives (step 3): clauses that ask for a change, as in "thanks! could you add a table?"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from bot.intent.folding import tokenize
from bot.intent.kinds import JOB_THREADS, WITHOUT_CONTEXT, Kind
from bot.intent.lexicon import Lexicon
from bot.intent.phrases import PHRASES
from bot.intent.prohibitions import is_prohibition, join_afterthoughts
from bot.intent.questions import opens_question, reports_question
from bot.intent.utterance import Utterance, skip_fillers, skip_marks, skip_requests

MAX_PLACE_CHARACTERS = 80
"""A longer beginning is no place before a verb."""
MAX_HINT_WORDS = 8
"""A longer request is no hint: "maybe add an example?"."""


def match_imperative(utterance: Utterance) -> Kind | None:
    """Return a change if a clause asks for one, a suggestion for "should we add a table?"."""
    is_proposal = proposes_change(utterance)
    sentences = utterance.sentences[1:] if is_proposal else utterance.sentences
    if prohibits_change(utterance):
        return Kind.UNCLEAR
    if not any(asks_for_change(sentence, utterance) for sentence in sentences):
        return Kind.SUGGESTION if is_proposal else None
    if hints_at_change(utterance):
        return Kind.SUGGESTION
    has_context = utterance.place not in WITHOUT_CONTEXT or utterance.has_files
    if is_vague(utterance.text, utterance.lexicon) and not has_context:
        return Kind.UNCLEAR
    return Kind.CHANGE


def proposes_change(utterance: Utterance) -> bool:
    """Return whether a text asks whether to change something: "should we add a table?".

    Outside of threads it has to name a part of the docs or a verb that is used of docs alone:
    "should we use v1 or v2?" is a question about the product.
    """
    lexicon = utterance.lexicon
    start = skip_fillers(utterance.text, lexicon)
    if utterance.place in JOB_THREADS and lexicon.doubt_openers.opens(start):
        return not lexicon.about_state.search(start)
    opener = lexicon.proposal_openers.match(start)
    if not opener:
        return weighs_change(start, lexicon)
    if utterance.place not in WITHOUT_CONTEXT or lexicon.docs_parts.search(start):
        return True
    verb = skip_fillers(start[len(opener) :], lexicon)
    if lexicon.gerunds.opens(verb):
        return True
    return lexicon.verbs.opens(verb) and not lexicon.verbs_of_use.opens(verb)


def weighs_change(start: str, lexicon: Lexicon) -> bool:
    """Return whether a text weighs a part of the docs: "should the page have a table?"."""
    if not start.endswith("?") or not lexicon.docs_parts.search(start):
        return False
    if lexicon.should_openers.opens(start):
        return True
    return lexicon.would_openers.opens(start) and lexicon.comparisons.search(start)


def prohibits_change(utterance: Utterance) -> bool:
    """Return whether a text outside of a job's thread only forbids: "don't touch the page".

    In a job's thread it is for the job. "Don't change the title, just add a table" asks, too.
    """
    if utterance.place in JOB_THREADS:
        return False
    clauses = join_afterthoughts(utterance.clauses, utterance.lexicon)
    others = [clause for clause in clauses if not is_prohibition(clause, utterance.lexicon)]
    if len(others) == len(clauses):
        return False
    return not any(asks_for_change((clause,), utterance) for clause in others)


def hints_at_change(utterance: Utterance) -> bool:
    """Return whether a reply in a job's thread only wonders: "maybe add an example?"."""
    text = utterance.text
    if utterance.place not in JOB_THREADS or not text.endswith("?"):
        return False
    is_short = len(tokenize(text)) <= MAX_HINT_WORDS
    return is_short and utterance.lexicon.doubts.opens(skip_marks(text))


def asks_for_change(sentence: Sequence[str], utterance: Utterance) -> bool:
    """Return whether a clause of a sentence asks for a change.

    "how do I open it, set a key?" and "I opened the app, set a key" do not: their verbs go on
    with a question or a story. In a job's thread "what does it mean, give a date" does.
    """
    lexicon = utterance.lexicon
    first = sentence[0]
    if any(is_polite_request(clause, utterance) for clause in sentence):
        return True
    if ends_politely(sentence, utterance):
        return True
    is_question = opens_question(first, lexicon) or reports_question(sentence, utterance)
    if not is_question and any(wishes_change(clause, lexicon) for clause in sentence):
        return True
    is_thread = utterance.place not in WITHOUT_CONTEXT
    if sentence[-1].endswith("?") and (is_question or not is_thread):
        return False
    if is_imperative(first, utterance):
        return True
    is_job_thread = utterance.place in JOB_THREADS
    if is_question and not is_job_thread:
        return False
    if opens_story(first, lexicon) and not is_job_thread and asks_elsewhere(utterance):
        return False
    return any(is_imperative(clause, utterance) for clause in sentence[1:])


def ends_politely(sentence: Sequence[str], utterance: Utterance) -> bool:
    """Return whether a clause asks for a change by the "please" at its end."""
    lexicon = utterance.lexicon
    for clause, following in pairwise(sentence):
        start = skip_fillers(clause, lexicon)
        if lexicon.polite_endings.is_whole(following) and names_change(start, start, utterance):
            return True
    return False


def asks_elsewhere(utterance: Utterance) -> bool:
    """Return whether a sentence of a text is a question, to which the others lead up."""
    return any(
        sentence[-1].endswith("?") or opens_question(sentence[0], utterance.lexicon)
        for sentence in utterance.sentences
    )


def is_polite_request(clause: str, utterance: Utterance) -> bool:
    """Return whether a clause asks politely for a change: "could you please add a table"."""
    lexicon = utterance.lexicon
    start = skip_fillers(clause, lexicon)
    if lexicon.indirect_requests.opens(start) or is_passive_request(start, utterance):
        return True
    if lexicon.requests_anywhere.search(start) and not lexicon.answer_verbs.search(start):
        return True
    verb = skip_requests(start, lexicon)
    if verb != start:
        return names_change(verb, start, utterance)
    shared = lexicon.shared_requests.match(start)
    if not shared:
        return False
    verb = skip_requests(skip_fillers(start[len(shared) :], lexicon), lexicon)
    if lexicon.possibility_openers.opens(start) and names_past_act(verb, lexicon):
        return False
    return names_change(verb, start, utterance) and not is_about_product(verb, utterance)


def names_change(request: str, clause: str, utterance: Utterance) -> bool:
    """Return whether a request goes on with a change: "add a table", not "tell me the limit".

    A verb of no list counts with a part of the docs: "jazz up the intro".
    """
    lexicon = utterance.lexicon
    if lexicon.idioms.opens(request) or is_for_people(request, clause, lexicon):
        return False
    if asks_for_report(request, utterance):
        return False
    if explains_somewhere(request, lexicon):
        return True
    verb = match_verb(request, utterance)
    if len(lexicon.answer_verbs.match(request)) > len(verb):
        return False
    if verb:
        return has_object(request, verb, utterance)
    return not lexicon.noun_openers.opens(request) and lexicon.docs_parts.search(request)


def asks_for_report(request: str, utterance: Utterance) -> bool:
    """Return whether a request outside of a job's thread ends with "for me": "list them for me"."""
    lexicon = utterance.lexicon
    if utterance.place in JOB_THREADS or not lexicon.report_verbs.opens(request):
        return False
    return lexicon.for_me_endings.find_ending(request.rstrip(" ?!.")) is not None


def is_for_people(request: str, clause: str, lexicon: Lexicon) -> bool:
    """Return whether a request is for people: "please review", but not "please review and fix"."""
    for start in (clause, request):
        talk = lexicon.talk_openers.match(start)
        if talk and len(talk) >= len(lexicon.verbs.match(start)):
            return True
    return False


def is_passive_request(start: str, utterance: Utterance) -> bool:
    """Return whether a clause asks for a change in the passive: "can the table be replaced?"."""
    lexicon = utterance.lexicon
    opener = lexicon.passive_openers.match(start)
    if not opener or not lexicon.docs_subjects.opens(start[len(opener) :].lstrip()):
        return False
    if not lexicon.passives.search(start):
        return False
    return utterance.place in JOB_THREADS or lexicon.docs_parts.search(start)


def is_imperative(clause: str, utterance: Utterance) -> bool:
    """Return whether a clause begins with a verb of change: "add a table".

    The verb may stand after a place: "in the CLI guide add a note".
    """
    lexicon = utterance.lexicon
    start = skip_fillers(clause, lexicon)
    if lexicon.place_openers.opens(start):
        return any(
            has_verb(start[end:].lstrip(), utterance)
            for _, end in lexicon.docs_parts.spans(start[:MAX_PLACE_CHARACTERS])
        )
    if lexicon.idioms.opens(skip_marks(clause)) or lexicon.idioms.opens(start):
        return False
    if lexicon.verb_nouns.opens(start) or is_for_people(start, start, lexicon):
        return False
    return has_verb(start, utterance) or explains_somewhere(start, lexicon)


def explains_somewhere(start: str, lexicon: Lexicon) -> bool:
    """Return whether a clause asks to explain something in the docs: "explain it on the page"."""
    if not lexicon.verbs_in_jobs.opens(start):
        return False
    part = lexicon.containers.find_ending(start)
    return part is not None and lexicon.place_openers.search(start[:part])


def wishes_change(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause has a change anywhere: "die Tabelle ergänzen", "we need a guide"."""
    if lexicon.wishes.search(clause) or asks_with_verb_anywhere(clause, lexicon):
        return True
    return needs_new_part(clause, lexicon)


def asks_with_verb_anywhere(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause has a verb of change anywhere: "die Tabelle ergänzen".

    As a question it begins with a request: "kannst du die Tabelle ergänzen?".
    """
    if not lexicon.verbs_anywhere.search(clause):
        return False
    return not clause.endswith("?") or lexicon.requests.opens(skip_fillers(clause, lexicon))


def needs_new_part(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause wishes for a part of the docs: "a guide", not "the list of keys"."""
    wished = [clause[end:].lstrip() for _, end in lexicon.needs.spans(clause)]
    new = [part for part in wished if not lexicon.articles.opens(part)]
    return any(lexicon.docs_parts.search(part) for part in new)


def match_verb(text: str, utterance: Utterance) -> str:
    """Return the verb of change at the beginning of a text; "" if there is none."""
    lexicon = utterance.lexicon
    verb = lexicon.verbs.match(text)
    if not verb and utterance.place in JOB_THREADS:
        return lexicon.verbs_in_jobs.match(text)
    return verb


def has_verb(text: str, utterance: Utterance) -> bool:
    """Return whether a text begins with a verb of change and its object: "add a table"."""
    verb = match_verb(text, utterance)
    return verb != "" and has_object(text, verb, utterance)


def has_object(text: str, verb: str, utterance: Utterance) -> bool:
    """Return whether a verb has an object. In a job's thread it is understood: "undo".

    A bare number is none: "archive 1" names no page.
    """
    if utterance.place in JOB_THREADS or " " in verb:
        return True
    return text[len(verb) :].strip(" ?#0123456789") != ""


def is_about_product(request: str, utterance: Utterance) -> bool:
    """Return whether "can we …" goes on with the product: "use OAuth", not "delete the page"."""
    lexicon = utterance.lexicon
    if utterance.place in JOB_THREADS or not lexicon.verbs_of_use.opens(request):
        return False
    if is_vague(utterance.text, lexicon):
        return False
    return '"' not in request and not lexicon.docs_parts.search(request)


def names_past_act(request: str, lexicon: Lexicon) -> bool:
    """Return whether a request is about a user's thing with a past: "restore a page I deleted".

    "The deleted page" is a page of the docs, and so is the page of "a deleted paragraph".
    """
    verb = lexicon.verbs_of_use.match(request)
    if not verb or lexicon.making_verbs.opens(request):
        return False
    rest = request[len(verb) :].lstrip()
    thing = rest[len(lexicon.indefinite_articles.match(rest)) :].lstrip()
    parts = {thing[start:end] for start, end in lexicon.docs_parts.spans(thing)}
    if thing == rest or len(parts) > 1 or not all(map(lexicon.containers.is_whole, parts)):
        return False
    acts = [thing[:start].split() for start, _ in lexicon.past_acts.spans(thing)]
    return any(not before or lexicon.actors.is_whole(before[-1]) for before in acts)


def opens_story(clause: str, lexicon: Lexicon) -> bool:
    """Return whether a clause begins a story: "I opened the app"."""
    return lexicon.story_openers.opens(skip_fillers(clause, lexicon))


def is_vague(text: str, lexicon: Lexicon) -> bool:
    """Return whether a folded request does not say what to change: "could you fix it"."""
    request = skip_requests(skip_fillers(text, lexicon), lexicon)
    for opener in (lexicon.shared_requests, lexicon.needs):
        request = request[len(opener.match(request)) :].lstrip()
    rest = request[len(lexicon.verbs.match(request)) :]
    return all(is_vague_word(word, lexicon) for word in tokenize(rest))


def is_vague_word(word: str, lexicon: Lexicon) -> bool:
    return lexicon.vague_objects.is_whole(word) or lexicon.verbs_anywhere.is_whole(word)


def takes_request_back(utterance: Utterance) -> bool:
    """Return whether a reply takes a job's request back: "forget it, we won't do this".

    "Scratch that, use a list" does not: it asks for another change.
    """
    if utterance.place not in JOB_THREADS:
        return False
    clauses = list(utterance.clauses)
    others = [clause for clause in clauses if not is_withdrawal(clause)]
    if len(others) == len(clauses):
        return False
    return not any(is_imperative(clause, utterance) for clause in others)


def is_withdrawal(clause: str) -> bool:
    """Return whether a clause is nothing but a withdrawal: "never mind"."""
    names = PHRASES.find_names(tokenize(clause)) or set()
    return bool(names & {"withdrawals", "stop {job}"})
