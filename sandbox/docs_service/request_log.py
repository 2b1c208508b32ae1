"""The log of API requests and response codes, for tests that check a caller."""

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
class LoggedRequest:
    """One request, filled in while it is handled; only a hash of the prompt is stored."""

    at: datetime
    method: str
    path: str
    operation: str | None = None
    project: str | None = None
    job_id: str | None = None
    prompt: str | None = None
    fault: str | None = None


def write(connection: sqlite3.Connection, log_entry: LoggedRequest, status: int | None) -> None:
    """Store the request; a status of None means that no response was sent."""
    digest = None
    if log_entry.prompt is not None:
        digest = hashlib.sha256(log_entry.prompt.encode("utf-8", "surrogatepass")).hexdigest()
    connection.execute(
        "INSERT INTO requests (at, method, path, status, operation, project, job_id, prompt_sha256, fault)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            log_entry.at.isoformat(),
            log_entry.method,
            log_entry.path,
            status,
            log_entry.operation,
            log_entry.project,
            log_entry.job_id,
            digest,
            log_entry.fault,
        ),
    )


def read(connection: sqlite3.Connection) -> list[dict[str, object]]:
    """Return all requests, oldest first."""
    rows = connection.execute(
        "SELECT at, method, path, status, operation, job_id, project, prompt_sha256, fault"
        " FROM requests ORDER BY number"
    )
    return [dict(row) for row in rows]
