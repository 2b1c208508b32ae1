"""Stops: the time of each part, the last log line, and a process that hangs."""

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

logs.configure("INFO")
asyncio.run(stuck())
"""


def test_limits_end_before_promised_time() -> None:
    assert WORK_SECONDS < END_SECONDS
    assert END_SECONDS + TELLING_SECONDS < PROMISED_SECONDS


@pytest.mark.parametrize(("parts", "code"), [((), 0), (("poll", "leases"), CUT_SHORT)])
async def test_last_line_names_unfinished_parts(parts: Sequence[str], code: int) -> None:
    stopping = Stopping()

    async def stop(_seconds: float) -> Sequence[str]:
        return parts

    with capture_logs() as lines:
        stopping.begin()
        await stopping.stop_part(stop)
        assert stopping.told() == code
    assert lines[-1]["event"] == "stopped"
    assert lines[-1].get("left", []) == list(parts)


async def end_of(hangs: str, telling_seconds: float, *, is_read: bool = True) -> tuple[int, bytes]:
    """Run a process that hangs, and return its exit code and its log, if it is read."""
    reader, writer = os.pipe()
    command = (sys.executable, "-c", STUCK.format(hangs=hangs), str(telling_seconds))
    process = await asyncio.create_subprocess_exec(*command, stderr=writer)
    os.close(writer)
    async with asyncio.timeout(HANG_SECONDS):
        code = await process.wait()
    with os.fdopen(reader, "rb") as pipe:
        return code, pipe.read() if is_read else b""


@pytest.mark.parametrize("hangs", ["time.sleep(600)", "await asyncio.sleep(600)"])
async def test_hanging_process_is_ended_and_names_cause(hangs: str) -> None:
    code, log = await end_of(hangs, HANG_SECONDS)
    last = json.loads(log.splitlines()[-1])
    assert (code, last["event"], last["left"]) == (CUT_SHORT, "stopped", ["stuck"])


async def test_unread_log_does_not_keep_process() -> None:
    code, _ = await end_of("print('x' * 65_536, file=sys.stderr)", 0.1, is_read=False)
    assert code == CUT_SHORT
