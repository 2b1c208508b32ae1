"""Quotas: hourly limits, each counted over the last 60 minutes."""

from __future__ import annotations

import math
import sqlite3
from datetime import datetime

from sandbox.docs_service.refusals import RefusedError

SCHEMA = """
CREATE TABLE IF NOT EXISTS uses (bucket TEXT NOT NULL, used_at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS uses_bucket ON uses (bucket, used_at);
"""

PERIOD_SECONDS = 3600


def take(connection: sqlite3.Connection, bucket: str, limit: int, now: datetime) -> None:
    """Count one use of the bucket.

    Raise `RefusedError` 429 if `limit` is reached; its Retry-After is the seconds until a use is free.
    """
    period_begin = now.timestamp() - PERIOD_SECONDS
    connection.execute("DELETE FROM uses WHERE bucket = ? AND used_at <= ?", (bucket, period_begin))
    used = [
        row[0]
        for row in connection.execute("SELECT used_at FROM uses WHERE bucket = ? ORDER BY used_at", (bucket,))
    ]
    if len(used) >= limit:
        free_at = used[len(used) - limit] if limit else now.timestamp()
        wait_seconds = max(1, math.ceil(free_at - period_begin))
        raise RefusedError(429, f"limit of {limit} an hour is reached", {"Retry-After": str(wait_seconds)})
    connection.execute("INSERT INTO uses (bucket, used_at) VALUES (?, ?)", (bucket, now.timestamp()))
