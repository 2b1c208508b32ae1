"""Charts and tables of Block Kit, which Slack's own library has no classes for.

https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block ·
https://docs.slack.dev/reference/block-kit/blocks/data-table-block
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.messages.blocks import escape
from bot.messages.numbers import gained, number, page_gain, point_label
from bot.messages.plain_text import clip, one_line
from bot.model import Block, Counts, PageCounts, Period

PATH_LENGTH = 72
_TITLE_LENGTH = 50
_PAGE_SIZE = 10


def visitors_chart(title: str, points: Sequence[tuple[Period, Counts]]) -> Block:
    """People, AI agents and all together over time; each point counts its own unique visitors."""
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
    # No label of the axis: it would repeat the title.
    axes = {"categories": labels}
    return {
        "type": "data_visualization",
        "title": clip(title, _TITLE_LENGTH),
        "chart": {"type": "line", "series": series, "axis_config": axes},
    }


def page_table(caption: str, pages: Sequence[PageCounts], *, compared: bool, whole: bool = True) -> Block:
    """Pages with their numbers; sorting by change sorts by visitors gained or lost.

    ``whole``: every row of the window compared with was read, so that a page without one is new.
    """
    header = ["Page", "People", "AI agents", "All together", *(["Change"] if compared else [])]
    rows = [[_text(name) for name in header]]
    for page in pages:
        row = [_text(shown_path(page.path)), *map(_number, (page.now.human, page.now.ai, page.now.total))]
        rows.append([*row, _gain(page, whole)] if compared else row)
    return {
        "type": "data_table",
        "caption": caption,
        "page_size": _PAGE_SIZE,
        "row_header_column_index": 0,
        "rows": rows,
    }


def shown_path(path: str, length: int = PATH_LENGTH) -> str:
    """A path as a person reads it: one line, clipped also when escaped, nothing hidden; never empty."""
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
