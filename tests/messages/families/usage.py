"""The numbers of months."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from bot.usage.messages import MonthUsage, usage_report
from bot.usage.model import Month, Usage
from tests.builders import CHANNEL, NOW

FULL = Usage(
    jobs=1_200,
    follow_ups=7,
    merged=9,
    reviewed=1,
    open=4,
    closed=2,
    time_to_merge=timedelta(hours=26),
    answered=24,
    unanswered=4,
    written=3,
    gaps_closed=2,
    assistant_messages=12,
)
ONE = Usage(
    jobs=1, follow_ups=1, open=1, answered=1, written=1, gaps_closed=1, assistant_messages=1
)


def samples() -> Mapping[str, object]:
    """The report of full and empty months, of a channel and of all."""
    this_month = Month.of(NOW)
    last_month = this_month.before()
    long_ago = datetime(2025, 1, 1, tzinfo=UTC)
    both = (MonthUsage(this_month, FULL), MonthUsage(last_month, ONE))
    empty = (MonthUsage(this_month, Usage()), MonthUsage(last_month, Usage()))
    first = (MonthUsage(this_month, Usage(jobs=2)), MonthUsage(last_month, None))
    return {
        "usage": usage_report(both, counted_since=long_ago, channel=None),
        "usage: of a channel, nothing": usage_report(
            empty, counted_since=long_ago, channel=CHANNEL
        ),
        "usage: of a month before the beginning": usage_report(
            first, counted_since=NOW, channel=CHANNEL
        ),
    }
