"""Leases: how workers in several processes never work on the same row.

The contract, for every queue (prompts, polls, deliveries, questions, conversations to be read):

* A row is *claimable* when it meets its queue's condition (for example, it is due and all before it
  are settled) and its lease is free: ``claimed_until`` is empty or has passed.
* ``claim`` takes rows with one statement. The claimer holds their leases until they run out. The
  leases of a dead process expire without any action. A process claims no row that it still works
  on: the part that lost the lease could settle it as the new holder.
* A claimed row that this version cannot read is left to its lease, so that it stops no other.
* Writing the outcome requires the owner (``held``) and frees the lease (``FREE_LEASE``). When the lease
  ran out and another owner took the row, nothing is written and ``LeaseLost`` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from operator import itemgetter
from typing import Generic, TypeVar, cast

import structlog
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    Select,
    String,
    Update,
    bindparam,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Connection, RowMapping
from sqlalchemy.sql.dml import ReturningUpdate

from bot.store.schema import AnyTable, Repository, UtcDateTime

FREE_LEASE: dict[str, None] = {"claimed_by": None, "claimed_until": None}
"""Column values that free a row's lease."""

Item = TypeVar("Item")
AnyRow = TypeVar("AnyRow", bound=RowMapping | Sequence[object])
"""A row with access to its columns by their names: a mapping, or SQLAlchemy's tuple."""
log = structlog.get_logger(__name__)


class LeaseLost(Exception):
    """Another owner has the row, or its state has changed.

    Nothing was written.
    """


@dataclass(frozen=True, slots=True)
class Claimer:
    """The owner of new leases, with their begin and their length."""

    owner: str
    now: datetime
    lease_seconds: float
    under_way: Mapping[str, Collection[object]] = field(default_factory=dict)
    """The keys of the rows that this process works on, by the name of their table."""


NOW: BindParameter[datetime] = bindparam("time_now", type_=UtcDateTime)
"""The time in a statement that is built once."""
LIMIT: BindParameter[int] = bindparam("limit", type_=Integer)
"""The maximum number of rows in a statement that is built once."""
HOLDER: BindParameter[str | None] = bindparam("lease_holder", type_=String)
"""The owner of a lease in a statement that is built once."""
_OWNER: BindParameter[str] = bindparam("lease_owner", type_=String)
_KEY: BindParameter[int] = bindparam("row_key", type_=Integer)
_UNTIL: BindParameter[datetime] = bindparam("lease_until", type_=UtcDateTime)
_UNDER_WAY = "under_way"
ClaimStatement = ReturningUpdate[tuple[object, ...]]


def unclaimed(table: AnyTable) -> ColumnElement[bool]:
    """Return the condition that nobody holds a row at ``NOW``."""
    return or_(table.c.claimed_until.is_(None), table.c.claimed_until <= NOW)


def held(table: AnyTable) -> ColumnElement[bool]:
    """Return the condition that ``HOLDER`` holds a row's lease.

    It is always met if the holder is None.
    """
    return or_(HOLDER.is_(None), table.c.claimed_by == HOLDER)


def one_of(column: ColumnElement[object], values: Iterable[StrEnum]) -> ColumnElement[bool]:
    """Return the condition that a column has one of these values.

    A list given to ``in_`` is passed as parameters, and the statement is adapted to it each time it
    runs.
    """
    return column.in_([literal_column(f"'{value}'", String) for value in values])


def claiming(
    table: AnyTable,
    *,
    candidates: Select[int],
    values: Mapping[str, object] | None = None,
) -> ClaimStatement:
    """Return a statement for ``claim``.

    It is built once, because building takes longer than running it.

    ``candidates`` selects the primary key, ordered and limited. ``values`` are further columns to
    set.
    """
    key = next(iter(table.primary_key.columns))
    identity = table.c.get("id", key)
    candidates = candidates.where(identity.not_in(bindparam(_UNDER_WAY, expanding=True)))
    # PostgreSQL may run a plain sub-select once for every row, each time with other candidates, and
    # so claim more rows than its limit. A materialized WITH query runs once.
    # https://www.postgresql.org/docs/current/queries-with.html#QUERIES-WITH-CTE-MATERIALIZATION
    chosen = candidates.cte("chosen").prefix_with("MATERIALIZED", dialect="postgresql")
    return (
        table.update()
        .where(key.in_(select(chosen.c[key.name])))
        .values(claimed_by=_OWNER, claimed_until=_UNTIL, **(values or {}))
        .returning(*table.c)
    )


def claiming_oldest(table: AnyTable, *conditions: ColumnElement[bool]) -> ClaimStatement:
    """Return the statement that claims the oldest matching rows, ``LIMIT`` at most."""
    key = next(iter(table.primary_key.columns))
    oldest = select(key).where(*conditions, unclaimed(table)).order_by(key).limit(LIMIT)
    return claiming(table, candidates=oldest)


def claim(
    connection: Connection, statement: ClaimStatement, claimer: Claimer, **parameters: object
) -> Sequence[RowMapping]:
    """Claim the candidate rows, and return them as of *after* the claim.

    ``statement`` is one of ``claiming``; ``parameters`` are its own.
    """
    own: dict[str, object] = {
        NOW.key: claimer.now,
        _OWNER.key: claimer.owner,
        _UNTIL.key: claimer.now + timedelta(seconds=claimer.lease_seconds),
        _UNDER_WAY: list(claimer.under_way.get(cast("AnyTable", statement.table).name, ())),
    }
    rows = connection.execute(statement, own | parameters).mappings().all()
    key = statement.exported_columns[0].name
    return sorted(rows, key=itemgetter(key))


def read_rows(
    table: AnyTable, rows: Iterable[AnyRow], read: Callable[[AnyRow], Item]
) -> list[Item]:
    """Return the records of rows, which have the key among their columns.

    Rows that ``read`` cannot read are logged and left out.

    A newer version may have written a value that is unknown to this one.
    """
    key = next(iter(table.primary_key.columns)).key
    items = list[Item]()
    for row in rows:
        try:
            items.append(read(row))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            number = row[key] if isinstance(row, RowMapping) else getattr(row, key)
            log.error("row_not_readable", table=table.name, row=number, reason=type(error).__name__)
    return items


class Rows(Repository, Generic[Item]):
    """Statements about a table of records, within one transaction."""

    table: AnyTable
    more: Sequence[ColumnElement[bool]] = ()
    """Further columns that ``read`` needs."""
    read: Callable[[RowMapping], Item]
    _key: ColumnElement[int]
    _update_held: Update

    def __init_subclass__(cls) -> None:
        """Build the statement that writes one row of the table, once."""
        super().__init_subclass__()
        cls._key = next(iter(cls.table.primary_key.columns))
        if "claimed_by" in cls.table.c:
            cls._update_held = update(cls.table).where(cls._key == _KEY, held(cls.table))

    def _has(self, *conditions: ColumnElement[bool]) -> bool:
        first = select(self._key).where(*conditions).limit(1)
        return self.connection.execute(first).first() is not None

    def _newest(self, *conditions: ColumnElement[bool]) -> Item | None:
        """Return the newest row that matches; None when there is none."""
        matching = select(self.table, *self.more).where(*conditions)
        newest = matching.order_by(self._key.desc()).limit(1)
        row = self.connection.execute(newest).mappings().first()
        return self.read(row) if row else None

    def _many(
        self,
        condition: ColumnElement[bool],
        limit: int,
        skipped: int = 0,
        *,
        by: ColumnElement[object] | None = None,
    ) -> list[Item]:
        """Return matching rows, ordered by ``by`` or else the newest first.

        For few of many rows another order is faster, because planners walk all rows in the order of
        the key.
        """
        order = self._key.desc() if by is None else by
        query = select(self.table, *self.more).where(condition).order_by(order)
        rows = self.connection.execute(query.limit(limit).offset(skipped)).mappings()
        return read_rows(self.table, rows, self.read)

    def _claim(
        self, statement: ClaimStatement, claimer: Claimer, **parameters: object
    ) -> list[Item]:
        """Claim rows, and return the readable ones as records."""
        rows = claim(self.connection, statement, claimer, **parameters)
        return read_rows(self.table, rows, self.read)

    def _write(self, key: int, owner: str | None, values: Mapping[str, object]) -> None:
        """Write columns of one row.

        Raises LeaseLost when ``owner`` is given and does not hold the lease.
        """
        row = {_KEY.key: key, HOLDER.key: owner}
        if self.connection.execute(self._update_held, {**values, **row}).rowcount != 1:
            raise LeaseLost(f"{self.table.name}: row {key}")
