"""How often Slack's methods may be called.

Slack limits each method by itself and counts all calls of the app in a workspace:
https://docs.slack.dev/apis/web-api/rate-limits. Of posting it says only that a workspace takes "several
hundred" messages a minute; the bot stays well below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Method(StrEnum):
    """The methods of Slack's Web API that deliveries call."""

    POST = "chat.postMessage"
    EDIT = "chat.update"
    WHISPER = "chat.postEphemeral"
    REACT = "reactions.add"
    OPEN = "conversations.open"
    SEARCH_CHANNEL = "conversations.history"
    SEARCH_THREAD = "conversations.replies"
    BEGIN_UPLOAD = "files.getUploadURLExternal"
    END_UPLOAD = "files.completeUploadExternal"


@dataclass(frozen=True, slots=True)
class Pace:
    """A pace of calls: ``burst`` at once, then one every ``interval``.

    The calls so far are kept as one time, ``free_at``: each call moves it on by an interval. It may be ahead
    of the clock by ``burst`` intervals.
    """

    burst: int
    interval: timedelta

    def room(self, free_at: datetime, now: datetime) -> int:
        """Return how many calls may be made now."""
        begun = -((now - free_at) // self.interval) if free_at > now else 0
        return max(self.burst - begun, 0)

    def after_calls(self, free_at: datetime, now: datetime, calls: int) -> datetime:
        """Return ``free_at`` after that many calls."""
        return max(free_at, now) + calls * self.interval

    def next_at(self, free_at: datetime) -> datetime:
        """Return when the next call may be made."""
        return free_at - (self.burst - 1) * self.interval

    def held(self, until: datetime) -> datetime:
        """Return the ``free_at`` that allows one call at ``until``, and none before."""
        return until + (self.burst - 1) * self.interval


_TIER_3, _TIER_4 = (2, 48), (5, 95)
_BURSTS: Mapping[Method, tuple[int, int]] = {
    Method.POST: (12, 240),
    Method.EDIT: _TIER_3,
    Method.WHISPER: _TIER_4,
    Method.REACT: _TIER_3,
    Method.OPEN: _TIER_3,
    Method.SEARCH_CHANNEL: _TIER_3,
    Method.SEARCH_THREAD: _TIER_3,
    Method.BEGIN_UPLOAD: _TIER_4,
    Method.END_UPLOAD: _TIER_4,
}
"""The burst of each method, and its calls a minute after it. Their sum is the most in any minute.

A method of tier 3 takes 50, of tier 4 100: https://docs.slack.dev/reference/methods names the tier of each.
"""


def pace_of(method: Method, minute_seconds: float = 60.0) -> Pace:
    """Return the pace of a method. Tests shorten Slack's minute."""
    burst, calls_a_minute = _BURSTS[method]
    return Pace(burst, timedelta(seconds=minute_seconds / calls_a_minute))
