"""The clocks of a torture run, and what its checker makes of times that a wrong clock has written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.scenarios.clocks import SharedClock
from tests.torture.clocks import Clocks
from tests.torture.made_up import AT, record
from tests.torture.plan import Trouble
from tests.torture.seen import Seen

HOUR = timedelta(hours=1)


async def test_the_bots_clock_may_be_wrong_while_time_passes_for_everybody(tmp_path: Path) -> None:
    clocks = Clocks(tmp_path / "clock")
    bots, began = SharedClock(str(clocks.file)), clocks.now()
    clocks.set_bots(-HOUR.total_seconds())
    assert bots() < began
    await clocks.let_pass(7_200, 0.1)
    assert began + HOUR < bots() < clocks.now() < began + 3 * HOUR
    assert clocks.at(began.timestamp()) < began + HOUR
    clocks.set_bots(0)
    assert bots() - clocks.now() < timedelta(seconds=1)


def test_an_answer_is_compared_with_what_the_bot_wrote_as_far_as_its_clock_was_right() -> None:
    made, said = record(), {"ts": f"{AT.timestamp():.6f}"}
    assert not Seen(made).is_since(said, AT + timedelta(seconds=1))
    made.plan = replace(made.plan, troubles=(Trouble(0.1, "clock", "bots", "wrong", seconds=7_200),))
    assert Seen(made).is_since(said, AT + timedelta(seconds=1))
    assert not Seen(made).is_since(said, AT + 3 * HOUR)
