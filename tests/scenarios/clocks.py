"""Clocks of bots that run days ahead, for what comes due only then, and clocks that are set meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from mmap import ACCESS_READ, mmap
from struct import unpack
from zoneinfo import ZoneInfo

_ZONE = "Europe/Berlin"
"""Of the person who asks in stories."""


def working_day_ahead(days: int) -> timedelta:
    """Return how far ahead the next nine o'clock of a weekday is, after about so many days."""
    now = datetime.now(UTC)
    nine = (now + timedelta(days=days)).astimezone(ZoneInfo(_ZONE)).replace(hour=9, minute=0, second=0)
    return nine + timedelta(days=7 - nine.weekday() if nine.weekday() > 4 else 0) - now


class SetClock:
    """A clock that shows the present, unless it is set ahead, or back."""

    def __init__(self, ahead: timedelta = timedelta(0)) -> None:
        self.ahead = ahead

    def __call__(self) -> datetime:
        """Return what the clock shows."""
        return datetime.now(UTC) + self.ahead


class SharedClock:
    """A clock that another process sets: a file has the seconds by which it is ahead of the present."""

    def __init__(self, file: str) -> None:
        with open(file, "rb") as opened:
            self._ahead = mmap(opened.fileno(), 8, access=ACCESS_READ)

    def __call__(self) -> datetime:
        """Return what the clock shows."""
        [seconds] = unpack("d", self._ahead[:8])
        return datetime.now(UTC) + timedelta(seconds=seconds)
