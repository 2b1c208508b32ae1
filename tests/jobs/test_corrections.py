"""Edits of a prompt that a worker holds at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from bot.ids import MessageTs, PromptId
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobState
from bot.jobs.store.prompts import Prompts
from bot.store import LeaseLost, Store, Transaction
from tests.builders import BEN
from tests.work.office import BOT, Office

Result = TypeVar("Result")
AT_BOT = f"<@{BOT}>"


async def waiting(office: Office) -> MessageTs:
    """Let Ana mention the bot, and the prompt wait for the hourly limit."""
    office.limit(1)
    await office.started("Something first", user=BEN)
    ts = await office.hears(f"{AT_BOT} Add a page")
    await office.settle(2)
    assert (await office.job(2)).state is JobState.WAITING
    return ts


async def test_edit_while_a_worker_prepares_the_prompt_is_kept(office: Office) -> None:
    ts = await office.hears(f"{AT_BOT} Add a page")
    [claimed] = await office.store.write(lambda tx: Prompts(tx).claim_new(office.context.claimer(), 5))
    await office.corrects(ts, f"{AT_BOT} Add two pages")
    prepared = lifecycle.prompt_prepared(claimed, "Add a page")
    with pytest.raises(LeaseLost):
        await office.store.write(lambda tx: Prompts(tx).save(claimed, prepared, owner="one"))
    await office.settle()
    assert office.sent() == ["Add two pages"]


async def test_worker_writes_nothing_it_read_before_an_edit(office: Office) -> None:
    """The same process holds the lease both times."""
    ts = await office.hears(f"{AT_BOT} Add a page")
    claimer, number = office.context.claimer(), PromptId(1)
    read = await office.store.read(lambda tx: Prompts(tx).get(number))
    assert read is not None
    prepared = lifecycle.prompt_prepared(read, "Add a page")
    await office.corrects(ts, f"{AT_BOT} Add two pages")
    await office.store.write(lambda tx: Prompts(tx).claim_new(claimer, 5))
    with pytest.raises(LeaseLost):
        await office.store.write(lambda tx: Prompts(tx).save(read, prepared, owner=claimer.owner))
    office.limit(100)
    await office.pass_time(3_700)
    assert office.sent()[-1] == "Add two pages"


class Overtaken(Store):
    """A store whose first write finds the row with a worker."""

    writes = 0

    async def write(self, change: Callable[[Transaction], Result]) -> Result:
        self.writes += 1
        if self.writes == 1:
            raise LeaseLost("prompt 1")
        return await super().write(change)


async def test_edit_overtaken_by_a_worker_is_done_anew(office: Office) -> None:
    ts = await waiting(office)
    office.context = replace(office.context, store=Overtaken(office.store.database))
    await office.corrects(ts, f"{AT_BOT} Add two pages")
    await office.pass_time(3_700)
    assert office.sent() == ["Something first", "Add two pages"]
