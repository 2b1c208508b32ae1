"""Charts and tables of Block Kit. Slack's Python library has no classes for them.

https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block ·
https://docs.slack.dev/reference/block-kit/blocks/data-table-block
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.messages.blocks import escape
from bot.messages.numbers import gained, number, page_gain, point_label
from bot.messages.plain_text import clip, one_line
from bot.model.message import Block
from bot.model.period import Period
from bot.model.visitors import Counts, PageCounts

PATH_LENGTH = 72
_TITLE_LENGTH = 50
_PAGE_SIZE = 10


def visitors_chart(title: str, points: Sequence[tuple[Period, Counts]]) -> Block:
    """Return a line chart of people, AI agents and all visitors.

    Each point counts the unique visitors of its own period.
    """
    labels = [point_label(period) for period, _ in points]
    rows = {
        "People": [counts.human for _, counts in points],
        "AI agents": [counts.ai for _, counts in points],
        "All together": [counts.total for _, counts in points],
    }
    series = [
        {
            "name": name,
            "data": [{"label": label, "value": value} for label, value in zip(labels, values, strict=True)],
        }
        for name, values in rows.items()
    ]
    # The axis has no label, because it would repeat the title.
    axes = {"categories": labels}
    return {
        "type": "data_visualization",
        "title": clip(title, _TITLE_LENGTH),
        "chart": {"type": "line", "series": series, "axis_config": axes},
    }


def page_table(caption: str, pages: Sequence[PageCounts], *, compared: bool, whole: bool = True) -> Block:
    """Return a table of pages with their counts. Its column "Change" sorts by visitors gained or lost.

    That column is the second, because a phone shows the first two.

    ``whole``: all rows of the period compared with were read, so a page without one is new.
    """
    header = ["Page", *(["Change"] if compared else []), "All together", "People", "AI agents"]
    rows = [[_text(name) for name in header]]
    for page in pages:
        counts = map(_number, (page.now.total, page.now.human, page.now.ai))
        rows.append([_text(shown_path(page.path)), *([_gain(page, whole)] if compared else []), *counts])
    return {
        "type": "data_table",
        "caption": caption,
        "page_size": _PAGE_SIZE,
        "row_header_column_index": 0,
        "rows": rows,
    }


def shown_path(path: str, length: int = PATH_LENGTH) -> str:
    """Return a path for display: on one line, without hidden characters, never empty.

    It is clipped so that it has at most ``length`` characters even after escaping.
    """
    shown = one_line(path, length)
    while (over := len(escape(shown)) - length) > 0:
        shown = clip(shown, len(shown) - max(over // 5, 1))
    return shown or "(no path)"


def _text(text: str) -> Block:
    return {"type": "raw_text", "text": text}


def _number(count: int) -> Block:
    return {"type": "raw_number", "value": count, "text": number(count)}


def _gain(page: PageCounts, whole: bool) -> Block:
    known = gained(page) if page.was or whole else 0
    return {"type": "raw_number", "value": known, "text": page_gain(page, whole=whole)}
