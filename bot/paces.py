"""How fast Slack may be called: https://docs.slack.dev/apis/web-api/rate-limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.ids import ChannelId
from bot.ports import Method

_TIER_3_RATE = (2, 48)
_TIER_4_RATE = (5, 95)
_RATES: Mapping[Method, tuple[int, int]] = {
    Method.POST: (12, 240),
    Method.EDIT: _TIER_3_RATE,
    Method.WHISPER: _TIER_4_RATE,
    Method.REACT: _TIER_3_RATE,
    Method.OPEN: _TIER_3_RATE,
    Method.SEARCH_CHANNEL: _TIER_3_RATE,
    Method.SEARCH_THREAD: _TIER_3_RATE,
    Method.BEGIN_UPLOAD: _TIER_4_RATE,
    Method.END_UPLOAD: _TIER_4_RATE,
}
"""How many calls of a method may come at once, and how many a minute after them: together the most.

A method of tier 3 takes 50, of tier 4 100: https://docs.slack.dev/reference/methods names the tier
of each.
"""

_NO_TIME = timedelta(0)


@dataclass(eq=False, slots=True)
class Paces:
    """When this process may call Slack's methods and post in channels.

    Other processes have their own. Where they are too fast together, Slack asks to wait, which
    loses nothing.
    """

    channel_seconds: float = 1.02
    """Slack asks for one second between two posts in a channel; the rest allows for inexact
    clocks.
    """
    minute_seconds: float = 60.0
    free_at: dict[str, tuple[datetime, timedelta]] = field(default_factory=dict)
    """When a channel or a method is free, and how long that was ahead at most when it was
    written.
    """
    _intervals: dict[str, timedelta] = field(init=False, default_factory=dict)
    """The time between two calls of a method after its burst."""
    _bursts: dict[str, timedelta] = field(init=False, default_factory=dict)
    """How far ahead of the clock calls of a method may be counted: the time of a burst but for
    one call.
    """

    def __post_init__(self) -> None:
        minute = timedelta(seconds=self.minute_seconds)
        for method, (burst, a_minute) in _RATES.items():
            interval = minute / a_minute
            self._intervals[method] = interval
            self._bursts[method] = (burst - 1) * interval

    def take(self, channel: ChannelId | None, calls: Collection[Method], now: datetime) -> bool:
        """Count calls that are made now, and a post in ``channel``.

        Return False, and count none, if they must wait.
        """
        buckets: list[str] = [*calls] if channel is None else [channel, *calls]
        if any(self._wait(bucket, now) > _NO_TIME for bucket in buckets):
            return False
        pause = timedelta(seconds=self.channel_seconds)
        for bucket in buckets:
            interval = self._intervals.get(bucket, pause)
            longest = self._bursts.get(bucket, _NO_TIME) + interval
            self.free_at[bucket] = self._free_at(bucket, now) + interval, longest
        return True

    def hold(self, bucket: Method | ChannelId, seconds: float, now: datetime) -> None:
        """Hold a method or a channel, as Slack has asked."""
        asked = now + timedelta(seconds=seconds) + self._bursts.get(bucket, _NO_TIME)
        until = max(asked, self._free_at(bucket, now))
        self.free_at[bucket] = until, until - now

    def busy_channels(self, now: datetime) -> list[str]:
        """Return the channels that a recent post keeps busy, and forget the free ones."""
        for bucket in list(self.free_at):
            if self._free_at(bucket, now) <= now:
                del self.free_at[bucket]
        return [bucket for bucket in self.free_at if bucket not in _RATES]

    def seconds_to_next(self, now: datetime) -> float | None:
        """Return the seconds until the next channel or method is free.

        Returns None if all are free.
        """
        waits = [self._wait(bucket, now) for bucket in self.free_at]
        to_come = [wait for wait in waits if wait > _NO_TIME]
        return min(to_come).total_seconds() if to_come else None

    def _wait(self, bucket: str, now: datetime) -> timedelta:
        """Return the time until a channel or a method is free; 0 or less if it is free now."""
        return self._free_at(bucket, now) - self._bursts.get(bucket, _NO_TIME) - now

    def _free_at(self, bucket: str, now: datetime) -> datetime:
        """Return when a channel or method is free.

        A time too far ahead was written while the clock was ahead, and counts as now.
        """
        at, longest = self.free_at.get(bucket, (now, _NO_TIME))
        return at if now < at <= now + longest else now
