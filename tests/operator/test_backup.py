"""The operator's commands that copy the SQLite file and put a copy back."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.__main__ import cli
from bot.store.database import Database
from bot.store.migrate import migrate


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    monkeypatch.setenv("DATABASE_URL", url)
    return url


def called(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


async def made(url: str) -> None:
    database = Database.open(url)
    await migrate(database)
    await database.close()


def test_a_backup_and_its_restore_say_what_they_did(url: str, tmp_path: Path) -> None:
    asyncio.run(made(url))
    backup = called("backup", tmp_path / "copy.db")
    assert (backup.exit_code, backup.stderr) == (0, "")
    assert f"Backed up to {tmp_path}/copy.db." in backup.stdout
    restore = called("restore", tmp_path / "copy.db")
    assert (restore.exit_code, restore.stderr) == (0, "")
    kept = re.search(r"kept in (\S+)\.", restore.stdout)
    assert kept
    assert Path(kept[1]).is_file()


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_what_cannot_be_done_is_one_line_and_69(command: str, url: str, tmp_path: Path) -> None:
    result = called(command, tmp_path / "none.db")
    assert (result.exit_code, result.stdout) == (69, "")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_postgresql_is_sent_to_its_own_tools(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://bot:secret@db.example/bot")
    result = called(command, tmp_path / "copy.db")
    assert result.exit_code == 69
    assert "docs/run.md" in result.stderr
    assert "secret" not in result.stderr
