"""How long each part of a stop may take, what the last line says, and a process that cannot end by itself."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from bot.health.stopping import CUT_SHORT, END_SECONDS, TELLING_SECONDS, WORK_SECONDS, Stopping
from tests.limits import HANG_SECONDS

PROMISED_SECONDS = 9.0
STUCK = """
import asyncio, sys, time
from bot import logs
from bot.health.stopping import Stopping

async def stuck():
    stopping = Stopping(end_seconds=0.1, telling_seconds=float(sys.argv[1]))
    stopping.begin()
    stopping.end_in_time()
    while True:
        {hangs}

logs.configure("INFO", "json")
asyncio.run(stuck())
"""


class Part:
    """A part of the process that keeps how many seconds it was given."""

    def __init__(self, *left: str) -> None:
        self.seconds = -1.0
        self._left = left

    async def stop(self, seconds: float) -> Sequence[str]:
        """Leave what it was made with."""
        self.seconds = seconds
        return self._left


def test_the_limits_leave_time_before_what_is_promised() -> None:
    assert WORK_SECONDS < END_SECONDS
    assert END_SECONDS + TELLING_SECONDS < PROMISED_SECONDS


@pytest.mark.parametrize(("left", "code"), [((), 0), (("poll", "leases"), CUT_SHORT)])
async def test_the_end_names_what_was_left(left: Sequence[str], code: int) -> None:
    stopping = Stopping()
    with capture_logs() as lines:
        stopping.begin()
        for name in left:
            await stopping.finish(Part(name).stop)
        assert stopping.told() == code
    assert lines[-1]["event"] == "stopped"
    assert lines[-1].get("left", []) == list(left)


async def end_of(hangs: str, telling_seconds: float, *, is_read: bool = True) -> tuple[int, bytes]:
    """Run a process that hangs; return its exit code, and its log if somebody reads that."""
    reader, writer = os.pipe()
    command = (sys.executable, "-c", STUCK.format(hangs=hangs), str(telling_seconds))
    process = await asyncio.create_subprocess_exec(*command, stderr=writer)
    os.close(writer)
    async with asyncio.timeout(HANG_SECONDS):
        code = await process.wait()
    with os.fdopen(reader, "rb") as pipe:
        return code, pipe.read() if is_read else b""


@pytest.mark.parametrize("hangs", ["time.sleep(600)", "await asyncio.sleep(600)"])
async def test_a_process_that_hangs_is_ended_and_says_what_kept_it(hangs: str) -> None:
    code, log = await end_of(hangs, HANG_SECONDS)
    last = json.loads(log.splitlines()[-1])
    assert (code, last["event"], last["left"]) == (CUT_SHORT, "stopped", ["stuck"])


async def test_a_log_that_nobody_reads_does_not_keep_the_process() -> None:
    code, _ = await end_of("print('x' * 65_536, file=sys.stderr)", 0.1, is_read=False)
    assert code == CUT_SHORT
