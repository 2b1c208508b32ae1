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

from bot.masking import masked

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


def page_of(address: str | None) -> str | None:
    """Return the path of a page that the service names by its path or its address, masked; None for none.

    The caller has removed characters that nobody sees.
    """
    if not address:
        return None
    path = re.sub(r"^https?://[^/?#]*", "", address[:WORDS_LENGTH], flags=re.IGNORECASE)
    return masked(re.split(r"[?#\s\"“”<>]", path, maxsplit=1)[0], is_readers=True)[:_PATH_LENGTH] or "/"


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
