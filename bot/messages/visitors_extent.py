"""The question whether a whole site is to be read, and the answers to its buttons."""

from __future__ import annotations

from math import ceil

from bot.messages import blocks as b
from bot.messages.numbers import counted, dates, number
from bot.model import Extent, Message, Question


def ask_extent(question: Question, needed: int, limit: int) -> Message:
    """Return the question how much to read. ``needed``: the calls for all pages, as far as that is known."""
    hours = ceil(needed / limit) if limit else 1
    long = f", that is {counted(hours, 'hour', 'hours')}" if hours > 1 else ""
    of = f" of {b.label(question.query.label)}" if question.query.label else ""
    some = f"about {number(needed)}" if needed > limit // 3 else f"more than {number(limit // 3)}"
    said = (
        f"Reading the whole site{of} for {dates(question.query.period)} needs {some} calls "
        f"of the {number(limit)} an hour{long}. Read the top pages first?"
    )
    value = str(question.id)
    return b.with_buttons(
        said,
        [
            b.button("Top pages first", "read_top", value, style="primary"),
            b.button("Read all", "read_all", value),
            b.button("Cancel", "read_none", value),
        ],
    )


def chosen(extent: Extent | None) -> Message:
    """Return what replaces the question; ``extent`` is None if the person cancelled."""
    if extent is None:
        return b.words("Cancelled. What has been read is kept for the next question.")
    what = "the top pages" if extent is Extent.TOP else "all pages"
    return b.words(f"All right, {what}. I'll answer here.")
