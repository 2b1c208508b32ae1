"""Stop in order: running work gets some seconds, and the last log line names what is unfinished."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from time import monotonic

import structlog

log = structlog.get_logger(__name__)
WORK_SECONDS = 5.0
"""How long running work may take to end.

Less than hosts allow between SIGTERM and SIGKILL (10 s or more).
"""
STOPPED_EARLY_EXIT_CODE = 75
"""EX_TEMPFAIL of sysexits.h, as the exit code of a stop that left something to the next start."""


class Stopping:
    """One stop of the process: the seconds left for each part, and the names of unfinished work.

    Unfinished work is in the database; another process or the next start continues it. A database
    that hangs holds the process until its host kills it, which loses nothing either.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """``clock`` returns seconds."""
        self._clock = clock
        self._began_at: float | None = None
        self._at_begin: list[Callable[[], None]] = []
        self._unfinished: list[str] = []

    def call_at_begin(self, call: Callable[[], None]) -> None:
        """Call a function as soon as the stop begins."""
        self._at_begin.append(call)

    def begin(self) -> None:
        """Begin, at the signal to stop. Calls after the first do nothing."""
        if self._began_at is None:
            self._began_at = self._clock()
            log.info("stopping")
            for call in self._at_begin:
                call()

    async def stop_part(self, part: Callable[[float], Awaitable[Sequence[str]]]) -> None:
        """Stop a part. It gets its seconds, and returns the names of its unfinished work."""
        now = self._clock()
        began_at = now if self._began_at is None else self._began_at
        self._unfinished += await part(max(0.0, began_at + WORK_SECONDS - now))

    def finish(self) -> int:
        """Log the end of the stop with the unfinished work, and return the exit code."""
        if not self._unfinished:
            log.info("stopped")
            return 0
        advice = "what was stored is taken up by another process or the next start"
        log.warning("stopped", left=self._unfinished, advice=advice)
        return STOPPED_EARLY_EXIT_CODE
