"""Clocks of bots that run days ahead, for what comes due only then, and clocks that are set meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.model.weekly_time import working_time

_ZONE = "Europe/Berlin"
"""Of the person who asks in stories."""


def working_day_ahead(days: int) -> timedelta:
    """Return how far ahead the next nine o'clock of a weekday is, after about so many days."""
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=days)).astimezone(ZoneInfo(_ZONE)).replace(hour=0)
    return working_time(midnight.astimezone(UTC), _ZONE) - now


class SetClock:
    """A clock that shows the present, unless it is set ahead, or back."""

    def __init__(self, ahead: timedelta = timedelta(0)) -> None:
        self.ahead = ahead

    def __call__(self) -> datetime:
        """Return what the clock shows."""
        return datetime.now(UTC) + self.ahead
