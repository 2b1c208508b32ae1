"""Short waits, so that what takes minutes for people takes a moment here."""

from __future__ import annotations

from bot.app import Timeouts

SHORT = Timeouts(
    lease_seconds=1.5, channel_pace_seconds=0.05, stale_seconds=0.6, quiet_seconds=2.0, doubt_seconds=0.1
)
