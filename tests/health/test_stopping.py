"""Stops: the time of each part, and the last log line."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from bot.health.stopping import STOPPED_EARLY_EXIT_CODE, WORK_SECONDS, Stopping

HOSTS_WAIT_SECONDS = 10.0
"""Docker's time between SIGTERM and SIGKILL, the shortest of the hosts."""


async def test_parts_share_the_seconds_of_the_stop() -> None:
    now, given = [100.0], list[float]()
    stopping = Stopping(lambda: now[0])

    async def stop(seconds: float) -> Sequence[str]:
        given.append(seconds)
        now[0] += 3.0
        return ()

    stopping.begin()
    for _ in range(3):
        await stopping.stop_part(stop)
    assert given == [WORK_SECONDS, WORK_SECONDS - 3.0, 0.0]
    assert WORK_SECONDS < HOSTS_WAIT_SECONDS


@pytest.mark.parametrize(
    ("parts", "code"), [((), 0), (("poll", "leases"), STOPPED_EARLY_EXIT_CODE)]
)
async def test_last_line_names_unfinished_parts(parts: Sequence[str], code: int) -> None:
    stopping = Stopping()

    async def stop(_seconds: float) -> Sequence[str]:
        return parts

    with capture_logs() as lines:
        stopping.begin()
        await stopping.stop_part(stop)
        assert stopping.finish() == code
    assert lines[-1]["event"] == "stopped"
    assert lines[-1].get("left", []) == list(parts)
