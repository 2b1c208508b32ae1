"""The clocks of a run: the true time of services and users, and that of the bots' machine, which is set."""

from __future__ import annotations

import asyncio
import struct
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from pathlib import Path

STEP_SECONDS = 0.05


class Clocks:
    """The true time is the present plus the seconds ``passed``. The bots' clock adds an error to it.

    The file contains the lead of the bots' clock over the present, in seconds.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._passed = self._error = 0.0
        self._history: list[tuple[float, float]] = []
        file.write_bytes(bytes(8))
        self._write()

    def now(self) -> datetime:
        """Return the true time."""
        return datetime.now(UTC) + timedelta(seconds=self._passed)

    def at(self, present: float) -> datetime:
        """Return the true time at a moment of the present, in seconds of the epoch."""
        entry = bisect_right(self._history, (present, float("inf"))) - 1
        return datetime.fromtimestamp(present + self._history[max(entry, 0)][1], UTC)

    def set_bots(self, error_seconds: float) -> None:
        """Set the bots' clock ahead of the true time, behind it if negative, or right if 0."""
        self._error = error_seconds
        self._write()

    async def let_pass(self, seconds: float, within_seconds: float) -> None:
        """Let time pass for everybody, in equal steps."""
        steps = round(within_seconds / STEP_SECONDS)
        for _ in range(steps):
            self._passed += seconds / steps
            self._write()
            await asyncio.sleep(STEP_SECONDS)

    def _write(self) -> None:
        self._history.append((datetime.now(UTC).timestamp(), self._passed))
        with self.file.open("r+b") as opened:
            opened.write(struct.pack("d", self._passed + self._error))
