"""Counting distinct visitors in stored visits."""

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
_EDGE = "SELECT MIN(at) FROM visits WHERE project = ? AND at >= ?"
_KEPT_ROWS = 400_000


@dataclass(frozen=True, slots=True)
class Counted:
    """A window, counted: its totals, and a row for each page that was read, most read first."""

    totals: dict[str, int]
    rows: list[tuple[str, int, int, int]]


class Windows:
    """Answers requests page by page, counting a window once; a bounded number of rows is kept.

    A window is known by the visits at its edges, so that one that ends now is counted again as soon as
    there was another visit, and by the last visit stored, so that what comes later is never missed.
    """

    def __init__(self, kept_rows: int = _KEPT_ROWS) -> None:
        self._kept_rows = kept_rows
        self._counted: OrderedDict[tuple[object, ...], Counted] = OrderedDict()

    def answer(
        self, connection: sqlite3.Connection, project: str, query: VisitorsQuery, now: datetime
    ) -> dict[str, object]:
        """The answer to a visitors request: totals, one page of rows, and whether there are more."""
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
    ) -> Counted:
        begin = -1e18 if query.begin is None else query.begin
        # Visits are stored for whole days; those later today have not happened yet.
        end = now if query.end is None else min(query.end, now)
        key = (project, *_edges(connection, project, begin, end))
        found = self._counted.get(key)
        if found is None:
            window: dict[str, object] = {"project": project, "begin": begin, "end": end}
            totals = dict(connection.execute(_TOTALS, window).fetchone())
            rows = [tuple(row) for row in connection.execute(_ROWS, window)]
            found = self._counted[key] = Counted(totals, rows)
        self._counted.move_to_end(key)
        while (
            len(self._counted) > 1 and sum(len(one.rows) for one in self._counted.values()) > self._kept_rows
        ):
            self._counted.popitem(last=False)
        return found


def _edges(connection: sqlite3.Connection, project: str, begin: float, end: float) -> tuple[object, ...]:
    first = connection.execute(_EDGE, (project, begin)).fetchone()[0]
    beyond = connection.execute(_EDGE, (project, end)).fetchone()[0]
    stored = connection.execute("SELECT MAX(rowid) FROM visits").fetchone()[0]
    return first, beyond, stored
