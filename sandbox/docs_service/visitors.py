"""Count distinct visitors in the stored visits."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from sandbox.docs_service.inputs import VisitorsQuery

_READERS = (
    "(SELECT {page} visitor, MAX(kind = 'human') AS human, MAX(kind = 'ai') AS ai FROM visits"
    " WHERE project = :project AND at >= :begin AND at < :end GROUP BY {page} visitor)"
)
_COUNTS = "COALESCE(SUM(human), 0) AS human, COALESCE(SUM(ai), 0) AS ai, COUNT(*) AS total"
_TOTALS = f"SELECT {_COUNTS} FROM {_READERS.format(page='')}"  # noqa: S608
_ROWS = (
    "SELECT p.path AS path, human, ai, total"  # noqa: S608
    f" FROM (SELECT page, {_COUNTS} FROM {_READERS.format(page='page,')} GROUP BY page)"
    " JOIN pages p ON p.id = page ORDER BY total DESC, p.path"
)
_NEXT_VISIT_AT = "SELECT MIN(at) FROM visits WHERE project = ? AND at >= ?"
_MAX_CACHED_ROWS = 400_000


@dataclass(frozen=True, slots=True)
class PeriodCounts:
    """The counts of one period: totals, and a row for each visited page, most visited first."""

    totals: dict[str, int]
    rows: list[tuple[str, int, int, int]]


class VisitorCounter:
    """Counts visitors and caches the counts of a period for its further pages.

    The cache holds at most `kept_rows` rows, but always the latest period. Its key has the first visit in
    the period, the first visit after it and the last stored visit, so that new visits cause a new count.
    """

    def __init__(self, kept_rows: int = _MAX_CACHED_ROWS) -> None:
        self._max_cached_rows = kept_rows
        self._cache: OrderedDict[tuple[object, ...], PeriodCounts] = OrderedDict()

    def answer(
        self, connection: sqlite3.Connection, project: str, query: VisitorsQuery, now: datetime
    ) -> dict[str, object]:
        """Return the response to a visitors request: totals, one page of rows, and whether there are more."""
        counted = self._count(connection, project, query, now.timestamp())
        page = counted.rows[query.offset : query.offset + query.limit]
        names = ("path", "human", "ai", "total")
        return {
            "totals": counted.totals,
            "visitors": [dict(zip(names, row, strict=True)) for row in page],
            "hasMore": len(counted.rows) > query.offset + query.limit,
        }

    def _count(
        self, connection: sqlite3.Connection, project: str, query: VisitorsQuery, now: float
    ) -> PeriodCounts:
        begin = -1e18 if query.begin is None else query.begin
        # Visits are stored for whole days, so leave out those later than now.
        end = now if query.end is None else min(query.end, now)
        key = (project, *_period_key(connection, project, begin, end))
        found = self._cache.get(key)
        if found is None:
            period: dict[str, object] = {"project": project, "begin": begin, "end": end}
            totals = dict(connection.execute(_TOTALS, period).fetchone())
            rows = [tuple(row) for row in connection.execute(_ROWS, period)]
            found = self._cache[key] = PeriodCounts(totals, rows)
        self._cache.move_to_end(key)
        while (
            len(self._cache) > 1
            and sum(len(one.rows) for one in self._cache.values()) > self._max_cached_rows
        ):
            self._cache.popitem(last=False)
        return found


def _period_key(connection: sqlite3.Connection, project: str, begin: float, end: float) -> tuple[object, ...]:
    first = connection.execute(_NEXT_VISIT_AT, (project, begin)).fetchone()[0]
    next_after_end = connection.execute(_NEXT_VISIT_AT, (project, end)).fetchone()[0]
    stored = connection.execute("SELECT MAX(rowid) FROM visits").fetchone()[0]
    return first, next_after_end, stored
