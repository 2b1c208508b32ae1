"""Stored answers of the analytics API: one for each window, read page by page, shared by all who need it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypedDict, Unpack

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.engine import Connection, RowMapping

from bot.model import Counts, Period, Priority, ProjectId, Snapshot, SnapshotId, SnapshotState
from bot.store.leases import FREE, Claimer, LeaseLost, claim, held_by, unclaimed
from bot.store.schema import page_visitors, snapshots
from bot.store.upsert import insert_unless_there

FRESH = timedelta(minutes=10)
"""So long the numbers of a window that is not over are good enough for the next who asks."""
_PATH_LENGTH = 2_000


class SnapshotFields(TypedDict, total=False):
    """Columns of a snapshot that change when a call has failed or is not made."""

    state: SnapshotState
    attempts: int
    problem: str | None
    due_at: datetime


@dataclass(frozen=True, slots=True)
class ReadPage:
    """One page of rows as it was read: path with counts."""

    totals: Counts
    rows: Sequence[tuple[str, Counts]]
    taken_at: datetime


def to_counts(row: RowMapping) -> Counts | None:
    """The three numbers of a row; None where they have not been read."""
    return None if row["total"] is None else Counts(row["human"], row["ai"], row["total"])


def to_snapshot(row: RowMapping) -> Snapshot:
    """A row as our noun."""
    return Snapshot(
        id=row["id"],
        project=row["project"],
        period=Period(row["first"], row["end"]),
        state=SnapshotState(row["state"]),
        with_pages=row["with_pages"],
        totals=to_counts(row),
        rows=row["rows"],
        repeated=row["repeated"],
        next_offset=row["next_offset"],
        calls=row["calls"],
        attempts=row["attempts"],
        complete=row["complete"],
        is_final=row["is_final"],
        taken_at=row["taken_at"],
        problem=row["problem"],
    )


def path_hash(path: str) -> str:
    """What a path is found by."""
    return hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class SnapshotRepository:
    """The snapshots, seen through one connection."""

    connection: Connection

    def request(
        self,
        project: ProjectId,
        period: Period,
        *,
        with_pages: bool,
        priority: Priority,
        is_final: bool,
        now: datetime,
    ) -> Snapshot:
        """The snapshot of a window: the one that is there, or a new one for the next round to read.

        A window that is over has one for ever; of another one a snapshot serves for ``FRESH``.
        """
        known = self._known(project, period, is_final=is_final, now=now)
        if known is None:
            generation = "final" if is_final else now.isoformat()
            values = {"project": project, "first": period.first, "end": period.end, "generation": generation}
            values |= {
                "is_final": is_final,
                "with_pages": with_pages,
                "priority": priority,
                "created_at": now,
            }
            values |= {"state": SnapshotState.REQUESTED, "due_at": now}
            insert_unless_there(self.connection, snapshots, values)
            known = self._known(project, period, is_final=is_final, now=now)
        if known is None:
            raise LookupError("a snapshot that was just written is not there")
        return self._rouse(known, with_pages=with_pages, priority=priority, now=now)

    def _known(
        self, project: ProjectId, period: Period, *, is_final: bool, now: datetime
    ) -> RowMapping | None:
        window = and_(
            snapshots.c.project == project,
            snapshots.c.first == period.first,
            snapshots.c.end == period.end,
            snapshots.c.is_final.is_(is_final),
        )
        fresh = window if is_final else and_(window, snapshots.c.created_at > now - FRESH)
        statement = select(snapshots).where(fresh).order_by(snapshots.c.id.desc()).limit(1)
        return self.connection.execute(statement).mappings().first()

    def _rouse(self, row: RowMapping, *, with_pages: bool, priority: Priority, now: datetime) -> Snapshot:
        """Let what failed, rests, or has no pages yet be read (on)."""
        more = with_pages and not row["with_pages"]
        idle = row["state"] in (SnapshotState.FAILED, SnapshotState.RESTING)
        values: dict[str, object] = {}
        if more:
            values |= {"with_pages": True}
        if more or idle:
            values |= {"state": SnapshotState.REQUESTED, "priority": priority, "due_at": now, "attempts": 0}
            values |= {"problem": None}
        elif row["state"] == SnapshotState.REQUESTED and priority < row["priority"]:
            values |= {"priority": priority}
        if values:
            self.connection.execute(update(snapshots).where(snapshots.c.id == row["id"]).values(**values))
        return to_snapshot({**row, **values})  # type: ignore[arg-type]

    def find(self, project: ProjectId, period: Period, *, is_final: bool, now: datetime) -> Snapshot | None:
        """The snapshot that ``want`` would answer, if it is there; wants nothing."""
        row = self._known(project, period, is_final=is_final, now=now)
        return to_snapshot(row) if row else None

    def begun_for(self, project: ProjectId, period: Period, begun_at: datetime) -> Snapshot | None:
        """The snapshot that was wanted for work begun then: it goes on with that one until it is done.

        A window that counted as open then would otherwise be begun anew whenever its snapshot is not fresh.
        """
        window = and_(
            snapshots.c.project == project,
            snapshots.c.first == period.first,
            snapshots.c.end == period.end,
            or_(snapshots.c.is_final, snapshots.c.created_at > begun_at - FRESH),
        )
        found = self.connection.execute(select(snapshots).where(window).order_by(snapshots.c.id).limit(1))
        row = found.mappings().first()
        return to_snapshot(row) if row else None

    def stop(self, snapshot: SnapshotId, problem: str) -> None:
        """There is no use in reading on; what is read stays."""
        values = {"state": SnapshotState.DONE, "complete": False, "problem": problem}
        self.connection.execute(update(snapshots).where(snapshots.c.id == snapshot).values(**values))

    def get(self, ids: Iterable[SnapshotId]) -> dict[SnapshotId, Snapshot]:
        """These snapshots by id."""
        rows = self.connection.execute(select(snapshots).where(snapshots.c.id.in_(list(ids))))
        return {row["id"]: to_snapshot(row) for row in rows.mappings()}

    def claim(self, claimer: Claimer, limit: int, priority: Priority) -> Sequence[Snapshot]:
        """Snapshots to read the next page of: the most urgent, none less urgent than ``need``.

        Only those that are equally urgent: a scarce budget then goes to one window before the next begins.
        """
        due = and_(
            snapshots.c.state == SnapshotState.REQUESTED,
            snapshots.c.due_at <= claimer.now,
            snapshots.c.priority <= int(priority),
        )
        free = and_(due, unclaimed(snapshots, claimer.now))
        most_urgent = select(func.min(snapshots.c.priority)).where(free).scalar_subquery()
        candidates = (
            select(snapshots.c.id)
            .where(free, snapshots.c.priority == most_urgent)
            .order_by(snapshots.c.id)
            .limit(limit)
        )
        rows = claim(self.connection, snapshots, claimer, candidates=candidates, still=due)
        return [to_snapshot(row) for row in rows]

    def waiting(self, now: datetime) -> int:
        """How many snapshots could be read on now."""
        due = and_(snapshots.c.state == SnapshotState.REQUESTED, snapshots.c.due_at <= now)
        statement = select(func.count()).select_from(snapshots).where(due, unclaimed(snapshots, now))
        return int(self.connection.execute(statement).scalar_one())

    def store(
        self, snapshot: Snapshot, page: ReadPage, *, owner: str, next_offset: int, is_last: bool
    ) -> int:
        """Keep what one call brought and let go; answers how many of its rows were new."""
        fresh = self._add_rows(snapshot.id, page.rows) if snapshot.with_pages else 0
        repeated = len(page.rows) - fresh if snapshot.with_pages else 0
        self._settle(
            snapshot.id,
            owner,
            {
                "human": page.totals.human,
                "ai": page.totals.ai,
                "total": page.totals.total,
                "rows": snapshots.c.rows + fresh,
                "repeated": snapshots.c.repeated + repeated,
                "calls": snapshots.c.calls + 1,
                "next_offset": next_offset,
                "attempts": 0,
                "taken_at": page.taken_at,
                "state": SnapshotState.DONE if is_last else SnapshotState.REQUESTED,
                "complete": is_last and snapshot.with_pages,
            },
        )
        return fresh

    def _add_rows(self, snapshot: SnapshotId, rows: Sequence[tuple[str, Counts]]) -> int:
        by_hash = {path_hash(path): (path, counts) for path, counts in rows}
        known = self.connection.execute(
            select(page_visitors.c.hash).where(
                page_visitors.c.snapshot == snapshot, page_visitors.c.hash.in_(list(by_hash))
            )
        )
        there = set(known.scalars())
        new = [
            {
                "snapshot": snapshot,
                "hash": key,
                "path": _storable(path),
                "human": counts.human,
                "ai": counts.ai,
                "total": counts.total,
            }
            for key, (path, counts) in by_hash.items()
            if key not in there
        ]
        if new:
            self.connection.execute(page_visitors.insert(), new)
        return len(new)

    def settle(self, snapshot: SnapshotId, *, owner: str, **fields: Unpack[SnapshotFields]) -> None:
        """Write how a call went and free the lease. Raises LeaseLost when the owner has lost it."""
        self._settle(snapshot, owner, fields)

    def _settle(self, snapshot: SnapshotId, owner: str, values: Mapping[str, object]) -> None:
        result = self.connection.execute(
            update(snapshots)
            .where(snapshots.c.id == snapshot, held_by(snapshots, owner))
            .values({**values, **FREE})
        )
        if result.rowcount != 1:
            raise LeaseLost(f"snapshot {snapshot}")

    def retry(self, snapshot: SnapshotId, due_at: datetime) -> None:
        """Read one that failed again, then."""
        failed = and_(snapshots.c.id == snapshot, snapshots.c.state == SnapshotState.FAILED)
        values = {"state": SnapshotState.REQUESTED, "attempts": 0, "due_at": due_at}
        self.connection.execute(update(snapshots).where(failed).values(**values))

    def rest(self, ids: Iterable[SnapshotId]) -> None:
        """Nobody waits for the rest of these now; what is read stays."""
        waiting = and_(snapshots.c.id.in_(list(ids)), snapshots.c.state == SnapshotState.REQUESTED)
        self.connection.execute(
            update(snapshots)
            .where(waiting, snapshots.c.priority < int(Priority.DIGEST))
            .values(state=SnapshotState.RESTING)
        )

    def read_on(self, ids: Iterable[SnapshotId], now: datetime) -> None:
        """Somebody waits for these still, though they rest since another does not any more."""
        resting = and_(snapshots.c.id.in_(list(ids)), snapshots.c.state == SnapshotState.RESTING)
        self.connection.execute(
            update(snapshots).where(resting).values(state=SnapshotState.REQUESTED, due_at=now)
        )

    def sweep(self, before: datetime, rows_before: date, limit: int = 20) -> int:
        """Forget the pages of windows that were open then, and of old ones; answers of how many windows.

        Totals stay, since a curve of past weeks is made of them. What was read later than ``before`` stays
        too, however old its window: somebody may look at it, or it is still being read.
        """
        stale: ColumnElement[bool] = and_(snapshots.c.is_final.is_(False), snapshots.c.created_at < before)
        old = and_(snapshots.c.is_final, snapshots.c.end < rows_before)
        found = self.connection.execute(
            select(snapshots.c.id)
            .where(or_(stale, old), snapshots.c.with_pages, snapshots.c.rows > 0)
            .where(snapshots.c.taken_at < before)
            .limit(limit)
        )
        ids = list(found.scalars())
        if ids:
            self.connection.execute(delete(page_visitors).where(page_visitors.c.snapshot.in_(ids)))
            emptied = {"rows": 0, "repeated": 0, "with_pages": False, "complete": False, "next_offset": 0}
            self.connection.execute(
                update(snapshots).where(snapshots.c.id.in_(ids)).values(**emptied, state=SnapshotState.DONE)
            )
        return len(ids)


def _storable(path: str) -> str:
    """PostgreSQL keeps no NUL and no half of a surrogate pair; nobody reads paths of thousands of letters."""
    return path[:_PATH_LENGTH].replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
