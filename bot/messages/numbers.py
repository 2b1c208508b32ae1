"""Numbers, dates and durations as text, and in charts and tables, for which Slack's library has no classes.

https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block ·
https://docs.slack.dev/reference/block-kit/blocks/data-table-block
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time

from bot.ids import Block
from bot.messages.blocks import escape
from bot.messages.plain_text import clip, one_line
from bot.model.questions import Weekday
from bot.model.visitors import Counts, PageCounts, Period, is_beyond_chance

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
    """Return the relative change, +12%, if it is beyond chance, else nothing. A growth from zero is "new"."""
    if not is_beyond_chance(now, was):
        return ""
    return f"{signed(round((now - was) / was * 100))}%" if was else "new"


def page_change(page: PageCounts, *, whole: bool = True) -> str:
    """Return a page's relative change in visitors, if it is beyond chance.

    ``whole``: all rows of the period compared with were read, so a page without one is new.
    """
    if page.was is None and not whole:
        return ""
    return change(page.now.total, page.was.total if page.was else 0)


def gained(page: PageCounts) -> int:
    """Return how many visitors a page gained; negative if it lost some."""
    return page.now.total - (page.was.total if page.was else 0)


def page_gain(page: PageCounts, *, whole: bool = True) -> str:
    """Return a page's absolute and relative change if it is beyond chance, +120 (+12%), else "–"."""
    relative = page_change(page, whole=whole)
    return f"{signed(gained(page))} ({relative})" if relative else "–"


def day(of: date, *, year: bool = True) -> str:
    """Return a date: 20 Nov 2026."""
    return f"{of.day} {_MONTHS[of.month - 1]}" + (f" {of.year}" if year else "")


def dates(period: Period, *, year: bool = True) -> str:
    """Return the first and last day of a period: 14–20 Nov 2026, 30 Sep – 6 Oct 2026, one date, or a year."""
    first, last = period.first, period.last
    if period.is_year:
        return str(first.year)
    if first == last:
        return day(last, year=year)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{day(last, year=year)}"
    return f"{day(first, year=first.year != last.year)} – {day(last, year=year)}"


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


def counted(count: int, one: str, many: str) -> str:
    """Return a count with its noun: 1 page, 2 pages."""
    return f"{number(count)} {one if count == 1 else many}"


def page_numbers(counts: Counts) -> str:
    """Return the counts of a page, such as "12 people, 34 AI agents, 40 in all"."""
    return f"{people(counts)}, {agents(counts)}, {number(counts.total)} in all"


def visitors(count: int) -> str:
    """Return a number of visitors: 1 visitor, 2 visitors."""
    return counted(count, "visitor", "visitors")


def people(counts: Counts) -> str:
    """Return a number of people: 1 person, 2 people."""
    return counted(counts.human, "person", "people")


def agents(counts: Counts) -> str:
    """Return a number of AI agents: 1 AI agent, 2 AI agents."""
    return counted(counts.ai, "AI agent", "AI agents")


PATH_LENGTH = 72
_PAGE_SIZE = 10


def visitors_chart(points: Sequence[tuple[Period, Counts]], *, whole_site: bool = False) -> Block:
    """Return a line chart of people, AI agents and all visitors.

    Each point counts the unique visitors of its own period; all are equally long. ``whole_site``: say that
    the chart is about all pages.
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
        "title": _chart_title(points[0][0].days, whole_site=whole_site),
        "chart": {"type": "line", "series": series, "axis_config": axes},
    }


def _chart_title(days: int, *, whole_site: bool) -> str:
    weeks = "week" if days == 7 else f"{days // 7} weeks"
    by = "day" if days == 1 else f"{weeks} (Mon–Sun)"
    return f"{'Whole site: u' if whole_site else 'U'}nique visitors by {by}"


def page_table(caption: str, pages: Sequence[PageCounts], *, compared: bool, whole: bool = True) -> Block:
    """Return a table of pages with their counts. Its column "Change" sorts by visitors gained or lost.

    That column is the second, because a phone shows the first two.

    ``whole``: all rows of the period compared with were read, so a page without one is new.
    """
    header = ["Page", *(["Change"] if compared else []), "All together", "People", "AI agents"]
    rows = [[_text(name) for name in header]]
    for page in pages:
        counts = (
            {"type": "raw_number", "value": count, "text": number(count)}
            for count in (page.now.total, page.now.human, page.now.ai)
        )
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


def _gain(page: PageCounts, whole: bool) -> Block:
    is_told = bool(page_change(page, whole=whole))
    return {
        "type": "raw_number",
        "value": gained(page) if is_told else 0,
        "text": page_gain(page, whole=whole),
    }
