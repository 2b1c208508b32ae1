"""Torture reads each table with a due time, and brings the time forward."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.store.schema import Due, metadata
from tests.torture.rows import MOVED, TABLES, Row, Rows
from tests.torture.run import OPEN_STATES, due

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


NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
OF_OPEN_ROWS = [name for name in MOVED if name.partition(".")[0] in OPEN_STATES]


def _rows(table: str, **values: object) -> Rows:
    """Return the rows of a database with one open row, which is due."""
    row: Row = {"id": 1, "job": None, "due_at": NOW, "claimed_until": None}
    row |= {"state": OPEN_STATES[table][-1]} | values
    return {name: [] for name in (*TABLES, "digests")} | {table: [row]}


@pytest.mark.parametrize("name", OF_OPEN_ROWS)
def test_open_row_is_due_once_its_last_time_has_come(name: str) -> None:
    table, _, column = name.partition(".")
    later = NOW + timedelta(minutes=5)
    rows = _rows(table, **{column: later})
    assert due(rows, NOW)
    assert not due(rows, NOW, until=later - timedelta(seconds=1))
    assert due(rows, NOW, until=later)
