# ruff: noqa: ASYNC240
"""The SQLite files belong to the bot's user alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.store.database import Database
from bot.store.migrate import migrate_schema
from bot.store.sqlite_files import exposed


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def migrated(file: Path) -> list[str]:
    """Start with this file, and return the names of the events that were logged."""
    database = Database.open(f"sqlite:///{file}")
    with capture_logs() as logged:
        await migrate_schema(database)
    assert file.with_name(f"{file.name}-wal").exists()
    assert exposed(file) == []
    await database.close()
    return [event["event"] for event in logged]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
async def test_what_the_bot_makes_is_for_its_user_alone(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        await migrated(tmp_path / "var" / "bot.db")
    finally:
        os.umask(before)
    assert rights(tmp_path / "var") == 0o700
    assert rights(tmp_path / "var" / "bot.db") == 0o600


async def test_a_file_that_others_can_read_is_closed_to_them_and_its_folder_is_left(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    await migrated(tmp_path / "bot.db")
    (tmp_path / "bot.db").chmod(0o644)
    assert await migrated(tmp_path / "bot.db") == ["database_made_private"]
    assert rights(tmp_path / "bot.db") == 0o600
    assert rights(tmp_path) == 0o755
    assert await migrated(tmp_path / "bot.db") == []
