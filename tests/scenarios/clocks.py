"""Clocks of bots that run days ahead, for what comes due only then."""

from __future__ import annotations

from collections.abc import Callable
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


def ahead_by(ahead: timedelta) -> Callable[[], datetime]:
    """Return a clock that is so far ahead."""
    return lambda: datetime.now(UTC) + ahead
