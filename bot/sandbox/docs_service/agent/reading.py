"""Reading a prompt: which clauses it has, and what each of them wants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.sandbox.docs_service.agent.wording import one_line

MOST_CLAUSES = 8
LONGEST_CLAUSE = 400


class Action(StrEnum):
    """What a clause wants to be done."""

    CREATE = "create"
    EXPLAIN = "explain"
    MENTION = "mention"
    EXAMPLE = "example"
    TABLE = "table"
    LINK = "link"
    REPLACE = "replace"
    SPELLING = "spelling"
    REMOVE = "remove"
    SHORTEN = "shorten"
    NOTHING = "nothing"


class PageKind(StrEnum):
    """What kind of page a new one is."""

    QUICKSTART = "quickstart"
    GUIDE = "guide"
    TUTORIAL = "tutorial"
    REFERENCE = "reference"
    TROUBLESHOOTING = "troubleshooting"
    FAQ = "faq"
    CONCEPT = "page"


@dataclass(frozen=True)
class Clause:
    """One wish: what to do and about what; `old` and `new` for a replacement, `odd` without a verb."""

    text: str
    action: Action
    subject: str
    kind: PageKind | None = None
    extras: tuple[str, ...] = ()
    audience: str | None = None
    callout: str = "Note"
    old: str = ""
    new: str = ""
    odd: bool = False


_KINDS = (
    (PageKind.QUICKSTART, r"quick.?starts?(?: guide| page| tutorial)?|getting.started(?: guide| page)?"),
    (PageKind.TROUBLESHOOTING, r"troubleshooting(?: guide| page)?"),
    (PageKind.FAQ, r"faqs?(?: page)?|questions and answers(?: page)?"),
    (PageKind.TUTORIAL, r"tutorials?|walk.?throughs?|step.by.step (?:guide|page)"),
    (PageKind.REFERENCE, r"(?:api )?reference(?: page| docs| documentation)?"),
    (
        PageKind.GUIDE,
        r"(?:guides?|how.?tos?|cookbooks?|recipes?|checklists?|playbooks?|runbooks?)",
    ),
    (
        PageKind.CONCEPT,
        r"(?:new )?(?:pages?|articles?|overviews?|introductions?|glossary|docs?|documentation)",
    ),
)
_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey)\b[^,.!]{0,20}[,.!]?\s+|please\s+|and\s+|also\s+|then\s+|now\s+|so\s+|"
    r"but\s+|next\s+|finally\s+|"
    r"(?:can|could|would|will) (?:you|we)\s+(?:please\s+)?|(?:we|i|users?|it|this|there) "
    r"(?:should|need|must|would like you|want you|want|would like)(?: to)?\s+(?:have\s+)?|"
    r"i'd like (?:you )?(?:to )?|let'?s\s+|you should\s+|"
    r"make sure (?:to |that )?(?:you )?)+",
    re.IGNORECASE,
)
_CREATE = re.compile(
    r"^(?:add|create|write(?: up)?|draft|make|prepare|start|build|produce|compose|new|need|have)\b\s*:?\s*",
    re.IGNORECASE,
)
_EXPLAIN = re.compile(
    r"^(?:explain|describe|document|clarify|expand(?: on| upon)?|elaborate(?: on)?|cover|detail|improve|"
    r"update|rewrite|extend|show|define|outline|go into(?: detail (?:on|about))?|"
    r"tell (?:people|readers|users)|say more about|revise|rework|refresh|polish|restructure|"
    r"fix|correct|talk about|discuss)\b\s*",
    re.IGNORECASE,
)
_MENTION = re.compile(
    r"^(?:mention|note|state|say|include|point out|remark|specify|require|"
    r"recommend|warn(?: (?:people|readers|users))?)\b"
    r"(?:\s+(?:about|against))?\s*(?:that\s+)?",
    re.IGNORECASE,
)
_VERBS = (
    "add|create|write|draft|mention|note|include|explain|describe|document|clarify|expand|remove|delete|rename|replace|"
    "shorten|fix|correct|update|show|link|point out|state|warn|make|cover"
)
_SPLIT = re.compile(
    rf"(?<=[.!?])\s+|\s*\n+\s*|\s*;\s+|,?\s+(?:and|then|and then|but)(?: also)? "
    rf"(?=(?:please )?(?:{_VERBS})\b)|,\s+(?=(?:{_VERBS})\b)",
    re.IGNORECASE,
)
_QUOTE = "[\"'“”‘’`«»]"
_REPLACE = re.compile(
    rf"^(?:rename|replace|change|swap|substitute|correct|fix|update|set|increase|raise|lower|reduce|bump)\s+(?:the\s+)?"
    rf"(?:word\s+|term\s+|text\s+|name\s+)?{_QUOTE}?(?P<old>.{{1,80}}?){_QUOTE}?\s+(?:to|with|by|into)\s+"
    rf"{_QUOTE}?(?P<new>.{{1,80}}?){_QUOTE}?"
    r"(?:\s+(?:on|in|throughout|across|everywhere|at)\b.*)?[.!]?$",
    re.IGNORECASE,
)
_SPELLING = re.compile(r"\btypos?\b|\bspell\w*|\bmisspell\w*|\bproof-?read\b|\bgrammar\b", re.IGNORECASE)
_REMOVE = re.compile(
    r"^(?:remove|delete|drop|cut|take out|leave out|get rid of)\s+(?:the\s+|all\s+|any\s+)?"
    r"(?:sections?|paragraphs?|parts?|sentences?|mentions?|notes?|references?|rows?|steps?)?\s*(?:(?:about|on|of|for|to)\s+)?",
    re.IGNORECASE,
)
_SHORTEN = re.compile(
    r"\b(?:shorten|condense|trim|tighten|simplify|summari[sz]e)\b|"
    r"\b(?:shorter|briefer|more concise|less wordy|simpler)\b|\btoo (?:long|wordy|verbose)\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"^(?:add|include|show|give|provide|write|need|have|use)?\s*(?:(?:an?|another|one|some|more|the|two|real|full|complete|short)\s+)*"
    r"(?:(?P<before>[\w#+. -]{0,40}?)\s+)?(?:code\s+)?(?:examples?|samples?|snippets?)\b\s*"
    r"(?:code\s+)?(?:(?:for|of|on|about|with|that shows?|showing|in|using)\s+)?(?P<subject>.*)$",
    re.IGNORECASE,
)
_PART = re.compile(
    r"^(?:(?:an?|the|another|some|short|brief|new|small|more|quick)\s+)*"
    r"(?P<part>sections?|paragraphs?|notes?|warnings?|tips?|tables?|links?|steps?|details?|information|info|"
    r"explanations?|hints?|callouts?|sentences?|mentions?|prerequisites?)\b\s*"
    r"(?:(?:about|on|for|of|to|with|explaining|describing|that explains|saying|covering|regarding|"
    r"how to)\s+)?"
    r"(?:that\s+)?"
    r"(?P<subject>.*)$",
    re.IGNORECASE,
)
_KIND_AFTER = re.compile(
    r"^(?:(?:an?|the|our|another|new|short|small|brief|complete|full|detailed|simple|basic)\s+)*(?P<kind>"
    + "|".join(f"(?:{pattern})" for _, pattern in _KINDS)
    + r")\b\s*(?:(?:for|about|on|to|of|that|which|explaining|covering|describing|showing|:|-|"
    r"called|titled|named)\s+|$)"
    r"(?:explains?\s+|covers?\s+|describes?\s+|shows?\s+)?(?P<subject>.*)$",
    re.IGNORECASE,
)
_KIND_BEFORE = re.compile(
    r"^(?:(?:an?|the|our|another|new)\s+)*(?P<subject>.{2,80}?)\s+(?P<kind>"
    + "|".join(f"(?:{pattern})" for _, pattern in _KINDS)
    + r")(?P<tail>\s+(?:from|for|to|about|on|in|of)\s+.{1,80})?[.!]?$",
    re.IGNORECASE,
)
_EXTRAS = re.compile(
    r",?\s+(?:with|including|incl\.|that (?:covers|includes|mentions)|covering)\s+(?P<extras>.+)$",
    re.IGNORECASE,
)
_AUDIENCE = re.compile(
    r"\s+for\s+(?P<audience>(?:\w+\s+)?(?:beginners|newcomers|developers|administrators|admins|operators|users|customers|"
    r"engineers|teams|people))$",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"^(?:thanks?(?: you)?(?: (?:a lot|so much|very much))?|thx|great(?: work| job)?|perfect|"
    r"nice(?: work| one)?|lgtm|looks? (?:good|great)(?: to me)?|awesome|cool|ok(?:ay)?|"
    r"good(?: job| work)?|well done|done|yes|no|hi|hello|hey|take your time|please|sure|fine|wow)$",
    re.IGNORECASE,
)


def read(prompt: str, places: Sequence[str] = ()) -> list[Clause]:
    """The wishes of a prompt, in order; none for small talk. `places` are left out of subjects."""
    place = _place_pattern(places)
    clauses = []
    for raw in _SPLIT.split(prompt[: MOST_CLAUSES * LONGEST_CLAUSE * 4]):
        text = one_line(raw or "")[:LONGEST_CLAUSE]
        text = re.sub(r"^[-*•>#\d.)\s]+(?=\w{2})", "", text)
        bare = _POLITE.sub("", text).strip(" .,!?:;…")
        if not re.search(r"\w", bare) or all(
            _SMALL_TALK.match(bit.strip()) for bit in re.split(r"[,!.]", bare)
        ):
            continue
        wish = place.sub("", bare, count=1).strip() if place is not None else bare
        clauses.append(replace(_clause(wish), text=bare))
    return clauses[:MOST_CLAUSES]


def _place_pattern(places: Sequence[str]) -> re.Pattern[str] | None:
    if not places:
        return None
    names = "|".join(re.escape(name) for name in places)
    noun = r"\s+(?:page|guide|docs?|documentation|section|article|reference)\b"
    prose = r"(?:in|on|from|into|at|within|under|across)\s+(?:the\s+|our\s+|this\s+)?"
    return re.compile(
        rf"\s+(?:(?:{prose}|to\s+(?:the\s+|our\s+)?)(?:{names}){noun}|{prose}(?:{names})(?=$|\s+that\b))",
        re.IGNORECASE,
    )


def read_again(clause: Clause) -> Clause:
    """A replacement that could not be made, read as a wish to write about what it says."""
    if match := _EXPLAIN.match(clause.text):
        return replace(clause, action=Action.EXPLAIN, subject=_subject(clause.text[match.end() :]))
    return replace(clause, action=Action.EXPLAIN, subject=_subject(clause.text))


def _clause(text: str) -> Clause:
    found = _SHORTEN.search(text)
    if found:
        return Clause(text, Action.SHORTEN, text)
    if _SPELLING.search(text):
        return _replacement(text) or Clause(text, Action.SPELLING, text)
    if match := _REMOVE.match(text):
        return Clause(text, Action.REMOVE, _subject(text[match.end() :]))
    if (match := _EXAMPLE.match(text)) and not _names_a_kind(text):
        subject = match["subject"] or match["before"] or ""
        return Clause(text, Action.EXAMPLE, _subject(subject))
    if match := _CREATE.match(text):
        return _created(text, text[match.end() :])
    if made := _replacement(text):
        return made
    if match := re.match(r"^link (?:to|it to|this to)?\s*", text, re.IGNORECASE):
        return Clause(text, Action.LINK, _subject(text[match.end() :]))
    if match := _MENTION.match(text):
        callout = "Warning" if text.lower().startswith("warn") else "Note"
        return Clause(text, Action.MENTION, text[match.end() :].strip(), callout=callout)
    if match := _EXPLAIN.match(text):
        if text[match.end() :].lower().startswith("that "):
            return Clause(text, Action.MENTION, text[match.end() + 5 :].strip())
        return Clause(text, Action.EXPLAIN, _subject(text[match.end() :]))
    if _names_a_kind(text) or re.match(r"(?:an?|another|new)\s", text, re.IGNORECASE):
        return _created(text, text)
    return Clause(text, Action.NOTHING, _subject(text))


def _replacement(text: str) -> Clause | None:
    match = _REPLACE.match(text)
    if match is None:
        return None
    old = re.sub(r"^(?:typos?|spelling of|misspelling)\s+", "", match["old"], flags=re.IGNORECASE)
    return Clause(
        text, Action.REPLACE, text, old=old.strip("\"'“”‘’`«» "), new=match["new"].strip("\"'“”‘’`«» .")
    )


def _created(text: str, rest: str) -> Clause:
    if match := _PART.match(rest):
        part = match["part"].lower().rstrip("s")
        subject = match["subject"].strip()
        if part == "table":
            return Clause(text, Action.TABLE, _subject(subject))
        if part == "link":
            return Clause(text, Action.LINK, _subject(subject))
        if part in ("note", "warning", "tip", "hint", "callout", "sentence", "mention", "prerequisite"):
            callout = part.capitalize() if part in ("warning", "tip") else "Note"
            return Clause(text, Action.MENTION, subject, callout=callout)
        return Clause(text, Action.EXPLAIN, _subject(subject))
    if rest.lower().startswith("that "):
        return Clause(text, Action.MENTION, rest[5:])
    rest, extras = _split_extras(rest)
    audience = _AUDIENCE.search(rest)
    if audience:
        rest = rest[: audience.start()]
    for pattern in (_KIND_AFTER, _KIND_BEFORE):
        match = pattern.match(rest)
        if match and (match["subject"] or audience):
            who = audience["audience"] if audience else None
            subject = _subject(match["subject"]) or _subject(who or "")
            subject += match.groupdict().get("tail") or ""
            return Clause(text, Action.CREATE, subject, _kind(match["kind"]), extras, who)
    if match := re.match(r"^(?:more\s+)?(?:about|on)\s+", rest, re.IGNORECASE):
        return Clause(text, Action.EXPLAIN, _subject(rest[match.end() :]), extras=extras)
    return Clause(text, Action.EXPLAIN, _subject(rest), extras=extras)


def _split_extras(text: str) -> tuple[str, tuple[str, ...]]:
    match = _EXTRAS.search(text)
    if match is None:
        return text, ()
    items = re.split(r",\s*(?:and\s+)?|\s+and\s+", match["extras"])
    return text[: match.start()], tuple(_subject(item) for item in items if _subject(item))[:5]


def _kind(text: str) -> PageKind:
    return next(kind for kind, pattern in _KINDS if re.fullmatch(pattern, text, re.IGNORECASE))


def _names_a_kind(text: str) -> bool:
    match = _KIND_AFTER.match(_split_extras(_CREATE.sub("", text))[0])
    return match is not None and bool(match["subject"])


_PLACE = re.compile(
    r"\s+(?:to|in|on|into|of|from|for|at|within)\s+(?:(?:the|our|this|that)\s+)?(?:docs?|documentation|site|website|page|it|here|"
    r"[\w /.-]{1,40}?\s+(?:page|guide|docs?|section|article|reference))$",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:(?:an?|the|our|your|some|any|all|new|more|missing|full|short|brief|"
    r"about|on|for|to|of|that|which|how the|details?)\s+)+",
    re.IGNORECASE,
)


def _subject(text: str) -> str:
    text = _PLACE.sub("", text.strip(' .,!?:;…"“”'))
    text = re.sub(r"^(?:how (?:to|you(?: can)?|we)|the way to)\s+", "how to ", text, flags=re.IGNORECASE)
    return _LEADING.sub("", text).strip(' .,!?:;…"“”')
