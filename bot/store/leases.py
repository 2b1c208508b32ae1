"""Leases: how workers in several processes never work on the same row.

The contract, for every queue (prompts, polls, deliveries, snapshots, questions, digests):

* A row is *claimable* when it meets its queue's condition (for example, it is due and nothing before it is
  unsettled) and nobody holds its lease: ``claimed_until`` is empty or in the past.
* ``claim`` takes rows with one statement. The claimer holds their leases until they run out. The leases of
  a dead process expire without any action.
* Writing the outcome requires the owner (``held_by``) and frees the lease (``FREE``). When the lease ran out
  and another owner took the row, nothing is written and ``LeaseLost`` is raised.

On PostgreSQL ``FOR UPDATE SKIP LOCKED`` makes claimers skip each other's rows. The condition is repeated in
the UPDATE because a row may have changed between the SELECT and its lock. SQLite has one writer at a time,
and SQLAlchemy omits the lock clause there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, or_, select, update
from sqlalchemy.engine import Connection, RowMapping
from sqlalchemy.sql.dml import ReturningUpdate

from bot.store.schema import AnyTable, UtcDateTime

FREE: dict[str, None] = {"claimed_by": None, "claimed_until": None}
"""Column values that free a row's lease."""


class LeaseLost(Exception):
    """Another owner has claimed the row, or its state has changed; nothing was written."""


@dataclass(frozen=True, slots=True)
class Claimer:
    """The owner of new leases, the current time, and how long the leases last."""

    owner: str
    now: datetime
    lease_seconds: float

    @property
    def until(self) -> datetime:
        """Return the time at which the leases run out."""
        return self.now + timedelta(seconds=self.lease_seconds)


NOW: BindParameter[datetime] = bindparam("time_now", type_=UtcDateTime)
"""The time in a statement that is built once."""
_OWNER: BindParameter[str] = bindparam("lease_owner")
_UNTIL: BindParameter[datetime] = bindparam("lease_until", type_=UtcDateTime)
ClaimStatement = ReturningUpdate[tuple[object, ...]]


def unclaimed(table: AnyTable, now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    """Return the condition that no lease on the row is held at ``now``."""
    return or_(table.c.claimed_until.is_(None), table.c.claimed_until < now)


def held_by(table: AnyTable, owner: str) -> ColumnElement[bool]:
    """Return the condition that ``owner`` holds the row's lease."""
    return table.c.claimed_by == owner


def claim(
    connection: Connection,
    table: AnyTable,
    claimer: Claimer,
    *,
    candidates: Select[int],
    still: ColumnElement[bool],
    values: Mapping[str, object] | None = None,
) -> Sequence[RowMapping]:
    """Claim those candidate rows that are still claimable, and return them as they are *after* the claim.

    ``candidates`` selects the primary key, ordered and limited. ``still`` repeats the condition for the row
    itself and must not depend on other rows. ``values`` are further columns to set.
    """
    statement = claim_statement(table, candidates=candidates, still=still, values=values)
    return claim_with(connection, statement, claimer)


def claim_statement(
    table: AnyTable,
    *,
    candidates: Select[int],
    still: ColumnElement[bool],
    values: Mapping[str, object] | None = None,
) -> ClaimStatement:
    """Return what ``claim`` executes, for claims so frequent that it is worth building once."""
    key = next(iter(table.primary_key.columns))
    # PostgreSQL may run a plain sub-select once for every row, each time with other candidates, and so
    # claim more rows than its limit. A WITH query that locks rows runs once.
    # https://www.postgresql.org/docs/current/queries-with.html#QUERIES-WITH-CTE-MATERIALIZATION
    chosen = candidates.with_for_update(skip_locked=True, of=table).cte("chosen")
    return (
        update(table)
        .where(key.in_(select(chosen.c[key.name])))
        .where(and_(still, unclaimed(table, NOW)))
        .values(claimed_by=_OWNER, claimed_until=_UNTIL, **(values or {}))
        .returning(*table.c)
    )


def claim_with(
    connection: Connection, statement: ClaimStatement, claimer: Claimer, **parameters: int
) -> Sequence[RowMapping]:
    """Claim rows with a statement of ``claim_statement``, which may have parameters of its own."""
    own = {NOW.key: claimer.now, _OWNER.key: claimer.owner, _UNTIL.key: claimer.until}
    rows = connection.execute(statement, own | parameters).mappings().all()
    key = statement.exported_columns[0].name
    return sorted(rows, key=lambda row: row[key])


def release(connection: Connection, table: AnyTable, owner: str) -> None:
    """Free the leases of this owner, except on rows in state *sending*.

    Those may have been carried out already; the next claimer recognises them by their expired lease.
    """
    begun = table.c.state == "sending"
    connection.execute(update(table).where(held_by(table, owner), ~begun).values(FREE))


def first(table: AnyTable, condition: ColumnElement[bool], limit: int | BindParameter[int]) -> Select[int]:
    """Select the primary keys of the oldest rows that match."""
    key = next(iter(table.primary_key.columns))
    return select(key).where(condition).order_by(key).limit(limit)
