"""The queues, whose rows wait for workers.

Claims and the check for due rows come from them.

Each feature declares its queues beside its tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, exists, func, select, true
from sqlalchemy.engine import Connection

from bot.store.leases import NOW, ClaimStatement, claiming_oldest, one_of, unclaimed
from bot.store.schema import AnyTable, UtcDateTime

QUEUE_TABLES: list[QueueTable] = []
"""Every declared table of a queue."""


@dataclass(frozen=True, eq=False, slots=True)
class QueueTable:
    """The rows of a table that belong to a queue.

    A row belongs to it while it is in a state, and is due from its due time on.
    """

    queue: str
    """The queue's name. A queue may have rows in several states."""
    table: AnyTable
    state: StrEnum | None
    """None for all rows of the table."""
    due: ColumnElement[datetime] | None
    """None for rows that wait only for the end of a lease."""
    ready: ColumnElement[bool] | None = None
    """A further condition, which may depend on other rows."""
    ready_at: ColumnElement[datetime] | None = None
    """A time of other rows at which ``ready`` may begin to hold."""

    def __post_init__(self) -> None:
        """Declare the queue, so that ``find_due`` includes it."""
        QUEUE_TABLES.append(self)

    @property
    def is_queued(self) -> ColumnElement[bool]:
        """Return the condition that a row is in the queue."""
        return true() if self.state is None else one_of(self.table.c.state, [self.state])

    @property
    def waits(self) -> ColumnElement[bool]:
        """Return the condition that a row is in the queue and due."""
        if self.due is None:
            return self.is_queued
        return and_(self.is_queued, self.due <= NOW)

    @property
    def is_free(self) -> ColumnElement[bool]:
        """Return the condition that a row waits only for its time."""
        is_unclaimed = unclaimed(self.table) if "claimed_until" in self.table.c else true()
        is_ready = true() if self.ready is None else self.ready
        return and_(self.is_queued, is_unclaimed, is_ready)

    def is_due(self) -> ColumnElement[bool]:
        """Return the condition that a row of the queue can be claimed."""
        return exists().select_from(self.table).where(self.waits, self.is_free)

    def next_times(self) -> list[ScalarSelect[datetime]]:
        """Return the times at which rows come due or become ready."""
        times = []
        if self.due is not None:
            times.append(_first(self.due, self.is_queued))
        if self.ready_at is not None:
            times.append(_first(self.ready_at))
        return times

    def claiming(self, *more: ColumnElement[bool]) -> ClaimStatement:
        """Return the statement that claims the queue's oldest rows that meet ``more``."""
        return claiming_oldest(self.table, self.waits, *more)


def _first(
    due: ColumnElement[datetime], *conditions: ColumnElement[bool]
) -> ScalarSelect[datetime]:
    first = select(func.min(due, type_=UtcDateTime)).where(due > NOW, *conditions)
    return first.scalar_subquery()


@dataclass(frozen=True, slots=True)
class DueQueues:
    """The queues with due rows, and the next due time."""

    queues: frozenset[str]
    next_at: datetime | None
    """When the next row comes due; None without one."""


@cache
def _looking(tables: tuple[QueueTable, ...]) -> Select[*tuple[object, ...]]:
    """Return the statement that checks these tables for due rows.

    It is built once, because building takes longer than running it.
    """
    # Not joined with OR, so that each condition uses an index.
    conditions = [table.is_due() for table in tables]
    times = list[ScalarSelect[datetime]]()
    for table in tables:
        times += table.next_times()
    return select(*conditions, *times)


def find_due(connection: Connection, now: datetime) -> DueQueues:
    """Return the queues with rows to claim, and the next due time.

    The result may name a queue from which a claim then gets nothing, because a claim also checks
    back-offs, the order in a thread and a channel's pace. ``next_at`` ignores most leases: a lease
    that runs out belongs to a dead process, and the workers' regular check finds such rows.
    """
    tables = tuple(QUEUE_TABLES)
    row = connection.execute(_looking(tables), {NOW.key: now}).one()
    queues = {
        table.queue for table, is_due in zip(tables, row[: len(tables)], strict=True) if is_due
    }
    times = [at for at in row[len(tables) :] if isinstance(at, datetime)]
    return DueQueues(frozenset(queues), min(times, default=None))
