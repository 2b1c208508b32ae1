"""Strangers hold connections or flood the ports: commands are answered within Slack's three seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.strangers import ATTACKS, allow_files, measure

MOST_SECONDS = 3.0
"""Slack's limit; it is the promise itself. A command takes a tenth of a second beside an attack here."""
MOST_GROWTH_MB = 20.0
MOST_LINES = 100


@pytest.mark.parametrize("name", ATTACKS)
async def test_commands_are_answered_and_little_is_used(name: str, tmp_path: Path) -> None:
    allow_files()
    attack, count = ATTACKS[name]
    found = await measure(attack, count, tmp_path)
    assert found.seconds < MOST_SECONDS
    assert found.growth_mb < MOST_GROWTH_MB
    assert found.log_lines < MOST_LINES
