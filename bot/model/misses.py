"""What readers miss: what they searched, what didn't help them, what the docs' assistant didn't answer.

Searches, votes and questions are events and may be added. Their words are readers' words: they are masked
before they are stored, and are data wherever they stand.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from ipaddress import ip_address

WORDS_LENGTH = 1_000
"""Characters that are kept of what a reader wrote."""
_PATH_LENGTH = 300
MOST_READ = 100
"""Rows that are read of each kind: one call brings no more."""
FEW = 30
"""Fewer events than this say little."""
NOT_HERE_FOR = timedelta(days=1)
"""For how long the service is not asked again for what it does not give."""


class Topic(StrEnum):
    """What a question is about."""

    VISITORS = "visitors"
    SEARCHES = "searches"
    FEEDBACK = "feedback"
    QUESTIONS = "questions"

    @property
    def is_missed(self) -> bool:
        """Whether it is about what readers miss."""
        return self is not Topic.VISITORS


class Source(StrEnum):
    """What a snapshot is an answer of: one of the service's analytics operations."""

    VISITORS = "visitors"
    SEARCHES = "searches"
    VOTES = "votes"
    COMMENTS = "comments"
    QUESTIONS = "questions"


SOURCES = {
    Topic.VISITORS: (Source.VISITORS,),
    Topic.SEARCHES: (Source.SEARCHES,),
    Topic.FEEDBACK: (Source.VOTES, Source.COMMENTS),
    Topic.QUESTIONS: (Source.QUESTIONS,),
}


@dataclass(frozen=True, slots=True)
class Search:
    """Words that readers searched.

    ``clicks``: how many of them were followed by a click; None if that is not told. The service tells their
    share, so the number is rounded.
    ``page``: the page clicked most.
    """

    words: str
    hits: int
    clicks: int | None
    page: str | None = None

    @property
    def key(self) -> str:
        """Return what identifies the row in its answer."""
        return hashed(self.words.casefold())


@dataclass(frozen=True, slots=True)
class Votes:
    """How often readers marked a page as helpful and not. ``code``: remarks on its code."""

    page: str
    helpful: int
    not_helpful: int
    code: int = 0

    @property
    def total(self) -> int:
        """All votes."""
        return self.helpful + self.not_helpful


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody wrote about a page; ``by_agent``: another AI agent, and no person."""

    page: str
    text: str
    by_agent: bool = False


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that the docs' assistant did not answer. ``category``: the service's, if it has one."""

    text: str
    category: str | None = None
    page: str | None = None

    @property
    def key(self) -> str:
        """Return what identifies its row: the category, or the text without case, blanks and signs."""
        if self.category:
            return hashed("category", self.category.casefold())
        bare = "".join(sign for sign in self.text.casefold() if sign.isalnum())
        return hashed("text", bare or self.text)


@dataclass(frozen=True, slots=True)
class Words:
    """What one call of the service brought, masked. ``is_part``: the service has more rows.

    ``comments``: the newest first. ``events``: all searches of the period, those of other rows too; all
    questions that were read, answered ones too.
    """

    searches: tuple[Search, ...] = ()
    votes: tuple[Votes, ...] = ()
    comments: tuple[Comment, ...] = ()
    questions: tuple[Unanswered, ...] = ()
    events: int | None = None
    is_part: bool = False


def hashed(*parts: str) -> str:
    """Return a short key of texts."""
    text = "\n".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


# ---- masking

_TOKEN = re.compile(r"[^\s<>()\[\]{},;\"'`“”‘’|]+")
_RUN = re.compile(r"[A-Za-z0-9_-]+")
_SOLID = re.compile(r"[A-Za-z0-9]+")
_KNOWN_KEY = re.compile("(?:sk|pk|rk|gh[opsur]|github_pat|glpat|xox[a-z]|mint)[_-]")
_IP = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?")
_NAMES = ("password", "passwd", "pwd", "secret", "token", "key", "authorization", "bearer")
_NAME_LENGTH = max(map(len, _NAMES))
_SCHEMES = ("basic", "bearer")
_WIDE = str.maketrans("＠：＝", "@:=")
_KEY, _EMAIL, _ADDRESS = "[key]", "[email]", "[address]"
_DIGITS = 12
"""So many digits without a break but hyphens are a number of a card, a phone or an account."""
_MIXED, _LONG = 16, 40
"""So many signs with two digits among letters, or so many of any kind, are no word."""


def masked(text: str) -> str:
    """Return a reader's text without web addresses, email addresses and what looks like a key.

    Takes time in proportion to the text's length. The caller has removed characters that nobody sees.
    """
    before = ""

    def mask(found: re.Match[str]) -> str:
        nonlocal before
        token = found[0].translate(_WIDE)
        if not token.strip(":="):  # stands by itself, as in JSON
            before = before[-_NAME_LENGTH:] + token[0]
            return found[0]
        is_named = _names_secret(before)
        if is_named and token.lower() in _SCHEMES:
            return found[0]
        before = token[-_NAME_LENGTH - 1 :].lower()
        return _KEY if is_named else _masked(found[0], token)

    return _TOKEN.sub(mask, text)


def _names_secret(words: str) -> bool:
    """Return whether a secret follows words in lower case: they end as ``password:``."""
    return words.endswith((":", "=")) and words.rstrip(":=").endswith(_NAMES)


def _masked(text: str, token: str) -> str:
    """Return a token's text; ``token`` has ASCII signs instead of wide ones."""
    if "://" in token or token.lower().startswith(("www.", "mailto:")):
        return _ADDRESS
    name, _, domain = token.replace("%40", "@").partition("@")
    if name and domain:
        return _EMAIL
    if _is_ip(token.rstrip(".:!?")):
        return _ADDRESS
    name, _, value = token.replace("=", ":").partition(":")
    if value.strip(":") and name.lower().endswith(_NAMES):
        return f"{name}:{_KEY}"
    return _RUN.sub(lambda run: _KEY if _is_key(run[0]) else run[0], text)


def _is_ip(token: str) -> bool:
    if token.count(":") < 2 or not any(map(str.isdigit, token)):
        return _IP.fullmatch(token) is not None
    try:
        return bool(ip_address(token))
    except ValueError:
        return False


def _is_key(run: str) -> bool:
    """Return whether letters, digits, hyphens and underscores look like a key, an id or a long number."""
    digits = sum(sign.isdigit() for sign in run)
    if digits and len(run) >= _MIXED and (_KNOWN_KEY.match(run) or (len(run), run.count("-")) == (36, 4)):
        return True
    return digits == len(run.replace("-", "")) >= _DIGITS or any(map(_is_solid_key, _SOLID.findall(run)))


def _is_solid_key(part: str) -> bool:
    digits = sum(sign.isdigit() for sign in part)
    return len(part) >= _LONG or (len(part) >= _MIXED and 2 <= digits < len(part))


def page_of(address: str | None) -> str | None:
    """Return the path of a page that the service names by its path or its address, masked; None for none.

    The caller has removed characters that nobody sees.
    """
    if not address:
        return None
    path = re.sub(r"^https?://[^/?#]*", "", address[:WORDS_LENGTH], flags=re.IGNORECASE)
    return masked(re.split(r"[?#\s\"“”<>]", path, maxsplit=1)[0])[:_PATH_LENGTH] or "/"


# ---- rows of an answer


def folded(searches: Sequence[Search]) -> tuple[Search, ...]:
    """Return searches without those that are unfinished words of others, which they are added to.

    What is searched more often than the longer words is no beginning of them: nobody hides it by one search.
    """
    rows = {each.words.casefold(): each for each in _same_words(searches)}
    for words in sorted(rows, key=len):
        hits = rows[words].hits
        longer = [other for other in rows if _is_begun(words, other) and rows[other].hits >= hits]
        if longer:
            whole = max(longer, key=lambda other: rows[other].hits)
            rows[whole] = _sum(rows[whole], rows.pop(words))
    return tuple(rows.values())


def _same_words(searches: Iterable[Search]) -> Iterable[Search]:
    rows: dict[str, Search] = {}
    for each in searches:
        key = each.words.casefold()
        rows[key] = _sum(rows[key], each) if key in rows else each
    return rows.values()


def _is_begun(words: str, other: str) -> bool:
    """Return whether words end in the middle of a word of others that begin with them."""
    goes_on = len(other) > len(words) > 2 and other.startswith(words)
    return goes_on and words[-1].isalpha() and other[len(words)].isalpha()


def _sum(one: Search, other: Search) -> Search:
    clicks = None if one.clicks is None or other.clicks is None else one.clicks + other.clicks
    return replace(one, hits=one.hits + other.hits, clicks=clicks, page=one.page or other.page)


def missed_first(searches: Sequence[Search]) -> tuple[Search, ...]:
    """Return searches in their order in an answer: those without a click first, then the most frequent."""
    return tuple(sorted(folded(searches), key=lambda each: (each.clicks != 0, -each.hits, each.words)))


def grouped(questions: Iterable[Unanswered]) -> tuple[tuple[Unanswered, ...], ...]:
    """Return the questions of each row, see ``Unanswered.key``. The largest group comes first."""
    groups: dict[str, list[Unanswered]] = {}
    for each in questions:
        groups.setdefault(each.key, []).append(each)
    return tuple(tuple(group) for group in sorted(groups.values(), key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class PageFeedback:
    """What readers said of a page. ``votes``: None if they were not read."""

    page: str
    votes: Votes | None
    comments: tuple[Comment, ...]

    @property
    def by_agents(self) -> bool:
        """Whether other AI agents said it, and no people."""
        return self.votes is None and all(each.by_agent for each in self.comments)

    @property
    def key(self) -> str:
        """Return what identifies its row."""
        return page_key(self.page, by_agents=self.by_agents)


def page_key(path: str, *, by_agents: bool = False) -> str:
    """Return what identifies the row of a page, with what people or other AI agents said of it."""
    return hashed("AI agents" if by_agents else "people", path)


def by_page(votes: Iterable[Votes], comments: Iterable[Comment]) -> tuple[PageFeedback, ...]:
    """Return pages with their votes and comments, that which helped least often first."""
    told, said = {each.page: each for each in votes}, dict[str, list[Comment]]()
    for each in comments:
        said.setdefault(each.page, []).append(each)
    pages = [PageFeedback(page, told.get(page), tuple(said.get(page, ()))) for page in {**told, **said}]
    return tuple(sorted(pages, key=_helped_least))


def _helped_least(of: PageFeedback) -> tuple[int, int, int, str]:
    not_helpful, helpful = (of.votes.not_helpful, of.votes.helpful) if of.votes else (0, 0)
    return -not_helpful, -len(of.comments), helpful, of.page
