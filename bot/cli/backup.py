"""``docs-bot backup`` and ``docs-bot restore``: copy the SQLite file, and put a copy back."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from bot.store.backup import back_up, restore
from bot.store.database import UnusableDatabase, sqlite_file


def backed_up(sqlalchemy_url: str, target: Path) -> str:
    """Copy the SQLite file and return what was done. Raises UnusableDatabase if that cannot be done."""
    back_up(_file(sqlalchemy_url, "pg_dump"), target)
    return f"Backed up to {target}. It holds what people wrote: keep it as private as the original."


def restored(sqlalchemy_url: str, source: Path, now: datetime) -> str:
    """Put a copy back and return what was done. Raises UnusableDatabase, having changed nothing."""
    kept = restore(source, _file(sqlalchemy_url, "pg_restore"), now)
    earlier = f" What was there before is kept in {kept}." if kept else ""
    return f"Restored from {source}.{earlier} The next start brings it to this version's schema."


def _file(sqlalchemy_url: str, tool: str) -> Path:
    file = sqlite_file(sqlalchemy_url)
    if file is None:
        raise UnusableDatabase(f"This is for a SQLite file. PostgreSQL has {tool}: see docs/operating.md.")
    return file
