"""The sweep over due times from a clock that was ahead.

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

_LATEST_PARAMETER: BindParameter[datetime] = bindparam("latest", type_=UtcDateTime)


class _Sweep(NamedTuple):
    """A statement that sets the times of one column to now.

    It applies to rows that wait for longer than ``longest``.
    """

    statement: Update
    longest: timedelta
    """The longest wait that the column allows."""


class DueTimes(Repository):
    """The due times and leases of waiting rows, within one transaction."""

    def sweep(self, now: datetime) -> int:
        """Set times beyond the range of their column to now.

        Return how many were set.
        """
        swept = 0
        for statement, longest in _list_sweeps():
            values = {NOW.key: now, _LATEST_PARAMETER.key: now + longest}
            swept += self.connection.execute(statement, values).rowcount
        return swept


@cache
def _list_sweeps() -> tuple[_Sweep, ...]:
    """Return the sweeps of all tables with due times.

    The other tables have few rows.
    """
    sweeps = list[_Sweep]()
    for queue in QUEUE_TABLES:
        sweeps += _sweeps_of(queue)
    queues = {queue.table for queue in QUEUE_TABLES}
    for table in metadata.tables.values():
        if table not in queues:
            sweeps += (_sweep(column, true()) for column in _list_due_columns(table))
    return tuple(sweeps)


def _sweeps_of(queue: QueueTable) -> Iterator[_Sweep]:
    """Yield the sweeps of a queue.

    An index finds the rows of the queue among the many that wait for nothing.
    """
    waits = queue.is_queued
    if queue.due is not None:
        waits &= queue.due.is_not(None)
    for column in _list_due_columns(queue.table):
        if column is queue.due or column.name == "claimed_until":
            yield _sweep(column, waits)


def _list_due_columns(table: AnyTable) -> list[Column[object]]:
    return [column for column in table.c if isinstance(column.type, Due)]


def _sweep(column: Column[object], waits: ColumnElement[bool]) -> _Sweep:
    statement = update(column.table).where(waits, column > _LATEST_PARAMETER).values({column: NOW})
    return _Sweep(statement, cast("Due", column.type).longest)
