"""The sweep over due times and leases that a clock wrote while it was ahead.

A process works by the clock of its machine, or of its PostgreSQL server. While that clock is ahead,
rows get times that no wait explains once it is set back. Statements compare times as they are; the
sweep corrects them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple, cast

from sqlalchemy import BindParameter, Column, ColumnElement, Update, bindparam, true, update

from bot.store.leases import NOW
from bot.store.queues import QUEUE_TABLES, QueueTable
from bot.store.schema import AnyTable, Due, Repository, UtcDateTime, metadata

_LATEST: BindParameter[datetime] = bindparam("latest", type_=UtcDateTime)


class _Sweep(NamedTuple):
    """The statement that sets the times of one column to now, of rows that wait longer than they can."""

    statement: Update
    longest: timedelta


class DueTimes(Repository):
    """The due times and leases of all rows that wait, within one transaction."""

    def sweep(self, now: datetime) -> int:
        """Set times to now that lie further ahead than their column allows. Return how many."""
        swept = 0
        for statement, longest in _sweeps():
            values = {NOW.key: now, _LATEST.key: now + longest}
            swept += self.connection.execute(statement, values).rowcount
        return swept


@cache
def _sweeps() -> tuple[_Sweep, ...]:
    """Return the sweeps of all queues, and of the other tables with due times, which have few rows."""
    of_queues = [sweep for queue in QUEUE_TABLES for sweep in _sweeps_of(queue)]
    queues = {queue.table for queue in QUEUE_TABLES}
    others = [table for table in metadata.tables.values() if table not in queues]
    return (
        *of_queues,
        *(_sweep(column, true()) for table in others for column in _due_columns(table)),
    )


def _sweeps_of(queue: QueueTable) -> Iterator[_Sweep]:
    """Yield the sweeps of a queue. An index finds its rows among the many that wait for nothing."""
    waits = queue.is_queued
    if queue.due is not None:
        waits &= queue.due.is_not(None)
    for column in _due_columns(queue.table):
        if column is queue.due or column.name == "claimed_until":
            yield _sweep(column, waits)


def _due_columns(table: AnyTable) -> list[Column[object]]:
    return [column for column in table.c if isinstance(column.type, Due)]


def _sweep(column: Column[object], waits: ColumnElement[bool]) -> _Sweep:
    statement = update(column.table).where(waits, column > _LATEST).values({column: NOW})
    return _Sweep(statement, cast("Due", column.type).longest)
