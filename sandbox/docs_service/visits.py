"""Store generated visits, one row each, day by day."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta

from sandbox.docs_service.visit_generator import Site, paths

SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS visits (
    project TEXT NOT NULL,
    visitor INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('human', 'ai')),
    page INTEGER NOT NULL REFERENCES pages (id),
    at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS visits_window ON visits (project, at, page, visitor, kind);
CREATE TABLE IF NOT EXISTS filled (project TEXT PRIMARY KEY, last_day TEXT NOT NULL);
"""


def missing_days(connection: sqlite3.Connection, project: str, days: int, today: date) -> list[date]:
    """Return the days up to today that are not stored, in order; the last `days` if none is stored."""
    last = _last_day(connection, project) or today - timedelta(days=days)
    return [last + timedelta(days=each) for each in range(1, (today - last).days + 1)]


def _last_day(connection: sqlite3.Connection, project: str) -> date | None:
    row = connection.execute("SELECT last_day FROM filled WHERE project = ?", (project,)).fetchone()
    return None if row is None else date.fromisoformat(row[0])


def store(connection: sqlite3.Connection, site: Site, day: date) -> None:
    """Store the visits of one day, unless it is stored. Call it for the days in order."""
    last = _last_day(connection, site.project)
    if last is not None and day <= last:
        return
    _store_pages(connection, site.pages)
    connection.executemany(
        "INSERT INTO visits (project, visitor, kind, page, at) VALUES (?, ?, ?, ?, ?)",
        ((site.project, *visit) for visit in site.visits_of(day)),
    )
    connection.execute(
        "INSERT INTO filled (project, last_day) VALUES (?, ?)"
        " ON CONFLICT (project) DO UPDATE SET last_day = excluded.last_day",
        (site.project, day.isoformat()),
    )


def _store_pages(connection: sqlite3.Connection, count: int) -> None:
    (stored,) = connection.execute("SELECT COALESCE(MAX(id), 0) FROM pages").fetchone()
    if stored < count:
        connection.executemany("INSERT OR IGNORE INTO pages VALUES (?, ?)", list(enumerate(paths(count), 1)))
