"""The operator's command that forgets one person."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.cli.rows import forget_user
from bot.model.jobs import JobState
from bot.store import Store
from tests.builders import NOW, add_job, add_prompt, new_store


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = await new_store()
    yield store
    await store.close()


async def test_it_says_what_is_forgotten_and_what_is_under_way(store: Store) -> None:
    for count in range(60):
        job = await add_job(store, state=JobState.FAILED, ended_at=NOW, iteration_requester="U0ANA")
        await add_prompt(store, job, key=f"k{count}", state="sent")
    await add_job(store, state=JobState.WORKING, poll_at=NOW)
    assert await forget_user(store, "U0ANA") == (
        "Forgotten of U0ANA: jobs 60, prompts 60.\n"
        "Under way and therefore kept: jobs 1. Run this again when that is over."
    )


async def test_a_reviewer_of_others_jobs_hears_that_the_name_is_gone(store: Store) -> None:
    await add_job(store, state=JobState.PULL_REQUEST, ended_at=NOW, reviewed_by="U0BEN")
    assert await forget_user(store, "U0BEN") == "Forgotten of U0BEN: names in others' jobs 1."
    assert await forget_user(store, "U0BEN") == "Nothing of U0BEN was kept."


@pytest.mark.parametrize("user", ["ana", "@ana", "C0DOCS", "U0ANA; DROP", "U", ""])
async def test_only_an_id_is_taken(store: Store, user: str) -> None:
    with pytest.raises(ValueError, match="begins with U or W"):
        await forget_user(store, user)
