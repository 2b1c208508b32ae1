"""What tells that a text has something to change: an order, a request, a defect, a wish or a new fact.

Linear in the text. Words are casefolded; ``0`` stands for any number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from bot.model import lexicon

Words = tuple[str, ...]
_MARKS = "?!.,;:…'\"`“”‘()[]{}*_~-–—/+&"


def words_of(text: str) -> Words:
    """Return the words of a text without the marks around them."""
    words = (word if word in ("+1", "1+") else word.strip(_MARKS) for word in re.split(r"[\s,–—…]+", text))
    return tuple("0" if re.fullmatch("#?[0-9]+", word) else word for word in words if word)


_BREAK = re.compile(
    r"[,;:()–—…\n](?=\s|$)|\s[-–—+•*]{1,3}\s|\s[(]|(?<!say)\s(?=(?:and|but|then|so|because|or)\s)"
)


def clauses_of(sentence: str) -> Iterator[Words]:
    """Yield the words of each clause of a sentence."""
    for clause in _BREAK.split(sentence):
        if words := words_of(clause):
            yield words


def has_signal(sentence: str, *, asks: bool) -> bool:
    """Return whether a sentence has something to change. ``asks``: it ends with a question mark."""
    if _REPLACES.search(sentence) or (not asks and _HEADED.search(sentence)):
        return True
    is_question = False
    for words in clauses_of(sentence):
        bare = _without_lead(words)
        is_question = (
            opens_question(bare)
            or (asks and bare[:1] and bare[0] in lexicon.ASKING)
            or (is_question and (asks or words[0] in _JOINS))
        )
        if _requests(bare) or _SUGGESTS.match(" ".join(bare)):
            return True
        if is_question:
            polite = not lexicon.POLITE.isdisjoint(words)
            if _orders(words) and (polite or _later_pronoun(bare)):
                return True
        elif _orders(words) or _states(words):
            return True
    return not is_question and bool(_NOT_BUT.search(f" {' '.join(words_of(sentence))} "))


def opens_question(words: Words) -> bool:
    """Return whether words begin as a question does, also without its mark."""
    words = _without_lead(words)
    return _QUESTION.match(" ".join(words)) is not None


def is_order(words: Words) -> bool:
    """Return whether a clause is an order or asks for a change: "can you update it?"."""
    return _orders(words) or _requests(_without_lead(words))


def _orders(words: Words) -> bool:
    """Return whether a clause begins with a verb of an instruction and what it is about."""
    if more := _MORE.match(" ".join(words)):
        return _is_about(words[len(more[0].split()) :])
    if words[:1] in _ADDING and words[1:2] in lexicon.ARTICLES and lexicon.PRAISE.isdisjoint(words):
        return _names_docs(words)
    is_polite = not lexicon.POLITE.isdisjoint(words)
    words = _without_lead(words)
    if is_polite and len(words) == 1 and words[0] in lexicon.STRONG:
        return True
    if words[:1] and words[0] in _NEGATIONS:
        return _forbids(words[1:])
    if words[:2] in (("do", "not"), ("no", "need")):
        return _forbids(words[2:])
    if asked := _LET_US.match(" ".join(words)):
        words = words[len(asked[0].split()) :]
    if words[:1] == ("stop",):
        return len(words) > 1 and words[1] in _GERUNDS and _is_about(words[2:])
    return _is_order(words) or _ordered_later(words)


def _is_order(words: Words) -> bool:
    if not words:
        return False
    verb, rest = words[0], words[1:]
    if _PHRASES.match(" ".join(words)):
        return True
    if verb in lexicon.DROPS:
        return _names_docs(rest) and lexicon.JOB.isdisjoint(rest)
    if verb in lexicon.WRITING:
        return (
            bool(rest)
            and rest[0] not in _NO_OBJECT
            and (rest[0] in _PRONOUNS or not lexicon.SMALL.issuperset(rest))
        )
    if verb in lexicon.STRONG or _is_slip(verb):
        if not rest or rest[0] in _NO_OBJECT:
            return False
        return rest[0] in _PRONOUNS or lexicon.POLITE.issuperset(rest) or _is_about(rest)
    if verb == "update" and rest[:1] and rest[0] in _PRONOUNS:
        return True
    return verb in lexicon.WEAK and bool(rest) and rest[0] not in _NO_OBJECT_OF_WEAK and _is_about(rest)


_PRONOUNS = lexicon.words("it this that them these those both everything all the one so")
_NO_OBJECT = lexicon.words("""
    is are was were will would looks look has had can could should already me us myself himself herself
""")
_NO_OBJECT_OF_WEAK = _NO_OBJECT | lexicon.words("from about by if whether him her ok okay went")


def _is_about(words: Words) -> bool:
    """Return whether words name something besides jobs, times and people."""
    return any(word not in lexicon.HARMLESS for word in words)


def _forbids(words: Words) -> bool:
    """Return whether words behind "don't" are about the docs rather than about the work itself."""
    is_verb = words[:1] and (words[0] in lexicon.STRONG | lexicon.WEAK | _GERUNDS | _FORBIDDEN)
    return bool(is_verb) and _DELAYS.isdisjoint(words) and _is_about(words[1:])


_ADDING = (("and",), ("also",), ("plus",), ("maybe",))
_NEGATIONS = lexicon.words("don't dont never avoid")
_FORBIDDEN = lexicon.words("forget mention touch call recommend say show assume")
_DELAYS = lexicon.words("yet until till anything before")


def _ordered_later(words: Words) -> bool:
    """Return whether an order stands behind "please" or a place: "on the start page add a note"."""
    for place, (word, following) in enumerate(pairwise(words), 1):
        if word in lexicon.POLITE and _is_order(words[place:]):
            return True
        is_verb = words[0] in lexicon.PLACES and following in lexicon.STRONG
        is_verb &= word not in lexicon.BEFORE_NOUN
        if is_verb and (following in lexicon.PLAIN or words[place + 1 : place + 2] in lexicon.ARTICLES):
            return True
    return False


def _later_pronoun(words: Words) -> bool:
    return len(words) > 1 and words[0] in lexicon.STRONG and words[1] in _PRONOUNS - {"the"}


def _is_slip(word: str) -> bool:
    """Return whether a word is one letter away from a long verb: "documnet"."""
    if len(word) < 5 or len(word) > 12 or word.endswith(("d", "s", "g")) or word in lexicon.HARMLESS:
        return False
    return word not in lexicon.DOCS and not _SLIPS.isdisjoint(_without_one(word) | {word})


def _without_one(word: str) -> frozenset[str]:
    return frozenset(word[:place] + word[place + 1 :] for place in range(len(word)))


_LONG = frozenset(verb for verb in lexicon.STRONG | {"update"} if len(verb) > 5)
_SLIPS = _LONG.union(*map(_without_one, _LONG))
_GERUNDS = frozenset(
    stem + "ing"
    for verb in lexicon.STRONG | lexicon.WEAK | _FORBIDDEN
    for stem in (verb, verb.removesuffix("e"), verb + verb[-1])
)


def _requests(words: Words) -> bool:
    """Return whether somebody is asked for a change: "can you …?", "would you mind …ing?", "we need …"."""
    asked = _REQUEST.match(" ".join(words))
    if not asked:
        return False
    wish = _without_lead(words[len(asked[0].split()) :])
    if not wish or TELL.match(" ".join(wish)):
        return False
    if wish[0] in _HAVING or (wish[0] == "see" and not asked[0].startswith("c")):
        return _names_docs(wish[1:])
    if wish[:1] in lexicon.ARTICLES or (asked[0][0] in "iw" and wish[0] not in lexicon.HARMLESS | _NO_DOCS):
        return _names_docs(wish)
    return _is_order(wish) or (wish[0] in _GERUNDS and (wish[1:2] == ("it",) or _is_about(wish[1:])))


_NO_DOCS = lexicon.words("help access to see know read look go talk")
_HAVING = lexicon.words("have get having")
_WHO = r"(?:you|we|u|ya|someone|somebody|anyone|anybody|one|the bot|the agent)"
_POLITELY = r"(?: (?:guys|all|please|pls|plz|kindly|also|just|maybe|possibly|perhaps|quickly|then))*"
_REQUEST = re.compile(
    rf"(?:any chance |do you think |would it be possible if |is there (?:a|any) way )?(?:"
    rf"(?:can|could|would|will|should|shall|may) {_WHO}{_POLITELY}(?: mind| be able to| consider| try to)?|"
    rf"{_WHO} (?:can|may|should|could|might want to|need to|have to|must|want to){_POLITELY}|"
    r"(?:is|would) it (?:be )?possible to|is there (?:a|any) way to|any chance (?:of|for|to)|"
    r"(?:i|we)(?: would|'d)? (?:want|need|like|love|prefer)(?: (?:you|someone|the agent))?(?: to)?|"
    r"(?:i'd|we'd|id) (?:want|like|love|prefer)(?: (?:you|someone))?(?: to)?|"
    r"(?:he|she|they|\w+) (?:wants|asked|asks|wanted|needs)(?: (?:us|you|me|for))?(?: to)?|"
    r"(?:can|could|may) i(?= (?:have|get))|(?:how|what) about|worth|consider|mind|help (?:me|us)(?: to)?|"
    r"(?:it )?would be (?:good|great|nice|cool|helpful|better|useful)(?: if (?:we|you)(?: could)?| to)?"
    r")(?: |$)"
)
TELL = re.compile(
    r"(?:(?:tell|show|remind|give) (?:me|us)|let (?:me|us) know|check (?:if|whether)|"
    r"explain (?:to (?:me|us)|(?:what|why|how) (?:you|it|this|that)))\b"
)
_LET_US = re.compile(r"(?:let's|lets|let us|be sure to|make sure to|remember to|time to|feel free to) ")
_PHRASES = re.compile(
    r"(?:get rid of|take (?:it |this |that |them )?out|try again|(?:go|went) (?:with|for) |make sure|"
    r"(?:re)?do (?:it|that|this|the same|same)\b(?! (?:yet|tomorrow|later|yourself|myself))|be more |"
    r"(?:the )?(?:first|second|third|last|other|former|latter)(?: (?:one|option|variant|version|half))?"
    r"(?: please| pls)?$|the \w+ one(?: please| pls)?$|option \w{1,2}\b|"
    r"more like |(?:now |also |but )*(?:in|into|to) (?:"
    + "|".join(sorted(lexicon.LANGUAGES))
    + r")\b|(?:i|we) meant (?!to |it |that |well))"
)
_MORE = re.compile(
    r"(?:(?:and|also|only|just|now|not|but|yes|ok) )*"
    r"(?:(?:and|also|only|just|now|the same|same)(?: thing| as \w+)? (?:for|with)|without) "
)
_SUGGESTS = re.compile(
    r"(?:why (?:not|don't (?:we|you))|should(?:n't|nt) |(?:could|would)n't it|how about|what about|"
    r"(?:can|could|should|would) (?:the|this|that|our|your) )"
)
_QUESTION = re.compile(
    r"(?:(?:what's|whats|how's|hows|when's|where's|wheres|why's|who's|whos|whose)\b|"
    r"(?:what|how|when|where|why|who|which|whom)(?: \w+){0,2}? (?:AUX)\b|"
    r"(?:why|how|since when|how come)(?![\w-])|"
    r"do (?:PEOPLE)\b|do \w+ (?:have|support|need|use|work|get)\b|"
    r"(?:is|are|was|were|does|did|has|have|isn't|aren't|doesn't|didn't|wasn't|"
    r"will|can|could|would|should|"
    r"may|am) (?:SUBJECT)\b|(?:any(?:one|body)?|does|did)\b|what$|"
    r"(?:tell|show|remind) (?:me|us)\b|let (?:me|us) know|do you know|i wonder|i'm wondering|wondering|"
    r"explain (?:to (?:me|us)|(?:what|why|how) you))".replace("AUX", "|".join(sorted(lexicon.AUX)))
    .replace("SUBJECT", "|".join(sorted(lexicon.SUBJECTS)))
    .replace("PEOPLE", "|".join(sorted(lexicon.PEOPLE)))
)
_JOINS = lexicon.words("and or because so then")


def _names_docs(words: Words) -> bool:
    """Return whether words name a part of docs, also in the plural."""
    return any(word in lexicon.DOCS or word.removesuffix("s") in lexicon.DOCS for word in words)


def _states(words: Words) -> bool:
    """Return whether a clause states a defect, a wish or something new about the docs."""
    text, bare = " ".join(words), " ".join(_without_lead(words))
    if _SPEAKER.match(bare):
        return bool(_NEW.search(text)) and bare.startswith(("we", "our"))
    if _AT_WORK.search(text) and not _names_docs(words):
        return False
    if _DEFECT.search(text) or _NEW.search(text) or _is_now(words) or _is_fact(words) or _compares(words):
        return True
    return _names_docs(words) and _HINT.search(text) is not None


_SPEAKER = re.compile(
    r"(?:i'll|ill|i will|we'll|we will|i'm|im|i am|we're|we are|i've|i have|i had|i did|i was|let me|i can|"
    r"i could|i don't|i dont|i|me|my|we'd)\b(?! (?:think|thought|guess|feel|find|see|noticed))|"
    r".*\b(?:already|myself|by hand|no longer needed)\b|.*\bchanged (?:my|his|her|our|their) mind|we decided"
)
_AT_WORK = re.compile(
    r"\b(?:build|ci|pipeline|job|jobs|pr|bot|agent|slack|channel|thread|chat|repo|window|person|deploy|"
    r"meeting|call|weekend|lunch)\b|\bgo(?:es)? wrong|went wrong"
)
_DEFECT = re.compile(
    r"\b(?:typos?|nit|mis{1,2}pell\w*|spelled|outdated|out[ -]of[ -]date|obsolete|stale|dead|broken?|"
    r"wrong(?:ly)?|incorrect\w*|inaccurate|inconsistent|missing|lacks?|lacking|incomplete|undocumented|"
    r"misaligned|misleading|mislabell?ed|confus\w+|unclear|ambiguous|redundant|duplicated?|swapped|twice|"
    r"(?<!me )instead|rather than|must|shoud|"
    r"still (?:says?|mentions?|shows?|uses?|links?|lists?|has|have|talks?|refers?)|"
    r"repeats?|contradicts?|forgets|omits|skips|404\w+|with (?:one|a|two|some) (?:\w+ )?changes?|"
    r"keeps? (?:asking|confusing|hitting|getting|mixing|missing)|no longer|any ?more|0 error|"
    r"too (?:long|short|formal|technical|vague|much|many|small|big|salesy|wordy|dense|complicated|verbose)|"
    r"(?:has|have) to go|can go$|could use|is called|are called|is named|except|apart from|aside from|"
    r"shorter|longer|bigger|smaller|larger|simpler|cleaner|friendlier|bolder|tighter|wider|narrower|fewer|"
    r"you (?:forgot|missed|broke|removed|left)|not (?:correct|right|true|clear|documented|up to date)|"
    r"isn't (?:correct|right|true|clear|documented)|"
    r"should(?:n't| not)?(?! (?:be |have )?(?:fine|good|ok|okay|great|enough|ready|done|live|back|able|work|"
    r"do|merge|review|wait|take|ask|know|look|talk|sync|it|i|we|now|soon|all|there)\b))\b"
)
"""What alone tells that something is to change."""
_NEW = re.compile(
    r"\b(?:renamed|moved|changed|switched|replaced|migrated|deprecated|retired|sunset\w*|rebranded|"
    r"(?:don't|no longer) support|dropped support|(?:is|are|it's|its) (?:gone|ga)|(?:has|have|got) a new)\b"
)
_HINT = re.compile(
    r"\b(?:no|not|\w+n't|nobody|never|cannot|cant|dont|doesnt|isnt|hard to|"
    r"needs?|wants?|should(?! be (?:fine|ok|okay|good|enough|live|ready))|old|slow|bad|"
    r"empty|ugly|verbose|weird|off|boring|fails?|failing|crash\w*|error|would be|it'd be|only|says?|claims?|"
    r"use[sd]?|bit|little|formal|just|maybe)\b(?! (?:yet|sure|bad|problem|rush|worries|urgent))"
)
"""What tells so where a part of the docs is named."""


def _is_now(words: Words) -> bool:
    """Return whether a clause says that something is otherwise now: "limits are now 200 an hour"."""
    if "now" not in words or lexicon.COPULAS.isdisjoint(words):
        return False
    begins = next(place for place, word in enumerate(words) if word in lexicon.COPULAS)
    after = words[begins + 1 :]
    return lexicon.PRAISE.isdisjoint(after) and ("0" in after or _is_about(after))


def _is_fact(words: Words) -> bool:
    """Return whether a clause says what something is that docs are about: "the default is 30"."""
    begins = next((place for place, word in enumerate(words) if word in lexicon.COPULAS), 0)
    is_about = not lexicon.FACTS.isdisjoint(words[:begins]) and lexicon.PRAISE.isdisjoint(words)
    return is_about and ("0" in words[begins:] or _is_about(words[begins + 1 :]))


def _compares(words: Words) -> bool:
    """Return whether a clause wants more or less of something."""
    pairs = zip(("", *words), words, (*words[1:], ""), strict=False)
    return any(
        word in ("more", "less") and before not in ("no", "much", "any") and _is_about((after,))
        for before, word, after in pairs
        if after
    )


_NOT_BUT = re.compile(
    r" (?:is|are|it's|its|that's|be|called|use|in|returns?|takes?|has|says?|means?) "
    r"(?!fine|ok|good|great)[^ ]+(?: [^ ]+)? not "
    r"(?!(?:yet|sure|now|bad|urgent|here|today|me|my|to|that|so|in|at)\b)[^ ]"
)
_REPLACES = re.compile(
    r"->|=>|→|⇒|(?:^|\s)s/[^/]{1,80}/|\b(?:just|call it|try|titled?|named|rather) [\"“'`]\w"
)
_HEADED = re.compile(
    r"(?:^|\s)(?:"
    + "|".join(sorted(lexicon.DOCS, key=len, reverse=True))
    + r")s?(?: (?:for|of|in|on) [^:,]{1,30})?: "
    r"(?!https?:|<)\w|^(?:wh|how )[^,]* (?:is|are|can|does|has) .* (?:is|are) (?:missing|wrong|unclear|not)\b"
)
"""A part of docs before a colon, or a question of which something is said."""


def _without_lead(words: Words) -> Words:
    """Return words without greetings, thanks, agreement and "also" before them."""
    while words:
        if words[0] in lexicon.STRONG and len(words) > 1:
            return words
        count = lexicon.longest(words, 0, lexicon.SOFT) or int(
            words[0] in lexicon.SET_OFF or words[0].startswith("project:")
        )
        if not count or (words[0] in ("i", "no", "not") and count == len(words)):
            return words
        words = words[count:]
    return words
