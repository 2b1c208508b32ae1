"""How many calls a question may take before its person is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from bot.model import Analytics, Snapshot, SnapshotState

_AT_A_TIME = 2
"""Periods that are read for one question at the same time. Each may go on to its next pause."""


def calls_needed(snapshots: Iterable[Snapshot], rows: int, analytics: Analytics) -> int:
    """Return how many calls reading the snapshots takes in all, if each has about ``rows`` pages.

    What has been called already counts, also where it turned out to be more.
    """
    about = ceil(rows / analytics.page_size)
    return sum(_calls(each, about) for each in snapshots)


def _calls(snapshot: Snapshot, about: int) -> int:
    if snapshot.state is SnapshotState.DONE or not snapshot.with_pages:
        return snapshot.calls
    return max(snapshot.calls, about)


def is_over_share(snapshots: Sequence[Snapshot], analytics: Analytics) -> bool:
    """Return whether reading up to the next pauses may take more than the share of one question."""
    spent = sum(each.calls for each in snapshots)
    return spent > 0 and spent + _AT_A_TIME * analytics.pause_calls > analytics.question_calls
