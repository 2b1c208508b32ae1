"""Edits of a prompt that a worker holds at the same moment."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import pytest

from bot.jobs.model import lifecycle
from bot.jobs.store.prompts import Prompts
from bot.store import LeaseLost
from tests.builders import add_job, add_prompt, claimer, new_store
from tests.talk import Talk

Result = TypeVar("Result")


async def test_edit_while_a_worker_prepares_the_prompt_is_kept(talk: Talk) -> None:
    await talk.started("Add Something first")
    talk.faults.is_late("users.info")
    message = await talk.ana.says(f"@docs-agent Add a page for @{talk.ben.user.name}")
    await talk.time.passes(9)
    await talk.ana.edits(message, "@docs-agent Add two pages")
    talk.faults.answers()
    await talk.time.passes(minutes=3)
    assert talk.agent_got() == ["Add Something first", "Add two pages"]
    talk.everything()


async def test_worker_writes_nothing_it_read_before_an_edit() -> None:
    """The same process holds the lease both times."""
    store = await new_store()
    number = await add_prompt(store, await add_job(store))
    read = await store.read(lambda tx: Prompts(tx).get(number))
    assert read is not None
    edited = replace(read, raw="Add two pages")
    await store.write(lambda tx: Prompts(tx).save(read, edited))
    await store.write(lambda tx: Prompts(tx).claim_new(claimer("one"), 5))
    prepared = lifecycle.queue_prompt(read, "Add a page on keys")
    with pytest.raises(LeaseLost):
        await store.write(lambda tx: Prompts(tx).save(read, prepared, owner="one"))
    await store.close()
