"""Numbers, dates and durations as text, and in charts and tables, for which Slack's library has no classes.

https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block ·
https://docs.slack.dev/reference/block-kit/blocks/data-table-block
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta

from bot.messages.blocks import escape
from bot.messages.plain_text import clip, one_line
from bot.model.ids import Block
from bot.model.questions import Weekday
from bot.model.visitors import Counts, PageCounts, Period

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def number(count: int) -> str:
    """Return a count with thousands separators: 1,234."""
    return f"{count:,}"


def signed(count: int) -> str:
    """Return a count with its sign: +12, −3, ±0."""
    return f"+{count:,}" if count > 0 else f"−{-count:,}" if count else "±0"


def percent(share: float | None) -> str:
    """Return a share as a percentage: 43%.

    A small rest is never rounded to 0 or 100: "under 1%", "over 99%". None becomes "–".
    """
    if share is None:
        return "–"
    if 0 < share < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 < share < 1 else f"{share * 100:.0f}%"


def change(now: int, was: int) -> str:
    """Return the relative change: +12%. A growth from zero has no percentage and becomes "new"."""
    if was == 0:
        return "new" if now else "±0%"
    return f"{signed(round((now - was) / was * 100))}%"


def share_change(now: Counts, was: Counts | None) -> str:
    """Return the change of the AI share in percentage points, or an empty text without a comparison."""
    if was is None or now.ai_share is None or was.ai_share is None:
        return ""
    moved = round(now.ai_share * 100) - round(was.ai_share * 100)
    return f"{signed(moved)} {'point' if abs(moved) == 1 else 'points'}"


def page_change(page: PageCounts, *, whole: bool = True) -> str:
    """Return a page's relative change in visitors.

    A page without earlier counts is "new" if ``whole`` (all earlier rows were read), else "–".
    """
    if page.was is None:
        return "new" if whole else "–"
    return change(page.now.total, page.was.total)


def gained(page: PageCounts) -> int:
    """Return how many visitors a page gained; negative if it lost some."""
    return page.now.total - (page.was.total if page.was else 0)


def page_gain(page: PageCounts, *, whole: bool = True) -> str:
    """Return a page's absolute and relative change: +120 (+12%)."""
    relative = page_change(page, whole=whole)
    return relative if relative == "–" else f"{signed(gained(page))} ({relative})"


def day(of: date, *, year: bool = True) -> str:
    """Return a date: 20 Nov 2026."""
    return f"{of.day} {_MONTHS[of.month - 1]}" + (f" {of.year}" if year else "")


def between(period: Period) -> str:
    """Return a period for use in a sentence: "on 20 Nov 2026", "from 30 Sep to 6 Oct 2026"."""
    first, last = period.first, period.last
    if first == last:
        return f"on {day(last)}"
    return f"from {day(first, year=first.year != last.year)} to {day(last)}"


def dates(period: Period) -> str:
    """Return the first and last day of a period: 14–20 Nov 2026, 30 Sep – 6 Oct 2026, or one date."""
    first, last = period.first, period.last
    if first == last:
        return day(last)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{day(last)}"
    return f"{day(first, year=first.year != last.year)} – {day(last)}"


def point_label(period: Period) -> str:
    """Return the label of a chart's point: at most 20 characters, unique within the chart."""
    if period.days == 1:
        return f"{_DAYS[period.first.weekday()]} {day(period.first, year=False)}"
    if period.first.month == period.last.month:
        return f"{period.first.day}–{day(period.last, year=False)}"
    return f"{day(period.first, year=False)}–{day(period.last, year=False)}"


def weekday(of: Weekday) -> str:
    """Return the name of a day: Monday."""
    return of.name.capitalize()


def clock(at: time) -> str:
    """Return a time of day: 09:00."""
    return at.isoformat("minutes")


def duration(length: timedelta) -> str:
    """Return a duration in hours and minutes: 4 min, 1 h 20 min, 2 h."""
    minutes = round(length.total_seconds() / 60)
    if minutes < 1:
        return "under a minute"
    hours, rest = divmod(minutes, 60)
    return " ".join([*([f"{hours:,} h"] if hours else []), *([f"{rest} min"] if rest else [])])


def counted(count: int, one: str, many: str) -> str:
    """Return a count with its noun: 1 page, 2 pages."""
    return f"{number(count)} {one if count == 1 else many}"


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
