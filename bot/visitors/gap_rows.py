"""Content gaps as the docs service returns them, converted to masked rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import TypedDict

from bot.docs_api import DocsClient, Feedback, PageFeedbackCounts, SearchCount, Turn
from bot.messages.plain_text import one_line
from bot.visitors.model.gaps import (
    MAX_ROWS_READ,
    MAX_TEXT_LENGTH,
    GapRow,
    GapRows,
    Source,
    clean_text,
    merge_searches,
    page_of,
)
from bot.visitors.model.periods import Period


class _Days(TypedDict):
    date_from: date
    date_to: date
    limit: int


async def read_gap_rows(docs: DocsClient, project: str, source: Source, period: Period) -> GapRows:
    """Return the masked rows of one call. Raises DocsApiError."""
    days = _Days(date_from=period.first, date_to=period.end, limit=MAX_ROWS_READ)
    match source:
        case Source.SEARCHES:
            searches = await docs.searches(project, **days)
            rows = merge_searches(_to_rows(searches.searches))
            return GapRows(tuple(rows), searches.total_searches, searches.has_more)
        case Source.VOTES:
            votes = await docs.feedback_by_page(project, **days)
            return GapRows(_to_rows(votes.feedback), is_part=votes.has_more)
        case Source.COMMENTS:
            comments = await docs.feedback(project, **days)
            newest_first = sorted(comments.feedback, key=_parse_created_at, reverse=True)
            return GapRows(_to_rows(newest_first), is_part=comments.has_more)
        case Source.QUESTIONS:
            turns = await docs.assistant(project, **days)
            unanswered = [turn for turn in turns.conversations if turn.is_unanswered]
            return GapRows(_to_rows(unanswered), len(turns.conversations), turns.has_more)
    raise ValueError(f"no source of content gaps: {source}")


def _parse_created_at(comment: Feedback) -> datetime:
    return comment.created_at or datetime.min.replace(tzinfo=UTC)


_Found = SearchCount | PageFeedbackCounts | Feedback | Turn


def _to_rows(found: Iterable[_Found]) -> tuple[GapRow, ...]:
    """Convert the service's rows. Rows without words and without votes are left out."""
    rows = map(_to_row, found)
    return tuple(row for row in rows if row.text or row.events or row.on_code)


def _to_row(found: _Found) -> GapRow:
    """Return the row of a search, of the votes on a page, of a comment or of a question."""
    match found:
        case SearchCount():
            unmet = None
            if found.ctr is not None:
                unmet = found.hits - round(found.hits * found.ctr / 100)
            words = clean_text(found.search_query)
            page = _read_page(found.top_clicked_page)
            return GapRow(words, page, found.hits if words else 0, unmet)
        case PageFeedbackCounts():
            return GapRow(
                page=_read_page(found.path) or "/",
                events=found.thumbs_up + found.thumbs_down,
                unmet=found.thumbs_down,
                on_code=found.code,
            )
        case Feedback():
            text = clean_text(found.comment or "")
            by_agent = found.source == "agent"
            # Praise is no evidence, and neither is a comment whose direction the service does not
            # report.
            is_against = by_agent or found.helpful is False
            return GapRow(
                text,
                _read_page(found.path) or "/",
                int(bool(text)),
                int(is_against),
                by_agent=by_agent,
            )
        case Turn():
            text = clean_text(found.query)
            return GapRow(
                text,
                _read_page(found.page_url),
                int(bool(text)),
                at=found.timestamp,
                conversation=found.id or None,
            )


def _read_page(address: str | None) -> str | None:
    return page_of(one_line(address, MAX_TEXT_LENGTH)) if address else None
