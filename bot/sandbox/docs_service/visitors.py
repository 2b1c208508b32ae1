"""Counting distinct visitors in stored visits."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from bot.sandbox.docs_service.inputs import VisitorsQuery

_COUNTS = (
    "COUNT(DISTINCT CASE WHEN v.kind = 'human' THEN v.visitor END) AS human,"
    " COUNT(DISTINCT CASE WHEN v.kind = 'ai' THEN v.visitor END) AS ai,"
    " COUNT(DISTINCT v.visitor) AS total"
)
_WINDOW = "v.project = :project AND v.at >= :begin AND v.at < :end"
_TOTALS = f"SELECT {_COUNTS} FROM visits v WHERE {_WINDOW}"  # noqa: S608
_ROWS = (
    f"SELECT p.path AS path, {_COUNTS} FROM visits v JOIN pages p ON p.id = v.page"  # noqa: S608
    f" WHERE {_WINDOW} GROUP BY p.path ORDER BY total DESC, p.path LIMIT :rows OFFSET :offset"
)


def count(
    connection: sqlite3.Connection, project: str, query: VisitorsQuery, now: datetime
) -> dict[str, object]:
    """The answer to a visitors request: totals, one page of rows, and whether there are more."""
    # Visits are stored for whole days; those later today have not happened yet.
    end = now.timestamp() if query.end is None else min(query.end, now.timestamp())
    window: dict[str, object] = {
        "project": project,
        "begin": -1e18 if query.begin is None else query.begin,
        "end": end,
        "rows": query.limit + 1,
        "offset": query.offset,
    }
    totals = connection.execute(_TOTALS, window).fetchone()
    rows = connection.execute(_ROWS, window).fetchall()
    return {
        "totals": dict(totals),
        "visitors": [dict(row) for row in rows[: query.limit]],
        "hasMore": len(rows) > query.limit,
    }
