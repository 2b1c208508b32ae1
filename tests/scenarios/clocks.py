"""Clocks of bots: days ahead, or set during the run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from mmap import ACCESS_READ, mmap
from struct import unpack
from zoneinfo import ZoneInfo

_ZONE = "Europe/Berlin"
"""The time zone of the person who asks in stories."""


def working_day_ahead(days: int) -> timedelta:
    """Return the time until nine o'clock of a weekday, about so many days ahead."""
    now = datetime.now(UTC)
    nine = (
        (now + timedelta(days=days)).astimezone(ZoneInfo(_ZONE)).replace(hour=9, minute=0, second=0)
    )
    return nine + timedelta(days=7 - nine.weekday() if nine.weekday() > 4 else 0) - now


class SetClock:
    """A clock that shows the present, or a time before or after it."""

    def __init__(self, ahead: timedelta = timedelta(0)) -> None:
        self.ahead = ahead

    def __call__(self) -> datetime:
        """Return the time of this clock."""
        return datetime.now(UTC) + self.ahead


class SharedClock:
    """A clock that another process sets, by a file with its lead in seconds."""

    def __init__(self, file: str) -> None:
        with open(file, "rb") as opened:
            self._ahead = mmap(opened.fileno(), 8, access=ACCESS_READ)

    def __call__(self) -> datetime:
        """Return the time of this clock."""
        [seconds] = unpack("d", self._ahead[:8])
        return datetime.now(UTC) + timedelta(seconds=seconds)
