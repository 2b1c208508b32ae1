"""Short waits: minutes for people are moments in tests."""

from __future__ import annotations

from dataclasses import replace

from bot.app import Timeouts
from tests.limits import HANG_SECONDS

SHORT = Timeouts(
    intake_seconds=HANG_SECONDS,  # because a busy machine is slow without a hanging database
    lease_seconds=1.5,
    channel_pace_seconds=0.05,
    hold_seconds=0.3,
    hold_most_seconds=1.0,
    late_seconds=0.25,
    minute_seconds=3.0,
    stale_seconds=0.6,
    quiet_seconds=2.0,
    doubt_seconds=0.1,
    look_seconds=0.5,
    build_seconds=0.2,
    live_seconds=0.5,
    unread_pace_seconds=0.05,
)

KILLED_LEASE_SECONDS = 3.0
"""The lease of a process that will be killed; its work waits so long for the next process.

A third of it outlasts a request on a machine that is busy with many such processes.
"""

STEADY = replace(SHORT, lease_seconds=HANG_SECONDS)
"""For processes without kills, because a busy machine may outlast a short lease."""
