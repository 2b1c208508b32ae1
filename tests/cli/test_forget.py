"""The operator's command that forgets one person."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.forget import forget_user
from bot.cli.ready_store import NotReady
from bot.model.jobs import JobState
from bot.store import Store
from bot.store.migrate import migrate
from tests.builders import NOW, add_job, add_prompt


async def test_it_says_what_is_forgotten_and_what_is_under_way(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    store = Store.open(url)
    await migrate(store.database)
    for count in range(60):
        job = await add_job(store, state=JobState.FAILED, ended_at=NOW, iteration_requester="U0ANA")
        await add_prompt(store, job, key=f"k{count}", state="sent")
    await add_job(store, state=JobState.WORKING, poll_at=NOW)
    await store.close()
    assert await forget_user(url, "U0ANA") == (
        "Forgotten of U0ANA: jobs 60, prompts 60.\n"
        "Under way and therefore kept: jobs 1. Run this again when that is over."
    )
    assert await forget_user(url, "U0BEN") == "Nothing of U0BEN was kept."


async def test_a_reviewer_of_others_jobs_hears_that_the_name_is_gone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    store = Store.open(url)
    await migrate(store.database)
    await add_job(store, state=JobState.PULL_REQUEST, ended_at=NOW, reviewed_by="U0BEN")
    await store.close()
    assert await forget_user(url, "U0BEN") == "Forgotten of U0BEN: names in others' jobs 1."
    assert await forget_user(url, "U0BEN") == "Nothing of U0BEN was kept."


@pytest.mark.parametrize("user", ["ana", "@ana", "C0DOCS", "U0ANA; DROP", "U", ""])
async def test_only_an_id_is_taken(tmp_path: Path, user: str) -> None:
    with pytest.raises(ValueError, match="begins with U or W"):
        await forget_user(f"sqlite:///{tmp_path / 'bot.db'}", user)


async def test_before_the_first_start_there_is_nothing_to_forget(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="docs-bot migrate"):
        await forget_user(f"sqlite:///{tmp_path / 'bot.db'}", "U0ANA")
