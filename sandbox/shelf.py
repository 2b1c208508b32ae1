"""Keeps JSON values in a file or in memory: the workspace's messages, the docs service's jobs."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any


class Shelf:
    """Keeps JSON values by kind and id in a file, each before the call returns.

    A killed process loses nothing; only a power cut can. https://www.sqlite.org/pragma.html#pragma_synchronous
    """

    def __init__(self, path: Path | None) -> None:
        """``path`` is None for a shelf in memory, which ends with its process."""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            # People's texts are for this user alone. SQLite gives the files beside it the same rights.
            path.touch(0o600)
        self._file = sqlite3.connect(path or ":memory:", isolation_level=None)
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("PRAGMA synchronous=OFF")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS kept (kind TEXT, id TEXT, value TEXT, UNIQUE (kind, id))"
        )

    def put(self, kind: str, id_: str, value: dict[str, Any] | None) -> None:
        """Keep a value in the place of the one before, or forget it (None)."""
        if value is None:
            self._file.execute("DELETE FROM kept WHERE kind = ? AND id = ?", (kind, id_))
            return
        put = "INSERT INTO kept VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
        self._file.execute(put, (kind, id_, json.dumps(value)))

    def all(self, kind: str) -> list[dict[str, Any]]:
        """Return the values of a kind, in the order in which they came."""
        rows = self._file.execute("SELECT value FROM kept WHERE kind = ? ORDER BY rowid", (kind,))
        return [json.loads(value) for (value,) in rows]

    def close(self) -> None:
        """Close the file."""
        self._file.close()
