"""Ranking and comparing pages. The database does it, so that a large site takes little memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Float, and_, cast, func, or_, select, true
from sqlalchemy.engine import RowMapping

from bot.model.ids import PageKey, ProjectId, SnapshotId, can_be_id
from bot.model.period import Period
from bot.model.visitors import Counts, PageCounts, SortBy
from bot.store.columns import Repository
from bot.store.schema import page_visitors, snapshots

_now = page_visitors.alias("now")
_was = page_visitors.alias("was")
_COLUMNS = (
    *_now.c["id", "snapshot", "hash", "path", "human", "ai", "total"],
    *(_was.c[name].label(f"was_{name}") for name in ("human", "ai", "total")),
)
_KEY = re.compile(r"([0-9]{1,10}):([0-9a-f]{32})")
_LEAST_NEW = 4
"""By the rule of ``moved``, a change from 0 is significant from 5 visitors on."""
_LEAST_READERS = 10
"""With fewer readers, a page's mix of people and AI is chance."""


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


class PageRepository(Repository):
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
        """Return pages with significantly more (or fewer) visitors than before, the largest change first.

        A count's standard deviation is about its square root. A change is significant when it is more than
        two standard deviations of the difference.
        """
        change = cast(_now.c.total - _was.c.total, Float)
        # Each is cast alone, because PostgreSQL refuses a sum beyond 64 bits.
        real = change * change > 4 * (cast(_now.c.total, Float) + cast(_was.c.total, Float))
        way = change > 0 if up else change < 0
        return _to_pages(self._rows(now, was, section, real, way, by=func.abs(change), limit=limit))

    def appeared(
        self, now: SnapshotId, was: SnapshotId, section: str | None, limit: int
    ) -> Sequence[PageCounts]:
        """Return pages that had no visitors before and now have a significant number, the most read first."""
        is_new = and_(_was.c.id.is_(None), _now.c.total > _LEAST_NEW)
        return _to_pages(self._rows(now, was, section, is_new, by=_now.c.total, limit=limit))

    def leaning(
        self, now: SnapshotId, site: Counts, section: str | None, *, to_ai: bool, limit: int
    ) -> Sequence[PageCounts]:
        """Return pages with an unusually small share of people (``to_ai``) or of AI readers.

        A share is unusually small when it is at most half of the share on the whole ``site``. Where the site
        has no such readers at all, no page stands out.
        """
        many, few = (_now.c.ai, _now.c.human) if to_ai else (_now.c.human, _now.c.ai)
        usual = (site.human if to_ai else site.ai) / site.total if site.total else 0.0
        if not usual:
            return ()
        hardly = cast(few, Float) * 2 <= cast(_now.c.total, Float) * usual
        enough = many >= _LEAST_READERS
        return _to_pages(self._rows(now, None, section, enough, hardly, by=many, limit=limit))

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
