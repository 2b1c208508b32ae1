"""What was asked and what was answered, in order, for whoever checks a caller."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass
from datetime import datetime

SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status INTEGER,
    operation TEXT,
    project TEXT,
    job_id TEXT,
    prompt_sha256 TEXT,
    fault TEXT
);
"""


@dataclass
class Asked:
    """One request, filled in while it is answered; the prompt itself is never kept here."""

    at: datetime
    method: str
    path: str
    operation: str | None = None
    project: str | None = None
    job_id: str | None = None
    prompt: str | None = None
    fault: str | None = None


def write(connection: sqlite3.Connection, asked: Asked, status: int | None) -> None:
    """Keep the request; a status of None means that no answer was made."""
    digest = None
    if asked.prompt is not None:
        digest = hashlib.sha256(asked.prompt.encode("utf-8", "surrogatepass")).hexdigest()
    connection.execute(
        "INSERT INTO requests (at, method, path, status, operation, project, job_id, prompt_sha256, fault)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            asked.at.isoformat(),
            asked.method,
            asked.path,
            status,
            asked.operation,
            asked.project,
            asked.job_id,
            digest,
            asked.fault,
        ),
    )


def read(connection: sqlite3.Connection) -> list[dict[str, object]]:
    """All requests, oldest first."""
    rows = connection.execute(
        "SELECT at, method, path, status, operation, job_id, project, prompt_sha256, fault"
        " FROM requests ORDER BY number"
    )
    return [dict(row) for row in rows]
