"""Counts, changes and paths in words."""

from __future__ import annotations

from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.plain_text import clip, one_line
from bot.visitors.model.readings import Counts
from bot.visitors.model.reports import is_beyond_chance

_MAX_PATH_CHARACTERS = 72


def visitors_answer(count: int) -> str:
    return counted(count, "visitor", "visitors")


def format_people(counts: Counts) -> str:
    return counted(counts.human, "person", "people")


def format_agents(counts: Counts) -> str:
    return counted(counts.ai, "AI agent", "AI agents")


def format_both_counts(counts: Counts) -> str:
    return f"{format_people(counts)}, {format_agents(counts)}"


def views_line(section: str, views: Counts) -> str:
    """Return `/api`: *1,234 views*, 900 by people and 334 by AI agents.

    Views are events, which add up.
    """
    total = counted(views.total, "view", "views")
    by_whom = f"{views.human:,} by people and {views.ai:,} by AI agents"
    return f"{path_code(section)}: *{total}*, {by_whom}"


def format_percent(part: int, whole: int) -> str:
    """Return 43%. A small rest is never rounded to 0 or 100."""
    share = part / whole if whole else 0.0
    if 0 < share < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 < share < 1 else f"{share:.0%}"


def format_change(now: int, was: int | None) -> str:
    """Return the change, +12% or "new"; "" for a change that may be chance."""
    if was is None or not is_beyond_chance(now, was):
        return ""
    return f"{(now - was) / was:+,.0%}".replace("-", "−") if was else "new"


def shown_path(path: str, length: int = _MAX_PATH_CHARACTERS) -> str:
    """Return a path on one line, never empty, of at most ``length`` characters after escaping."""
    text = one_line(path, length)
    while (over := len(b.escape(text)) - length) > 0:
        text = clip(text, len(text) - max(over // 5, 1))
    return text or "(no path)"


def path_code(path: str) -> str:
    return b.code(shown_path(path))


def in_brackets(text: str) -> str:
    return f" ({text})" if text else ""
