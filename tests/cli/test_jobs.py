"""The operator's list of jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.jobs import NotReady, listed
from bot.model import JobState, ServiceJobId, Wanted
from bot.store import Store
from bot.store.database import open_engine
from bot.store.migrate import migrate
from tests.builders import ANA, CHANNEL, NOW, PROJECT


async def test_the_services_words_do_not_steer_the_terminal(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'bot.db'}"
    engine = open_engine(url)
    await migrate(engine)
    async with Store(engine).transaction() as tx:
        wanted = Wanted(ANA, CHANNEL, "Add a page")
        number = (await tx.jobs.add_all(PROJECT, [wanted], NOW))[wanted]
        link, service_id = "https://code.example/\x1b]0;owned\x07\n#9", ServiceJobId("id\x1b[2J")
        await tx.jobs.change(number, state=JobState.PULL_REQUEST, pr_link=link, service_id=service_id)
    await engine.dispose()
    said = await listed(url, None, 10)
    assert "https://code.example/" in said
    assert "\x1b" not in said
    assert len(said.splitlines()) == 1


async def test_before_the_first_start_it_says_what_makes_the_tables(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="docs-bot migrate"):
        await listed(f"sqlite+aiosqlite:///{tmp_path / 'bot.db'}", None, 10)
