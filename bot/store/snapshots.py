"""Snapshots: stored answers of the analytics API, one for each period, shared, with their pages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypedDict, Unpack

from sqlalchemy import (
    BindParameter,
    Boolean,
    ColumnElement,
    Float,
    String,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    true,
)
from sqlalchemy.engine import RowMapping

from bot.ids import PageKey, ProjectId, SnapshotId, can_be_id
from bot.model.misses import Source, Words
from bot.model.questions import QuestionKind
from bot.model.visitors import (
    CHANCE,
    Counts,
    PageCounts,
    Period,
    ReadingProblem,
    Snapshot,
    SnapshotState,
    SortBy,
)
from bot.store.leases import FREE, LIMIT, NOW, Claimer, ClaimStatement, LeaseLost, Rows, claiming, unclaimed
from bot.store.schema import Repository, insert_unless_there, reader
from bot.store.visitor_tables import IS_PLANNED, IS_WANTED, SNAPSHOTS, is_not_here, page_visitors, snapshots

FRESH = timedelta(minutes=10)
"""For how long a snapshot of an unfinished period is reused for further questions."""
_REMEMBERED = timedelta(days=30)
_PATH_LENGTH = 2_000
_MOST_ROWS = 1_000_000


class SnapshotFields(TypedDict, total=False):
    """Columns of a snapshot that change after a failed or skipped call."""

    state: SnapshotState
    attempts: int
    problem: str | None
    due_at: datetime
    taken_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReadPage:
    """One response of the analytics API: the site's totals, and rows of path and counts.

    ``next_offset``: where the next call would continue. ``is_last``: nothing comes after it.
    """

    totals: Counts
    rows: Sequence[tuple[str, Counts]]
    taken_at: datetime
    next_offset: int
    is_last: bool


def _to_counts(row: RowMapping) -> Counts | None:
    """Return a row's three counts; None when they have not been fetched yet."""
    return None if row["total"] is None else Counts(row["human"], row["ai"], row["total"])


def path_hash(path: str) -> str:
    """Return the hash under which a path is stored."""
    return hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


_PROJECT: BindParameter[str] = bindparam("of_project", type_=String)
_DIGESTS_TOO: BindParameter[bool] = bindparam("digests_too", type_=Boolean)
_UNTIL = {
    QuestionKind.VISITORS: snapshots.c.wanted_until,
    QuestionKind.DIGEST: snapshots.c.planned_until,
}


_WAITING_PROJECTS = (
    select(snapshots.c.project)
    .where(SNAPSHOTS.waits, SNAPSHOTS.is_free)
    .distinct()
    .order_by(snapshots.c.project)
)


def _claiming() -> ClaimStatement:
    wanted = and_(SNAPSHOTS.waits, or_(IS_WANTED, and_(_DIGESTS_TOO, IS_PLANNED)))
    mine = and_(wanted, snapshots.c.project == _PROJECT)
    soonest = (case((IS_WANTED, 0), else_=1), snapshots.c.planned_until, snapshots.c.id)
    candidates = select(snapshots.c.id).where(mine, unclaimed(snapshots)).order_by(*soonest).limit(LIMIT)
    return claiming(snapshots, candidates=candidates, still=mine)


_CLAIM = _claiming()


class Snapshots(Rows[Snapshot]):
    """The snapshots, within one transaction."""

    table = snapshots
    read = staticmethod(
        reader(Snapshot, snapshots, period=lambda row: Period(row["first"], row["end"]), totals=_to_counts)
    )

    def request(
        self,
        project: ProjectId,
        period: Period,
        *,
        with_pages: bool,
        is_final: bool,
        now: datetime,
        source: Source = Source.VISITORS,
    ) -> Snapshot:
        """Return the snapshot of a period: an existing one, or a new one. It is fetched when it is wanted.

        A finished period has one snapshot, which stays valid. A snapshot of an unfinished period is reused
        for ``FRESH``. An existing snapshot that lacks pages is fetched further.
        """
        same = [snapshots.c.project == project, snapshots.c.source == source]
        same += [snapshots.c.is_final.is_(is_final)]
        same += [snapshots.c.first == period.first, snapshots.c.end == period.end]
        same += [] if is_final else [snapshots.c.created_at > now - FRESH]
        newest = select(snapshots).where(*same).order_by(snapshots.c.id.desc()).limit(1)
        row = self.connection.execute(newest).mappings().first()
        if row is None:
            generation = "final" if is_final else now.isoformat()
            values: dict[str, object] = {"project": project, "source": source, "generation": generation}
            values |= {"first": period.first, "end": period.end}
            values |= {"is_final": is_final, "with_pages": with_pages, "created_at": now}
            values |= {"state": SnapshotState.REQUESTED, "due_at": now}
            insert_unless_there(self.connection, snapshots, values)
            row = self.connection.execute(newest).mappings().one()
        if with_pages and not row["with_pages"]:
            # One that failed stays so until its pause is over, or a person asks for it.
            state = SnapshotState.FAILED if row["state"] == SnapshotState.FAILED else SnapshotState.REQUESTED
            more = {"with_pages": True, "state": state}
            self.connection.execute(snapshots.update().where(snapshots.c.id == row["id"]).values(more))
            row = self.connection.execute(newest).mappings().one()
        return self.read(row)

    def want(self, ids: Iterable[SnapshotId], kind: QuestionKind, until: datetime | None) -> None:
        """Fetch these snapshots until then for a question of this kind; None: no longer.

        What is wanted for a person is fetched before the rest, one page for each time that it is wanted.
        """
        mine = snapshots.update().where(snapshots.c.id.in_(list(ids)))
        self.connection.execute(mine.values({_UNTIL[kind]: until}))

    def try_again(self, ids: Iterable[SnapshotId], now: datetime) -> None:
        """Let those of these snapshots that failed be fetched at once, because a person asks for them."""
        failed = and_(snapshots.c.id.in_(list(ids)), snapshots.c.state == SnapshotState.FAILED)
        again = {"state": SnapshotState.REQUESTED, "due_at": now, "problem": None}
        self.connection.execute(snapshots.update().where(failed).values(again))

    def get(self, ids: Iterable[SnapshotId]) -> dict[SnapshotId, Snapshot]:
        """Return the snapshots with these ids, by id."""
        rows = self.connection.execute(select(snapshots).where(snapshots.c.id.in_(list(ids))))
        return {row["id"]: self.read(row) for row in rows.mappings()}

    def has_visits(self, project: ProjectId, before: date, read_at: datetime) -> bool:
        """Return whether the service has visitors of a time before a day.

        What counts is read less than ``_REMEMBERED`` before ``read_at``, or later: a service may forget.
        """
        older = and_(snapshots.c.project == project, snapshots.c.end <= before, snapshots.c.total > 0)
        return self._has(older, snapshots.c.taken_at > read_at - _REMEMBERED)

    def is_not_here(self, project: ProjectId, source: Source, now: datetime) -> bool:
        """Return whether the service said lately that it does not give this."""
        return self._has(snapshots.c.project == project, snapshots.c.source == source, is_not_here(now))

    def newest_with_pages(self, project: ProjectId) -> SnapshotId | None:
        """Return the newest snapshot of a project of which pages are stored; None when there is none."""
        read = and_(snapshots.c.project == project, snapshots.c.rows > 0)
        newest = select(snapshots.c.id).where(read).order_by(snapshots.c.id.desc()).limit(1)
        return self.connection.execute(newest).scalar_one_or_none()

    def claim(
        self, claimer: Claimer, project: ProjectId, limit: int, *, digests_too: bool = True
    ) -> Sequence[Snapshot]:
        """Claim snapshots of a project whose next page is to be fetched, those that people wait for first."""
        parameters = {"of_project": project, "digests_too": digests_too}
        return self._claim(_CLAIM, claimer, limit=limit, **parameters)

    def waiting_projects(self, now: datetime) -> Sequence[ProjectId]:
        """Return the projects whose snapshots have a page that could be fetched now."""
        return self.connection.execute(_WAITING_PROJECTS, {NOW.key: now}).scalars().all()

    def store(self, snapshot: Snapshot, page: ReadPage, *, owner: str) -> None:
        """Store the result of one call and free the lease. Raises LeaseLost unless ``owner`` holds it.

        Pages that were requested since the claim are fetched, too. A service that says there is more but
        shows nothing new is not asked further.
        """
        fresh = self._add_rows(snapshot.id, page.rows) if snapshot.with_pages else 0
        repeated = len(page.rows) - fresh if snapshot.with_pages else 0
        is_endless = not page.is_last and (not fresh or page.next_offset >= _MOST_ROWS)
        is_done = is_endless or (page.is_last and snapshot.with_pages)
        still = case((snapshots.c.with_pages, SnapshotState.REQUESTED.value), else_=SnapshotState.DONE.value)
        values = {
            "human": page.totals.human,
            "ai": page.totals.ai,
            "total": page.totals.total,
            "rows": snapshots.c.rows + fresh,
            "repeated": snapshots.c.repeated + repeated,
            "calls": snapshots.c.calls + 1,
            "next_offset": page.next_offset,
            "attempts": 0,
            "taken_at": page.taken_at,
            "state": SnapshotState.DONE if is_done else still,
            "complete": is_done and not is_endless,
            "problem": ReadingProblem.ENDLESS if is_endless else None,
            "wanted_until": None,
            **FREE,
        }
        mine = and_(snapshots.c.id == snapshot.id, snapshots.c.claimed_by == owner)
        if self.connection.execute(snapshots.update().where(mine).values(values)).rowcount != 1:
            raise LeaseLost(f"snapshot {snapshot.id}")

    def store_words(self, snapshot: Snapshot, words: Words, taken_at: datetime, *, owner: str) -> None:
        """Store what readers wrote and free the lease. Raises LeaseLost unless ``owner`` holds it."""
        done = {"state": SnapshotState.DONE, "complete": not words.is_part, "attempts": 0, "problem": None}
        read = {"words": words, "taken_at": taken_at, "calls": snapshot.calls + 1, "wanted_until": None}
        self._write(snapshot.id, owner, {**done, **read, **FREE})

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
                "path": path[:_PATH_LENGTH],
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
        self._write(snapshot, owner, {**fields, **FREE})

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
            self.connection.execute(page_visitors.delete().where(page_visitors.c.snapshot.in_(ids)))
            emptied = {"rows": 0, "repeated": 0, "with_pages": False, "complete": False, "next_offset": 0}
            self.connection.execute(
                snapshots.update().where(snapshots.c.id.in_(ids)).values(**emptied, state=SnapshotState.DONE)
            )
        return len(ids)


_now = page_visitors.alias("now")
_was = page_visitors.alias("was")
_COLUMNS = (
    *_now.c["id", "snapshot", "hash", "path", "human", "ai", "total"],
    *(_was.c[name].label(f"was_{name}") for name in ("human", "ai", "total")),
)
_KEY = re.compile(r"([0-9]{1,10}):([0-9a-f]{32})")


def _is_beyond_chance(
    now: ColumnElement[int] | ColumnElement[float], was: ColumnElement[int] | ColumnElement[float]
) -> ColumnElement[bool]:
    """Return ``is_beyond_chance`` as SQL."""
    # Each is cast alone, because PostgreSQL refuses a sum beyond 64 bits.
    one, other = cast(now, Float), cast(was, Float)
    return (one - other) * (one - other) > CHANCE**2 * (one + other)


def _within(path: ColumnElement[str], section: str | None) -> ColumnElement[bool]:
    """Return ``in_section`` as SQL, without LIKE, which differs between SQLite and PostgreSQL."""
    if section is None:
        return true()
    if section.endswith("*"):
        bare = section[:-1]
        return func.substr(path, 1, len(bare)) == bare if bare else true()
    bare = section.rstrip("/")
    return or_(path == bare, func.substr(path, 1, len(bare) + 1) == f"{bare}/")


def _to_pages(rows: Sequence[RowMapping]) -> list[PageCounts]:
    return [
        PageCounts(
            PageKey(f"{row['snapshot']}:{row['hash']}"),
            row["path"],
            Counts(row["human"], row["ai"], row["total"]),
            None if row["was_total"] is None else Counts(row["was_human"], row["was_ai"], row["was_total"]),
        )
        for row in rows
    ]


class Pages(Repository):
    """The pages of snapshots, within one transaction."""

    def count(self, snapshot: SnapshotId, section: str | None) -> int:
        """Return how many pages of a section had visitors."""
        inside = and_(page_visitors.c.snapshot == snapshot, _within(page_visitors.c.path, section))
        statement = select(func.count()).select_from(page_visitors).where(inside)
        return int(self.connection.execute(statement).scalar_one())

    def top(
        self, now: SnapshotId, was: SnapshotId | None, section: str | None, sort: SortBy, limit: int
    ) -> Sequence[PageCounts]:
        """Return the most read pages of snapshot ``now``, each with its counts in ``was``."""
        by = {SortBy.HUMAN: _now.c.human, SortBy.AI: _now.c.ai, SortBy.TOTAL: _now.c.total}[sort]
        return _to_pages(self._rows(now, was, section, by=by, limit=limit))

    def moved(
        self, now: SnapshotId, was: SnapshotId, section: str | None, *, up: bool, limit: int
    ) -> Sequence[PageCounts]:
        """Return pages with more (or fewer) visitors than before beyond chance, the largest change first."""
        change = cast(_now.c.total - _was.c.total, Float)
        real = _is_beyond_chance(_now.c.total, _was.c.total)
        way = change > 0 if up else change < 0
        return _to_pages(self._rows(now, was, section, real, way, by=func.abs(change), limit=limit))

    def appeared(
        self, now: SnapshotId, was: SnapshotId, section: str | None, limit: int
    ) -> Sequence[PageCounts]:
        """Return pages that had no visitors before and now have some beyond chance, the most read first."""
        is_new = and_(_was.c.id.is_(None), _is_beyond_chance(_now.c.total, literal(0)))
        return _to_pages(self._rows(now, was, section, is_new, by=_now.c.total, limit=limit))

    def leaning(
        self, now: SnapshotId, site: Counts, section: str | None, *, to_ai: bool, limit: int
    ) -> Sequence[PageCounts]:
        """Return pages that people (``to_ai``), or AI agents, hardly read; first what the others read most.

        Their share is at most half of that on the whole ``site``, beyond chance. Where the site has no such
        readers at all, no page stands out.
        """
        many, few = (_now.c.ai, _now.c.human) if to_ai else (_now.c.human, _now.c.ai)
        usual = (site.human if to_ai else site.ai) / site.total if site.total else 0.0
        if not usual:
            return ()
        expected = cast(_now.c.total, Float) * usual
        hardly = and_(cast(few, Float) * 2 <= expected, _is_beyond_chance(few, expected))
        return _to_pages(self._rows(now, None, section, hardly, by=many, limit=limit))

    def one(self, key: PageKey) -> tuple[PageCounts, Period, ProjectId] | None:
        """Return a page's counts, their period and its project; None if they are not stored (any more)."""
        parts = _KEY.fullmatch(key)
        if parts is None or not can_be_id(snapshot := int(parts[1])):
            return None
        statement = (
            select(page_visitors, snapshots.c.first, snapshots.c.end, snapshots.c.project)
            .join(snapshots, snapshots.c.id == page_visitors.c.snapshot)
            .where(page_visitors.c.snapshot == snapshot, page_visitors.c.hash == parts[2])
        )
        found = self.connection.execute(statement).mappings().first()
        if found is None:
            return None
        counts = Counts(found["human"], found["ai"], found["total"])
        period = Period(found["first"], found["end"])
        return PageCounts(key, found["path"], counts), period, found["project"]

    def following(
        self, snapshot: SnapshotId, section: str | None, after: int = 0, limit: int = 1_000
    ) -> tuple[Sequence[PageCounts], int]:
        """Return the pages after the row ``after``, in the service's order, and the row to go on after.

        There are no pages when there are no more.
        """
        rows = self._rows(snapshot, None, section, _now.c.id > after, limit=limit)
        return _to_pages(rows), rows[-1]["id"] if rows else after

    def _rows(
        self,
        now: SnapshotId,
        was: SnapshotId | None,
        section: str | None,
        *conditions: ColumnElement[bool],
        by: ColumnElement[int] | ColumnElement[float] | None = None,
        limit: int,
    ) -> Sequence[RowMapping]:
        pairs = _now.outerjoin(_was, and_(_was.c.snapshot == (was or 0), _was.c.hash == _now.c.hash))
        inside = _within(_now.c.path, section)
        found = select(*_COLUMNS).select_from(pairs).where(_now.c.snapshot == now, inside, *conditions)
        ordered = found.order_by(*([] if by is None else [by.desc()]), _now.c.id).limit(limit)
        return self.connection.execute(ordered).mappings().all()
