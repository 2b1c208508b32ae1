"""Claiming rows: how several rounds, in several processes, never work on the same row.

The contract, for every queue (prompts, polls, deliveries, snapshots, questions, digests):

* A row is *claimable* when its own condition holds (it is due, nothing before it is unsettled) and
  nobody holds it: ``claimed_until`` is empty or in the past.
* ``claim`` takes rows with one statement. Whoever gets them holds them until the lease runs out;
  a dead process frees them by doing nothing.
* Writing the outcome names the owner (``held_by``) and frees the lease (``FREE``). When the lease ran out
  and somebody else took the row meanwhile, nothing is written and the writer learns it: ``LeaseLost``.

On PostgreSQL ``FOR UPDATE SKIP LOCKED`` keeps claimers out of each other's way, and the condition is
repeated outside because a row may have changed between the look and the lock. SQLite has one writer
at a time, and SQLAlchemy leaves the lock clause out there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Select, and_, or_, select, update
from sqlalchemy.engine import Connection, RowMapping

from bot.store.schema import AnyTable

FREE: dict[str, None] = {"claimed_by": None, "claimed_until": None}
"""What a row says whose lease has been given back."""


class LeaseLost(Exception):
    """The row was taken over while we worked on it; what we found out is not written."""


@dataclass(frozen=True, slots=True)
class Claimer:
    """Who claims, at what time, and for how long."""

    owner: str
    now: datetime
    lease_seconds: float

    @property
    def until(self) -> datetime:
        """When the lease runs out."""
        return self.now + timedelta(seconds=self.lease_seconds)


def unclaimed(table: AnyTable, now: datetime) -> ColumnElement[bool]:
    """Nobody holds the row, or its lease has run out."""
    return or_(table.c.claimed_until.is_(None), table.c.claimed_until < now)


def held_by(table: AnyTable, owner: str) -> ColumnElement[bool]:
    """The row is still ours."""
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
    """Take the candidate rows that are still claimable; answers them as they are *after* the claim.

    ``candidates`` selects the primary key, ordered and limited; ``still`` is the condition on the row
    itself, without looking at other rows.
    """
    key = next(iter(table.primary_key.columns))
    # As a plain sub-select PostgreSQL may run it once for every row, and each time with other candidates:
    # then more rows are taken than its limit says. What locks rows in a WITH is run once.
    # https://www.postgresql.org/docs/current/queries-with.html#QUERIES-WITH-CTE-MATERIALIZATION
    chosen = candidates.with_for_update(skip_locked=True, of=table).cte("chosen")
    statement = (
        update(table)
        .where(key.in_(select(chosen.c[key.name])))
        .where(and_(still, unclaimed(table, claimer.now)))
        .values(claimed_by=claimer.owner, claimed_until=claimer.until, **(values or {}))
        .returning(*table.c)
    )
    rows = (connection.execute(statement)).mappings().all()
    return sorted(rows, key=lambda row: row[key.name])


def release(connection: Connection, table: AnyTable, owner: str) -> None:
    """Give back every row that this owner holds and has not begun to carry out.

    What is *sending* stays held: it may have been carried out, and only a lapsed lease says so.
    """
    begun = table.c.state == "sending"
    connection.execute(update(table).where(held_by(table, owner), ~begun).values(FREE))


def first(table: AnyTable, condition: ColumnElement[bool], limit: int) -> Select[int]:
    """The primary keys of the first rows that match, oldest first."""
    key = next(iter(table.primary_key.columns))
    return select(key).where(condition).order_by(key).limit(limit)
