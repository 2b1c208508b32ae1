"""The queues, each row of which waits for a worker. Claims and the check for due rows come from them.

Each subject declares its queues beside its tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, exists, func, select, true
from sqlalchemy.engine import Connection

from bot.store.leases import NOW, ClaimStatement, claiming_oldest, unclaimed
from bot.store.schema import AnyTable, UtcDateTime

QUEUE_TABLES: list[QueueTable] = []
"""Every declared table of a queue."""


@dataclass(frozen=True, eq=False, slots=True)
class QueueTable:
    """Rows of a queue: those of one table that are in a state, from their due time on."""

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
        """Return the condition that a row is in the queue, due or not."""
        return true() if self.state is None else self.table.c.state == self.state

    @property
    def waits(self) -> ColumnElement[bool]:
        """Return the condition that a row is in the queue and its time has come."""
        return self.is_queued if self.due is None else and_(self.is_queued, self.due <= NOW)

    @property
    def is_free(self) -> ColumnElement[bool]:
        """Return the condition that a row of the queue waits only for its time."""
        held = unclaimed(self.table) if "claimed_until" in self.table.c else true()
        return and_(self.is_queued, held, true() if self.ready is None else self.ready)

    def is_due(self) -> ColumnElement[bool]:
        """Return the condition that a row of the queue can be claimed."""
        return exists().select_from(self.table).where(self.waits, self.is_free)

    def next_times(self) -> list[ScalarSelect[datetime]]:
        """Return when the next row comes due, and when one may become ready."""
        times = [] if self.due is None else [_first(self.due, self.is_queued)]
        return times if self.ready_at is None else [*times, _first(self.ready_at)]

    def claiming(self, *more: ColumnElement[bool]) -> ClaimStatement:
        """Return the statement that claims the oldest rows of the queue that meet ``more``."""
        return claiming_oldest(self.table, self.waits, *more)


def _first(due: ColumnElement[datetime], *which: ColumnElement[bool]) -> ScalarSelect[datetime]:
    return select(func.min(due, type_=UtcDateTime)).where(due > NOW, *which).scalar_subquery()


@dataclass(frozen=True, slots=True)
class DueQueues:
    """The queues with rows due now, and the time at which the next row comes due (None: no such row)."""

    queues: frozenset[str]
    next_at: datetime | None


@cache
def _looking(tables: tuple[QueueTable, ...]) -> Select[*tuple[object, ...]]:
    """Return the statement that checks these tables of queues. Building takes longer than running it."""
    # Not joined with OR, so that each of them uses an index.
    conditions = [table.is_due() for table in tables]
    return select(*conditions, *(at for table in tables for at in table.next_times()))


def find_due(connection: Connection, now: datetime) -> DueQueues:
    """Return the queues from which a claim may get rows, and the next due time.

    The result may name a queue from which a claim then gets nothing, because a claim also checks back-offs,
    the order in a thread and a channel's pace. ``next_at`` ignores most leases: a lease that runs out belongs
    to a dead process, and the workers' regular check finds such rows.
    """
    tables = tuple(QUEUE_TABLES)
    row = connection.execute(_looking(tables), {NOW.key: now}).one()
    flags, coming = row[: len(tables)], row[len(tables) :]
    queues = frozenset(table.queue for table, is_due in zip(tables, flags, strict=True) if is_due)
    return DueQueues(queues, min((at for at in coming if isinstance(at, datetime)), default=None))
