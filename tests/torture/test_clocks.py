"""The clocks of a torture run, and its checker's tolerance for times from a wrong clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.scenarios.clocks import SharedClock
from tests.torture.clocks import Clocks
from tests.torture.made_up import AT, record
from tests.torture.plan import Trouble
from tests.torture.record_index import RecordIndex

HOUR = timedelta(hours=1)


async def test_bots_clock_may_be_wrong_while_time_passes(tmp_path: Path) -> None:
    clocks = Clocks(tmp_path / "clock")
    bots, began = SharedClock(str(clocks.file)), clocks.now()
    clocks.set_bots(-HOUR.total_seconds())
    assert bots() < began
    await clocks.let_pass(7_200, 0.1)
    assert began + HOUR < bots() < clocks.now() < began + 3 * HOUR
    assert clocks.at(began.timestamp()) < began + HOUR
    clocks.set_bots(0)
    assert bots() - clocks.now() < timedelta(seconds=1)


def test_checker_tolerates_error_of_wrong_clock() -> None:
    made, message = record(), {"ts": f"{AT.timestamp():.6f}"}
    assert not RecordIndex(made).is_since(message, AT + timedelta(seconds=1))
    made.plan = replace(
        made.plan, troubles=(Trouble(0.1, "clock", "bots", "wrong", seconds=7_200),)
    )
    assert RecordIndex(made).is_since(message, AT + timedelta(seconds=1))
    assert not RecordIndex(made).is_since(message, AT + 3 * HOUR)
