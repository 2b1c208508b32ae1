"""Formats of `docs-bot visitors`, for any pages."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.docs_api import PageVisitors, Visitors
from bot.visitors.export import MOST_ROWS_SHOWN, VisitorsArgs, format_json, format_table

NOW = datetime(2026, 10, 14, 9, 30, tzinfo=UTC)
FIRST, LAST = date(2026, 10, 5), date(2026, 10, 11)

counts = st.integers(0, 50)
some_pages = st.lists(
    st.builds(PageVisitors, path=st.text(max_size=8), human=counts, ai=counts, total=counts),
    max_size=60,
)


@given(some_pages)
def test_table_ranks_pages_of_any_order(pages: list[PageVisitors]) -> None:
    output = format_table(
        Visitors(human=1, ai=1, total=1), pages, "acme", VisitorsArgs(FIRST, LAST), NOW
    )
    rows = output.split("  Page\n")[1].splitlines() if pages else []
    best = sorted((page.total for page in pages), reverse=True)[:MOST_ROWS_SHOWN]
    assert [int(line[22:32]) for line in rows] == best


@given(some_pages)
def test_json_document_has_any_texts(pages: list[PageVisitors]) -> None:
    text = format_json(
        Visitors(human=1, ai=2, total=3), pages, 'a"\n', VisitorsArgs(FIRST, LAST, "\\"), NOW
    )
    document: dict[str, Any] = json.loads(text)
    assert document["pages"] == [page.model_dump() for page in pages]
    assert (document["project"], document["path"], document["complete"]) == ('a"\n', "/\\", True)
