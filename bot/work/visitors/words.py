"""Reading what readers missed: one call of the docs service each, masked before anything is stored."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TypedDict

from bot.docs_api import DocsClient
from bot.masking import masked
from bot.messages.plain_text import one_line
from bot.model.misses import (
    MOST_READ,
    WORDS_LENGTH,
    Comment,
    Search,
    Source,
    Unanswered,
    Votes,
    Words,
    page_of,
)
from bot.model.visitors import Period

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class _Asked(TypedDict):
    date_from: date
    date_to: date
    limit: int


async def read_words(docs: DocsClient, project: str, source: Source, period: Period) -> Words:
    """Return what one call of a source brings. Raises the errors of `bot.docs_api`."""
    asked = _Asked(date_from=period.first, date_to=period.end, limit=MOST_READ)
    read = {Source.VOTES: _votes, Source.COMMENTS: _comments, Source.QUESTIONS: _questions}
    return await read.get(source, _searches)(docs, project, asked)


async def _searches(docs: DocsClient, project: str, asked: _Asked) -> Words:
    page = await docs.searches(project, **asked)
    searches = [
        Search(_kept(each.search_query), each.hits, _share(each.hits, each.ctr), _page(each.top_clicked_page))
        for each in page.searches
    ]
    found = tuple(each for each in searches if each.words)
    return Words(searches=found, events=page.total_searches, is_part=page.has_more)


async def _votes(docs: DocsClient, project: str, asked: _Asked) -> Words:
    page = await docs.feedback_by_page(project, **asked)
    votes = [
        Votes(_page(each.path) or "/", each.thumbs_up, each.thumbs_down, each.code)
        for each in page.feedback
        if each.thumbs_up or each.thumbs_down or each.code
    ]
    return Words(votes=tuple(votes), is_part=page.has_more)


async def _comments(docs: DocsClient, project: str, asked: _Asked) -> Words:
    page = await docs.feedback(project, **asked)
    newest = sorted(page.feedback, key=lambda each: each.created_at or _LONG_AGO, reverse=True)
    comments = [
        Comment(_page(each.path) or "/", _kept(each.comment or ""), by_agent=each.source == "agent")
        for each in newest
    ]
    return Words(comments=tuple(each for each in comments if each.text), is_part=page.has_more)


async def _questions(docs: DocsClient, project: str, asked: _Asked) -> Words:
    page = await docs.assistant(project, **asked)
    questions = [
        Unanswered(_kept(each.query), _kept(each.query_category or "") or None, _page(each.page_url))
        for each in page.conversations
        if each.is_unanswered
    ]
    found = tuple(each for each in questions if each.text)
    return Words(questions=found, events=len(page.conversations), is_part=page.has_more)


def _kept(text: str) -> str:
    """Return a reader's text as it is stored: on one line, masked and cut."""
    return one_line(masked(one_line(text, len(text)), is_readers=True), WORDS_LENGTH)


def _page(address: str | None) -> str | None:
    return page_of(one_line(address, WORDS_LENGTH)) if address else None


def _share(hits: int, percent: float | None) -> int | None:
    return None if percent is None else round(hits * percent / 100)
