"""Torture reads each table with a due time, and brings the time forward."""

from __future__ import annotations

from bot.store.schema import Due, metadata
from tests.torture.rows import MOVED, TABLES

PLANNED = ("next_run_at", "previews_unavailable_until", "claimed_until")
"""Times days ahead, and the ends of leases, for which a run waits."""
WAITING = {
    f"{table.name}.{column.name}"
    for table in metadata.sorted_tables
    for column in table.columns
    if isinstance(column.type, Due)
}


def test_every_due_time_is_brought_forward_or_planned() -> None:
    assert {name for name in WAITING if name.partition(".")[2] not in PLANNED} == set(MOVED)


def test_every_table_with_due_time_is_read() -> None:
    assert {name.partition(".")[0] for name in WAITING} <= set(TABLES)
