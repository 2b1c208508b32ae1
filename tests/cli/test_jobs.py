"""The operator's list of jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.jobs import NotReady, listed
from bot.model import JobState, ServiceJobId
from bot.store import Store
from bot.store.migrate import migrate
from tests.builders import add_job


async def test_the_services_words_do_not_steer_the_terminal(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    store = Store.open(url)
    await migrate(store.database)
    link, service_id = "https://code.example/\x1b]0;owned\x07\n#9", ServiceJobId("id\x1b[2J")
    await add_job(store, state=JobState.PULL_REQUEST, pr_link=link, service_id=service_id)
    await store.close()
    said = await listed(url, None, 10)
    assert "https://code.example/" in said
    assert "\x1b" not in said
    assert len(said.splitlines()) == 1


async def test_before_the_first_start_it_says_what_makes_the_tables(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="docs-bot migrate"):
        await listed(f"sqlite:///{tmp_path / 'bot.db'}", None, 10)
