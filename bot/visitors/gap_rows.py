"""Content gaps as the docs service returns them, masked."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TypedDict

from bot.docs_api import DocsClient
from bot.messages.plain_text import one_line
from bot.visitors.model.gaps import (
    MOST_READ,
    TEXT_LENGTH,
    Comment,
    GapRows,
    Search,
    Source,
    UnansweredQuestion,
    Votes,
    clean_text,
    merge_searches,
    page_of,
)
from bot.visitors.model.periods import Period


class _Window(TypedDict):
    date_from: date
    date_to: date
    limit: int


async def read_gap_rows(docs: DocsClient, project: str, source: Source, period: Period) -> GapRows:
    """Return the masked rows of one call. Raises DocsApiError."""
    window = _Window(date_from=period.first, date_to=period.end, limit=MOST_READ)
    read = {Source.VOTES: _votes, Source.COMMENTS: _comments, Source.QUESTIONS: _questions}
    return await read.get(source, _searches)(docs, project, window)


async def _searches(docs: DocsClient, project: str, window: _Window) -> GapRows:
    page = await docs.searches(project, **window)
    searches = (
        Search(
            clean_text(search.search_query),
            search.hits,
            None if search.ctr is None else round(search.hits * search.ctr / 100),
            _page(search.top_clicked_page),
        )
        for search in page.searches
    )
    rows = merge_searches(search for search in searches if search.words)
    return GapRows(searches=tuple(rows), events=page.total_searches, is_part=page.has_more)


async def _votes(docs: DocsClient, project: str, window: _Window) -> GapRows:
    page = await docs.feedback_by_page(project, **window)
    votes = [
        Votes(_page(votes.path) or "/", votes.thumbs_up, votes.thumbs_down, votes.code)
        for votes in page.feedback
        if votes.thumbs_up or votes.thumbs_down or votes.code
    ]
    return GapRows(votes=tuple(votes), is_part=page.has_more)


async def _comments(docs: DocsClient, project: str, window: _Window) -> GapRows:
    page = await docs.feedback(project, **window)
    long_ago = datetime.min.replace(tzinfo=UTC)
    newest = sorted(page.feedback, key=lambda comment: comment.created_at or long_ago, reverse=True)
    comments = (
        Comment(
            _page(comment.path) or "/", clean_text(comment.comment or ""), comment.source == "agent"
        )
        for comment in newest
    )
    rows = tuple(comment for comment in comments if comment.text)
    return GapRows(comments=rows, is_part=page.has_more)


async def _questions(docs: DocsClient, project: str, window: _Window) -> GapRows:
    page = await docs.assistant(project, **window)
    questions = (
        UnansweredQuestion(clean_text(asked.query), page=_page(asked.page_url))
        for asked in page.conversations
        if asked.is_unanswered
    )
    rows = tuple(question for question in questions if question.text)
    return GapRows(questions=rows, events=len(page.conversations), is_part=page.has_more)


def _page(address: str | None) -> str | None:
    return page_of(one_line(address, TEXT_LENGTH)) if address else None
