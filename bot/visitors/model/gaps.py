"""Content gaps: searches without a click, pages that did not help, questions without an answer.

Searches, votes and questions are events and may be added up. Their texts are readers' texts: they
are masked before they are stored, and are data wherever they are used.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.masking import mask_text
from bot.messages.plain_text import one_line

MAX_TEXT_LENGTH = 1_000
"""Maximum characters of a reader's text that are stored."""
_MAX_PATH_LENGTH = 300
MAX_ROWS_READ = 100
"""Maximum rows of each source: one call returns no more."""


class ReportType(StrEnum):
    """The numbers or texts of readers that a question asks for."""

    VISITORS = "visitors"
    SEARCHES = "searches"
    FEEDBACK = "feedback"
    QUESTIONS = "questions"

    @property
    def is_gaps(self) -> bool:
        return self is not ReportType.VISITORS


GAP_REPORT_TYPES = tuple(report_type for report_type in ReportType if report_type.is_gaps)


class Source(StrEnum):
    """An analytics operation of the docs service, that is read."""

    VISITORS = "visitors"
    VIEWS = "views"
    SEARCHES = "searches"
    VOTES = "votes"
    COMMENTS = "comments"
    QUESTIONS = "questions"


SOURCES = {
    ReportType.VISITORS: (Source.VISITORS,),
    ReportType.SEARCHES: (Source.SEARCHES,),
    ReportType.FEEDBACK: (Source.VOTES, Source.COMMENTS),
    ReportType.QUESTIONS: (Source.QUESTIONS,),
}


@dataclass(frozen=True, slots=True)
class GapRow:
    """The events of one search, page, comment or question of readers."""

    text: str = ""
    """The readers' words; empty for the votes on a page."""
    page: str | None = None
    """The page that was clicked most, voted on or commented on.

    For a question, the page that was open when it was asked.
    """
    events: int = 1
    """Number of searches or votes; 1 for a comment and for a question."""
    unmet: int | None = 1
    """How many of them did not help the reader.

    Searches without a click, votes and comments against a page, questions without an answer. None
    if the service does not report it.
    """
    on_code: int = 0
    """Number of remarks on the page's code."""
    by_agent: bool = False
    """Whether another AI agent wrote it, not a person."""
    at: datetime | None = None
    """When a question was asked; None for other rows, and if the service does not report it."""
    conversation: str | None = None
    """The service's id of a question's conversation; None as above."""

    @property
    def met(self) -> int | None:
        """The number of events that helped the reader; None if the service does not report it."""
        return None if self.unmet is None else self.events - self.unmet


@dataclass(frozen=True, slots=True)
class GapRows:
    """The rows of one call, masked."""

    rows: tuple[GapRow, ...] = ()
    """Comments have the newest first."""
    events: int | None = None
    """All searches of the period, or all questions that were read, also answered ones."""
    is_part: bool = False
    """Whether the service has more rows."""

    def without(self, is_hidden: Callable[[GapRow], bool]) -> GapRows:
        """Return the rows that are not hidden."""
        return replace(self, rows=tuple(row for row in self.rows if not is_hidden(row)))


def clean_text(text: str) -> str:
    """Return the stored form of a reader's text: on one line, masked and clipped."""
    return one_line(mask_text(one_line(text, len(text)), is_readers=True), MAX_TEXT_LENGTH)


def page_of(address: str | None) -> str | None:
    """Return the masked path of a page from its path or its address; None if there is none.

    The caller has removed invisible characters.
    """
    if not address:
        return None
    path = re.sub(r"^https?://[^/?#]*", "", address[:MAX_TEXT_LENGTH], flags=re.IGNORECASE)
    bare = re.split(r"[?#\s\"“”<>]", path, maxsplit=1)[0]
    return mask_text(bare, is_readers=True)[:_MAX_PATH_LENGTH] or "/"


# ---- keys


def search_key(words: str) -> str:
    """Return the key of a search's row."""
    return _make_row_key(words)


def question_key(text: str) -> str:
    """Return the key of a question's row, which ignores case, blanks and signs."""
    return _make_row_key("text", bare_words(text))


def bare_words(text: str) -> str:
    """Return a text without case, blanks and signs; the text itself if it has nothing else."""
    return "".join(sign for sign in text.casefold() if sign.isalnum()) or text


def page_row_key(path: str, *, by_agents: bool = False) -> str:
    """Return the key of a page's row, with the feedback of people or of AI agents."""
    return _make_row_key("AI agents" if by_agents else "people", path)


def _make_row_key(*parts: str) -> str:
    """Return a short key of texts, by which a button names its row."""
    text = "\n".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


# ---- rows of an answer


def merge_searches(searches: Iterable[GapRow]) -> list[GapRow]:
    """Return searches with one row for texts that are equal after masking and lower-casing."""
    rows: dict[str, GapRow] = {}
    for search in searches:
        key = search.text.casefold()
        rows[key] = add_wording(rows[key], search) if key in rows else search
    return list(rows.values())


def add_wording(search: GapRow, wording: GapRow) -> GapRow:
    """Return a search with the numbers of another wording added."""
    unmet = None
    if search.unmet is not None and wording.unmet is not None:
        unmet = search.unmet + wording.unmet
    return replace(
        search,
        events=search.events + wording.events,
        unmet=unmet,
        page=search.page or wording.page,
    )


def rank_searches(searches: Iterable[GapRow]) -> list[GapRow]:
    """Return searches without a click first, then the most frequent."""
    return sorted(searches, key=lambda search: (search.met != 0, -search.events, search.text))


def group_questions(questions: Iterable[GapRow]) -> list[list[GapRow]]:
    """Return the questions of each row, the largest group first."""
    groups: dict[str, list[GapRow]] = {}
    for question in questions:
        groups.setdefault(question_key(question.text), []).append(question)
    return sorted(groups.values(), key=len, reverse=True)


@dataclass(frozen=True, slots=True)
class PageFeedback:
    """Votes and comments on a page, of people or of AI agents."""

    page: str
    votes: GapRow | None
    """None if no votes were read."""
    comments: Sequence[GapRow]
    by_agents: bool = False

    @property
    def quotes(self) -> list[str]:
        """The comments against the page: with "not helpful" votes, and from AI agents."""
        return [comment.text for comment in self.comments if comment.unmet]


def group_feedback(votes: Iterable[GapRow], comments: Sequence[GapRow]) -> list[PageFeedback]:
    """Return pages with people's votes and comments, the least helpful first, then AI agents'
    comments.
    """
    by_people = [comment for comment in comments if not comment.by_agent]
    by_agents = [comment for comment in comments if comment.by_agent]
    return [*_group_pages(votes, by_people), *_group_pages((), by_agents, by_agents=True)]


def _group_pages(
    votes: Iterable[GapRow], comments: Iterable[GapRow], *, by_agents: bool = False
) -> list[PageFeedback]:
    votes_of = {vote.page or "/": vote for vote in votes}
    comments_of: dict[str, list[GapRow]] = {}
    for comment in comments:
        comments_of.setdefault(comment.page or "/", []).append(comment)
    pages = [
        PageFeedback(page, votes_of.get(page), comments_of.get(page, ()), by_agents)
        for page in {**votes_of, **comments_of}
    ]
    return sorted(pages, key=_rank_by_helpfulness)


def _rank_by_helpfulness(feedback: PageFeedback) -> tuple[int, int, int, str]:
    against = (feedback.votes.unmet or 0) if feedback.votes else 0
    helpful = (feedback.votes.met or 0) if feedback.votes else 0
    return -against, -len(feedback.quotes), helpful, feedback.page
