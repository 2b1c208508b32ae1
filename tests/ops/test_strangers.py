"""Strangers hold connections or flood the ports: commands are answered within Slack's three seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.strangers import ATTACKS, allow_files, measure

MOST_SECONDS = {"requests for health": 1.0}
"""Others have Slack's limit, three seconds. Beside them a command takes a tenth of it on an idle machine."""
MOST_TIMES_CALM = 100.0
"""Of the time without an attack, for a machine so slow or busy that seconds are no measure."""
MOST_GROWTH_MB = 20.0
MOST_LINES = 100


@pytest.mark.parametrize("name", ATTACKS)
async def test_commands_are_answered_and_little_is_used(name: str, tmp_path: Path) -> None:
    allow_files()
    attack, count = ATTACKS[name]
    found = await measure(attack, count, tmp_path)
    assert found.seconds < max(MOST_SECONDS.get(name, 3.0), MOST_TIMES_CALM * found.calm_seconds)
    assert found.growth_mb < MOST_GROWTH_MB
    assert found.log_lines < MOST_LINES
