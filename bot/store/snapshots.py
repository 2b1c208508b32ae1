"""Snapshots: stored answers of the analytics API, one for each period, fetched page by page and shared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypedDict, Unpack

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    String,
    and_,
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.engine import RowMapping

from bot.model.ids import ProjectId, SnapshotId
from bot.model.period import Period
from bot.model.visitors import Counts, Priority, Snapshot, SnapshotState
from bot.store.columns import Repository, reader
from bot.store.leases import (
    FREE,
    NOW,
    Claimer,
    ClaimStatement,
    LeaseLost,
    claim,
    claiming,
    first,
    readable_claims,
    unclaimed,
)
from bot.store.queues import SNAPSHOTS
from bot.store.schema import page_visitors, snapshots
from bot.store.upsert import insert_unless_there

FRESH = timedelta(minutes=10)
"""For how long a snapshot of an unfinished period is reused for further questions."""
_PATH_LENGTH = 2_000


class SnapshotFields(TypedDict, total=False):
    """Columns of a snapshot that change after a failed or skipped call."""

    state: SnapshotState
    attempts: int
    problem: str | None
    due_at: datetime


@dataclass(frozen=True, slots=True)
class ReadPage:
    """One response of the analytics API: the site's totals, and rows of path and counts."""

    totals: Counts
    rows: Sequence[tuple[str, Counts]]
    taken_at: datetime


def _to_counts(row: RowMapping) -> Counts | None:
    """Return a row's three counts; None when they have not been fetched yet."""
    return None if row["total"] is None else Counts(row["human"], row["ai"], row["total"])


_to_snapshot = reader(
    Snapshot, snapshots, period=lambda row: Period(row["first"], row["end"]), totals=_to_counts
)


def path_hash(path: str) -> str:
    """Return the hash under which a path is stored."""
    return hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


_PROJECT: BindParameter[str] = bindparam("of_project", type_=String)
_LEAST_PRIORITY: BindParameter[int] = bindparam("least", type_=Integer)
_WAITING_PROJECTS = (
    select(snapshots.c.project)
    .where(SNAPSHOTS.waits, SNAPSHOTS.is_free)
    .distinct()
    .order_by(snapshots.c.project)
)


def _claiming() -> ClaimStatement:
    due = and_(SNAPSHOTS.waits, snapshots.c.project == _PROJECT, snapshots.c.priority <= _LEAST_PRIORITY)
    free = and_(due, unclaimed(snapshots))
    most_urgent = select(func.min(snapshots.c.priority)).where(free).scalar_subquery()
    candidates = first(snapshots, and_(free, snapshots.c.priority == most_urgent))
    return claiming(snapshots, candidates=candidates, still=due)


_CLAIM = _claiming()


class SnapshotRepository(Repository):
    """The snapshots, within one transaction."""

    def request(
        self,
        project: ProjectId,
        period: Period,
        *,
        with_pages: bool,
        priority: Priority,
        is_final: bool,
        now: datetime,
        is_patient: bool = False,
    ) -> Snapshot:
        """Return the snapshot of a period: an existing one, or a new one for the workers to fetch.

        A finished period has one snapshot, which stays valid. A snapshot of an unfinished period is reused
        for ``FRESH``. An existing snapshot is fetched again or further if it failed, rests or lacks pages.
        ``is_patient``: one that failed stays so until its pause is over, because nobody waits for it.
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
        pauses = is_patient and known["state"] == SnapshotState.FAILED and known["due_at"] > now
        if pauses:
            return _to_snapshot(known)
        return self._reactivate(known, with_pages=with_pages, priority=priority, now=now)

    def _known(
        self, project: ProjectId, period: Period, *, is_final: bool, now: datetime
    ) -> RowMapping | None:
        same_period = and_(
            snapshots.c.project == project,
            snapshots.c.first == period.first,
            snapshots.c.end == period.end,
            snapshots.c.is_final.is_(is_final),
        )
        fresh = same_period if is_final else and_(same_period, snapshots.c.created_at > now - FRESH)
        statement = select(snapshots).where(fresh).order_by(snapshots.c.id.desc()).limit(1)
        return self.connection.execute(statement).mappings().first()

    def _reactivate(
        self, row: RowMapping, *, with_pages: bool, priority: Priority, now: datetime
    ) -> Snapshot:
        """Request a snapshot again if it failed, rests or lacks pages that are now required."""
        more = with_pages and (not row["with_pages"] or _lacks_pages(row))
        idle = row["state"] in (SnapshotState.FAILED, SnapshotState.RESTING)
        values: dict[str, object] = {}
        if more:
            values |= {"with_pages": True}
        if more or idle:
            values |= {"state": SnapshotState.REQUESTED, "priority": priority, "due_at": now, "problem": None}
        elif row["state"] == SnapshotState.REQUESTED and priority < row["priority"]:
            values |= {"priority": priority}
        if values:
            self.connection.execute(update(snapshots).where(snapshots.c.id == row["id"]).values(**values))
        return _to_snapshot({**row, **values})  # type: ignore[arg-type]

    def find(self, project: ProjectId, period: Period, *, is_final: bool, now: datetime) -> Snapshot | None:
        """Return the snapshot that ``request`` would reuse; None when there is none. Writes nothing."""
        row = self._known(project, period, is_final=is_final, now=now)
        return _to_snapshot(row) if row else None

    def begun_for(self, project: ProjectId, period: Period, begun_at: datetime) -> Snapshot | None:
        """Return the snapshot that was requested for work begun at ``begun_at``; None when there is none.

        The work keeps using that snapshot. Otherwise an unfinished period would be fetched again each time
        its snapshot is older than ``FRESH``.
        """
        requested = and_(
            snapshots.c.project == project,
            snapshots.c.first == period.first,
            snapshots.c.end == period.end,
            or_(snapshots.c.is_final, snapshots.c.created_at > begun_at - FRESH),
        )
        found = self.connection.execute(select(snapshots).where(requested).order_by(snapshots.c.id).limit(1))
        row = found.mappings().first()
        return _to_snapshot(row) if row else None

    def stop(self, snapshot: SnapshotId, problem: str) -> None:
        """Mark a snapshot as done but incomplete, because further calls are useless. Fetched pages stay."""
        values = {"state": SnapshotState.DONE, "complete": False, "problem": problem}
        self.connection.execute(update(snapshots).where(snapshots.c.id == snapshot).values(**values))

    def get(self, ids: Iterable[SnapshotId]) -> dict[SnapshotId, Snapshot]:
        """Return the snapshots with these ids, by id."""
        rows = self.connection.execute(select(snapshots).where(snapshots.c.id.in_(list(ids))))
        return {row["id"]: _to_snapshot(row) for row in rows.mappings()}

    def claim(
        self, claimer: Claimer, project: ProjectId, limit: int, priority: Priority
    ) -> Sequence[Snapshot]:
        """Claim snapshots of a project whose next page is to be fetched: those of the most urgent priority.

        None is less urgent than ``priority``. Only one priority is claimed at a time, so that a small budget
        completes urgent snapshots before it begins others.
        """
        rows = claim(self.connection, _CLAIM, claimer, limit=limit, of_project=project, least=int(priority))
        return readable_claims(self.connection, snapshots, rows, _to_snapshot, claimer.now)

    def waiting_projects(self, now: datetime) -> Sequence[ProjectId]:
        """Return the projects whose snapshots have a page that could be fetched now."""
        return self.connection.execute(_WAITING_PROJECTS, {NOW.key: now}).scalars().all()

    def store(
        self,
        snapshot: Snapshot,
        page: ReadPage,
        *,
        owner: str,
        next_offset: int,
        is_last: bool,
    ) -> int:
        """Store the result of one call and free the lease. Return how many of its rows were new.

        Whatever was requested of it since the claim is kept: to rest, or to read its pages, too.
        Raises LeaseLost unless ``owner`` holds the lease.
        """
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
                "state": _last_state(snapshot) if is_last else snapshots.c.state,
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
        """Write a call's outcome and free the lease. Raises LeaseLost unless ``owner`` holds it."""
        self._settle(snapshot, owner, fields)

    def _settle(self, snapshot: SnapshotId, owner: str, values: Mapping[str, object]) -> None:
        result = self.connection.execute(
            update(snapshots)
            .where(snapshots.c.id == snapshot, snapshots.c.claimed_by == owner)
            .values({**values, **FREE})
        )
        if result.rowcount != 1:
            raise LeaseLost(f"snapshot {snapshot}")

    def retry(self, snapshot: SnapshotId, now: datetime) -> None:
        """Fetch a failed snapshot again if its pause is over."""
        failed = and_(snapshots.c.id == snapshot, snapshots.c.state == SnapshotState.FAILED)
        again = update(snapshots).where(failed, snapshots.c.due_at <= now)
        self.connection.execute(again.values(state=SnapshotState.REQUESTED))

    def rest(self, ids: Iterable[SnapshotId]) -> None:
        """Stop fetching these snapshots, because no question waits for them. Fetched pages stay.

        Snapshots for digests continue.
        """
        waiting = and_(snapshots.c.id.in_(list(ids)), snapshots.c.state == SnapshotState.REQUESTED)
        self.connection.execute(
            update(snapshots)
            .where(waiting, snapshots.c.priority < int(Priority.DIGEST))
            .values(state=SnapshotState.RESTING)
        )

    def read_on(self, ids: Iterable[SnapshotId], now: datetime) -> None:
        """Continue fetching the resting ones of these snapshots, since another question waits for them."""
        resting = and_(snapshots.c.id.in_(list(ids)), snapshots.c.state == SnapshotState.RESTING)
        self.connection.execute(
            update(snapshots).where(resting).values(state=SnapshotState.REQUESTED, due_at=now)
        )

    def sweep(self, before: datetime, rows_before: date, limit: int = 20) -> int:
        """Delete stored pages that are no longer needed; return of how many snapshots.

        These are the pages of unfinished periods requested before ``before``, and of finished periods that
        ended before ``rows_before``. Totals stay, because the chart of past weeks uses them. Pages fetched
        after ``before`` stay too, since somebody may be reading them, and so do those of a fetch under way.
        """
        stale: ColumnElement[bool] = and_(snapshots.c.is_final.is_(False), snapshots.c.created_at < before)
        old = and_(snapshots.c.is_final, snapshots.c.end < rows_before)
        free = or_(snapshots.c.claimed_until.is_(None), snapshots.c.claimed_until < before)
        found = self.connection.execute(
            select(snapshots.c.id)
            .where(or_(stale, old), snapshots.c.with_pages, snapshots.c.rows > 0)
            .where(snapshots.c.taken_at < before, free)
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


def _lacks_pages(row: RowMapping) -> bool:
    """Return whether a snapshot is done without any call for its pages, as earlier versions left some."""
    return row["state"] == SnapshotState.DONE and not row["complete"] and not row["next_offset"]


def _last_state(claimed: Snapshot) -> ColumnElement[str] | SnapshotState:
    """Return the state after the last call. Pages may have been requested while the totals were read."""
    if claimed.with_pages:
        return SnapshotState.DONE
    return case((snapshots.c.with_pages, SnapshotState.REQUESTED.value), else_=SnapshotState.DONE.value)


def _storable(path: str) -> str:
    """Return a path as PostgreSQL can store it (no NUL, no lone surrogate), cut to ``_PATH_LENGTH``."""
    return path[:_PATH_LENGTH].replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
