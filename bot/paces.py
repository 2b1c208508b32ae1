"""How fast Slack may be called: https://docs.slack.dev/apis/web-api/rate-limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.ids import ChannelId
from bot.ports import Method

_TIER_3, _TIER_4 = (2, 48), (5, 95)
_RATES: Mapping[Method, tuple[int, int]] = {
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
"""How many calls of a method may come at once, and how many a minute after them: together the most.

A method of tier 3 takes 50, of tier 4 100: https://docs.slack.dev/reference/methods names the tier of each.
"""


@dataclass(eq=False, slots=True)
class Paces:
    """When this process may call each of Slack's methods again, and post in each channel.

    Other processes have their own. Where they are too fast together, Slack asks to wait, which loses nothing.
    """

    channel_seconds: float = 1.02
    """Slack asks for one second between two posts in a channel; the rest allows for inexact clocks."""
    minute_seconds: float = 60.0
    free_at: dict[str, tuple[datetime, timedelta]] = field(default_factory=dict)
    """When a channel or a method is free, and how long that was ahead at most when it was written."""

    def take(self, channel: ChannelId | None, calls: Collection[Method], now: datetime) -> bool:
        """Count calls that are made now, with a post in ``channel`` if one is given.

        Return False, and count none, if they must wait.
        """
        if any(self._wait(method, now) for method in calls):
            return False
        if channel is not None:
            if self._free_at(channel, now) > now:
                return False
            pause = timedelta(seconds=self.channel_seconds)
            self.free_at[channel] = now + pause, pause
        for method in calls:
            interval = self._interval(method)
            self.free_at[method] = self._free_at(method, now) + interval, self._burst(method) + interval
        return True

    def hold(self, subject: Method | ChannelId, seconds: float, now: datetime) -> None:
        """Do not call this method, or post in this channel, for so many seconds: Slack asked for it."""
        ahead = self._burst(subject) if isinstance(subject, Method) else timedelta(0)
        until = max(now + timedelta(seconds=seconds) + ahead, self._free_at(subject, now))
        self.free_at[subject] = until, until - now

    def busy_channels(self, now: datetime) -> list[str]:
        """Return the channels that have just had a post, and forget the others."""
        self.free_at = {name: times for name, times in self.free_at.items() if self._free_at(name, now) > now}
        return [subject for subject in self.free_at if subject not in _RATES]

    def next_seconds(self, now: datetime) -> float | None:
        """Return in how many seconds the next channel or method is free again; None if all are."""
        waits = [self._free_at(channel, now) - now for channel in self.busy_channels(now)]
        waits += [wait for method in Method if (wait := self._wait(method, now))]
        return min(waits).total_seconds() if waits else None

    def _free_at(self, subject: str, now: datetime) -> datetime:
        """Return when a channel or method is free: now where the time is too far ahead to be true."""
        at, longest = self.free_at.get(subject, (now, timedelta(0)))
        return at if now < at <= now + longest else now

    def _wait(self, method: Method, now: datetime) -> timedelta | None:
        """Return how long a method has to wait; None if it may be called now."""
        wait = self._free_at(method, now) - self._burst(method) - now
        return wait if wait > timedelta(0) else None

    def _interval(self, method: Method) -> timedelta:
        return timedelta(seconds=self.minute_seconds / _RATES[method][1])

    def _burst(self, method: Method) -> timedelta:
        """Return how far ahead of the clock calls may be counted: all of a burst but one."""
        return (_RATES[method][0] - 1) * self._interval(method)
