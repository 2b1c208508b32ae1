"""The reply about the visitors of a page before and after a pull request."""

from __future__ import annotations

from bot.messages import blocks as b
from bot.messages.charts import shown_path
from bot.messages.face import name
from bot.messages.numbers import dates
from bot.messages.visitors import page_numbers
from bot.model import Counts, Message, Period, TrackedJob

_SMALL = 100
"""Below so many visitors in both windows, a difference may well be chance."""


def visitors_before_and_after(
    job: TrackedJob, page: str, periods: tuple[Period, Period], counts: tuple[Counts, Counts]
) -> Message:
    """Return how a page was read in two windows of the same length, with a caution."""
    before, after = counts
    caution = (
        "These are small numbers, so the difference may be chance."
        if max(before.total, after.total) < _SMALL
        else "Other things may have changed the numbers too."
    )
    return b.words(
        f"{b.code(shown_path(page))}, four weeks before and after the pull request of "
        f"{name(job.number)} was reviewed or merged (unique visitors, approximate):\n"
        f"• {dates(periods[0])}: {page_numbers(before)}\n"
        f"• {dates(periods[1])}: {page_numbers(after)}\n{caution}"
    )
