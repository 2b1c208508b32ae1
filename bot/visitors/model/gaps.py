"""Content gaps: searches without a click, pages that did not help, questions without an answer.

Searches, votes and questions are events and may be added up. Their texts are readers' texts: they are masked
before they are stored, and are data wherever they are used.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.masking import masked
from bot.messages.plain_text import one_line

TEXT_LENGTH = 1_000
"""Maximum characters of a reader's text that are stored."""
_PATH_LENGTH = 300


MOST_READ = 100
"""Maximum rows of each source: one call returns no more."""


class Topic(StrEnum):
    """The subject of a question."""

    VISITORS = "visitors"
    SEARCHES = "searches"
    FEEDBACK = "feedback"
    QUESTIONS = "questions"

    @property
    def is_gaps(self) -> bool:
        return self is not Topic.VISITORS


GAP_TOPICS = tuple(topic for topic in Topic if topic.is_gaps)


class Source(StrEnum):
    """An analytics operation of the docs service, that is read."""

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
    """A text that readers searched for."""

    words: str
    hits: int
    """Number of searches."""
    clicks: int | None
    """Number of searches followed by a click, rounded; None if the service reports no rate."""
    page: str | None = None
    """The page clicked most."""

    @property
    def key(self) -> str:
        return row_key(self.words)


@dataclass(frozen=True, slots=True)
class Votes:
    """Readers' votes on a page."""

    page: str
    helpful: int
    not_helpful: int
    code: int = 0
    """Number of remarks on the page's code."""

    @property
    def total(self) -> int:
        return self.helpful + self.not_helpful


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a page."""

    page: str
    text: str
    by_agent: bool = False
    """Whether another AI agent wrote it, not a person."""


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """A question without an answer of the docs' assistant."""

    text: str
    page: str | None = None

    @property
    def key(self) -> str:
        """The key of its row: its text without case, blanks and signs."""
        bare = "".join(sign for sign in self.text.casefold() if sign.isalnum())
        return row_key("text", bare or self.text)


@dataclass(frozen=True, slots=True)
class GapRows:
    """The rows of one call, masked."""

    searches: tuple[Search, ...] = ()
    votes: tuple[Votes, ...] = ()
    comments: tuple[Comment, ...] = ()
    """The newest first."""
    questions: tuple[UnansweredQuestion, ...] = ()
    events: int | None = None
    """All searches of the period, or all questions that were read, also answered ones."""
    is_part: bool = False
    """Whether the service has more rows."""

    def without(self, hidden: Collection[str]) -> GapRows:
        """Return the rows without questions of these keys, which people may also have searched for."""
        searches = (row for row in self.searches if UnansweredQuestion(row.words).key not in hidden)
        questions = (row for row in self.questions if row.key not in hidden)
        return replace(self, searches=tuple(searches), questions=tuple(questions))


def clean_text(text: str) -> str:
    """Return a reader's text as it is stored: on one line, masked and clipped."""
    return one_line(masked(one_line(text, len(text)), is_readers=True), TEXT_LENGTH)


def row_key(*parts: str) -> str:
    """Return a short key of texts, by which a button names its row."""
    text = "\n".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def page_of(address: str | None) -> str | None:
    """Return the masked path of a page from its path or its address; None if there is none.

    The caller has removed invisible characters.
    """
    if not address:
        return None
    path = re.sub(r"^https?://[^/?#]*", "", address[:TEXT_LENGTH], flags=re.IGNORECASE)
    return (
        masked(re.split(r"[?#\s\"“”<>]", path, maxsplit=1)[0], is_readers=True)[:_PATH_LENGTH]
        or "/"
    )


def merge_searches(searches: Iterable[Search]) -> list[Search]:
    """Return searches with one row for the same words: masked or in small letters, texts may be the same."""
    rows: dict[str, Search] = {}
    for search in searches:
        key = search.words.casefold()
        rows[key] = _add_search(rows[key], search) if key in rows else search
    return list(rows.values())


def _add_search(one: Search, other: Search) -> Search:
    clicks = None if one.clicks is None or other.clicks is None else one.clicks + other.clicks
    return replace(one, hits=one.hits + other.hits, clicks=clicks, page=one.page or other.page)


def rank_searches(searches: Iterable[Search]) -> list[Search]:
    """Return searches without a click first, then the most frequent."""
    return sorted(searches, key=lambda search: (search.clicks != 0, -search.hits, search.words))


def group_questions(questions: Iterable[UnansweredQuestion]) -> list[list[UnansweredQuestion]]:
    """Return the questions of each row, the largest group first."""
    groups: dict[str, list[UnansweredQuestion]] = {}
    for question in questions:
        groups.setdefault(question.key, []).append(question)
    return sorted(groups.values(), key=len, reverse=True)


@dataclass(frozen=True, slots=True)
class PageFeedback:
    """Votes and comments on a page, of people or of AI agents."""

    page: str
    votes: Votes | None
    """None if no votes were read."""
    comments: Sequence[Comment]

    @property
    def by_agents(self) -> bool:
        """Whether only AI agents commented."""
        return self.votes is None and all(comment.by_agent for comment in self.comments)

    @property
    def key(self) -> str:
        return page_row_key(self.page, by_agents=self.by_agents)


def page_row_key(path: str, *, by_agents: bool = False) -> str:
    """Return the key of a page's row, with the feedback of people or of AI agents."""
    return row_key("AI agents" if by_agents else "people", path)


def group_feedback(votes: Iterable[Votes], comments: Iterable[Comment]) -> list[PageFeedback]:
    """Return pages with their votes and comments, the least helpful first."""
    votes_of = {vote.page: vote for vote in votes}
    comments_of: dict[str, list[Comment]] = {}
    for comment in comments:
        comments_of.setdefault(comment.page, []).append(comment)
    pages = (
        PageFeedback(page, votes_of.get(page), comments_of.get(page, ()))
        for page in {**votes_of, **comments_of}
    )
    return sorted(pages, key=_helpfulness)


def _helpfulness(feedback: PageFeedback) -> tuple[int, int, int, str]:
    votes = feedback.votes or Votes(feedback.page, 0, 0)
    return -votes.not_helpful, -len(feedback.comments), votes.helpful, feedback.page
