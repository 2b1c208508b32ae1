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

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Select,
    Update,
    and_,
    bindparam,
    exists,
    or_,
    select,
    true,
    update,
)

from bot.store.leases import NOW
from bot.store.queues import QUEUE_TABLES, QueueTable
from bot.store.schema import AnyTable, Due, Repository, UtcDateTime, metadata


class _Sweep(NamedTuple):
    """A statement that sets the times of one column to now.

    It applies to rows that wait for longer than ``longest``.
    """

    statement: Update
    is_needed: ColumnElement[bool]
    """The condition that there are such rows."""
    latest: BindParameter[datetime]
    """The latest time that the column may have."""
    longest: timedelta
    """The longest wait that the column allows."""


class DueTimes(Repository):
    """The due times and leases of waiting rows, within one transaction."""

    def are_too_far_ahead(self, now: datetime) -> bool:
        """Return whether any time is beyond the range of its column."""
        latest = {sweep.latest.key: now + sweep.longest for sweep in _list_sweeps()}
        return self.connection.execute(_looking_far_ahead(), latest).scalar_one()

    def sweep(self, now: datetime) -> int:
        """Set times beyond the range of their column to now.

        Return how many were set.
        """
        swept = 0
        for sweep in _list_sweeps():
            values = {NOW.key: now, sweep.latest.key: now + sweep.longest}
            swept += self.connection.execute(sweep.statement, values).rowcount
        return swept


@cache
def _looking_far_ahead() -> Select[bool]:
    """Return the statement that looks for times that are too far ahead."""
    return select(or_(*(sweep.is_needed for sweep in _list_sweeps())))


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
    longest = cast("Due", column.type).longest
    latest: BindParameter[datetime] = bindparam(
        f"latest_{longest.total_seconds():.0f}", type_=UtcDateTime
    )
    is_too_far = and_(waits, column > latest)
    return _Sweep(
        statement=update(column.table).where(is_too_far).values({column: NOW}),
        is_needed=exists().select_from(column.table).where(is_too_far),
        latest=latest,
        longest=longest,
    )
