"""The bots of a run. Each is a process that is started, killed, stopped and restarted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from bot.context import Timeouts
from tests.bots import Zygote, is_alive

LEASE_SECONDS = 5.0
"""Longer than a process stalls on a busy machine, shorter than the wait for the end of the run."""
DEAF_SECONDS = 1.2
"""Shorter than the workspace tries to deliver an event, as a minute is with Slack."""
_PAUSE_SECONDS = 0.02
_RESTART_SECONDS = 0.3
_START_SECONDS = 120.0
"""Time limit of a start, long enough for a locked database on a busy machine."""
_STOP_SECONDS = 30.0


@dataclass
class Bot:
    """One bot during the whole run. Like a service manager, it restarts an ended process."""

    zygote: Zygote
    env: Mapping[str, str]
    log: Path
    clock: Path
    complaints: list[str] = field(default_factory=list)
    """Unexpected ends, failed starts and failed stops."""
    failed_starts: int = 0
    starts: int = 0
    pid: int = 0
    ready: bool = False
    """The current process accepts requests."""
    _is_kept: bool = True
    _ordered: bool = False
    _killed: set[int] = field(default_factory=set)
    _not_before: float = 0.0

    async def keep(self) -> None:
        """Start the process whenever it is not running, until ``end`` is called."""
        while self._is_kept:
            if self.pid and not is_alive(self.pid):
                self._note_end()
            if not self.pid and monotonic() >= self._not_before:
                await self._start()
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _start(self) -> None:
        at = self.log.stat().st_size if self.log.exists() else 0
        self._ordered, self.starts = False, self.starts + 1
        self.pid = await self.zygote.fork(
            self.env,
            self.log,
            terse=True,
            lease_seconds=LEASE_SECONDS,
            intake_seconds=Timeouts().intake_seconds,
            deaf_seconds=DEAF_SECONDS,
            clock=str(self.clock),
        )
        deadline = monotonic() + _START_SECONDS
        while is_alive(self.pid):
            if not self._is_kept:
                self.kill(0)
            if b'{"ready": true}' in self._since(at):
                self.ready = True
                return
            if monotonic() > deadline:
                self.complaints.append(f"a bot was not ready after {_START_SECONDS:g} s")
                os.kill(self.pid, signal.SIGKILL)
                self._ordered = True
            await asyncio.sleep(_PAUSE_SECONDS)
        failure = _failure(self._since(at))
        if failure is not None:
            self.failed_starts += 1
            if not failure.get("explained"):
                self.complaints.append(
                    f"a start ended with {failure.get('failed')}, which nobody explains"
                )
            self._ordered, self._not_before = True, monotonic() + _RESTART_SECONDS

    def _since(self, at: int) -> bytes:
        if not self.log.exists():
            return b""  # forked, but it has not written its first line
        with self.log.open("rb") as log:
            log.seek(at)
            return log.read()

    def _note_end(self) -> None:
        if not self._ordered:
            self.complaints.append("a bot ended by itself")
        self.pid, self.ready = 0, False

    def kill(self, down_seconds: float) -> bool:
        """Send SIGKILL and restart after a delay. Return whether a process was running."""
        if not self.pid or not is_alive(self.pid):
            return False
        self._ordered = True
        self._killed.add(self.pid)
        self._not_before = monotonic() + down_seconds
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        return True

    async def stop(self, down_seconds: float = 0.0) -> bool:
        """Send SIGTERM, wait for the end and restart after a delay. Return whether a process was ready."""
        pid = self.pid
        if not self.ready or not is_alive(pid):
            return False
        self._ordered, self._not_before = True, monotonic() + _STOP_SECONDS + 5
        began, at = monotonic(), self.log.stat().st_size if self.log.exists() else 0
        os.kill(pid, signal.SIGTERM)
        while is_alive(pid) and monotonic() < began + _STOP_SECONDS:
            await asyncio.sleep(_PAUSE_SECONDS)
        if is_alive(pid):
            self.complaints.append(f"a bot did not leave within {_STOP_SECONDS:g} s of SIGTERM")
            os.kill(pid, signal.SIGKILL)
        elif pid not in self._killed and b'{"stopped": true}' not in self._since(at):
            self.complaints.append("a bot was told to stop and did not leave in order")
        self._not_before = monotonic() + down_seconds
        return True

    async def end(self) -> None:
        """Stop the bot without a restart."""
        self._is_kept = False
        if self.pid and not self.ready and is_alive(self.pid):
            self.kill(0)
        await self.stop()

    def fill_disk(self, *, full: bool) -> None:
        """Limit the process's file size to the largest current file, or remove the limit."""
        if not self.pid:
            return
        databases = [*self.log.parent.glob("docs-bot.db*"), self.log]
        most = max((path.stat().st_size for path in databases if path.exists()), default=0)
        limit = most if full else resource.RLIM_INFINITY
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def _failure(output: bytes) -> dict[str, object] | None:
    for line in output.splitlines():
        if line.startswith(b'{"failed"'):
            failure: dict[str, object] = json.loads(line)
            return failure
    return None
