"""A process that is suspended between marking a prompt and sending it: the prompt is sent once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from bot.app import open_store
from bot.ids import JobNumber
from bot.jobs.model.prompts import PromptState
from bot.jobs.store.prompts import Prompts
from bot.store import Store, Transaction
from tests.talk import Talk
from tests.talk_database import DATABASE_URL

Result = TypeVar("Result")


class SuspendingStore(Store):
    """Suspends its process once, when the first job's prompt has been marked as being sent."""

    def __init__(self, talk: Talk) -> None:
        super().__init__(open_store(DATABASE_URL).database)
        self.suspended = talk.faults.hung
        self.resumes = asyncio.Event()

    async def write(self, change: Callable[[Transaction], Result]) -> Result:
        result = await super().write(change)
        found = await self.read(lambda tx: Prompts(tx).starting(JobNumber(1)))
        if found and found.state is PromptState.SENDING and not self.resumes.is_set():
            self.suspended.set()
            await self.resumes.wait()
        return result


async def suspended(talk: Talk) -> SuspendingStore:
    """Let Ana's prompt be marked, and two minutes pass in which its process stands still."""
    talk.process.store = store = SuspendingStore(talk)
    await talk.started("Add keys")
    assert talk.agent_got() == []
    talk.time.is_set(seconds=120)
    return store


async def test_suspended_process_sends_nothing_sent_again_meanwhile(talk: Talk) -> None:
    store = await suspended(talk)
    talk.process.store = None
    await talk.process.starts()
    await talk.time.passes()
    await talk.ana.presses("Send again")
    await talk.time.passes()
    store.resumes.set()
    await talk.stuck_work_ends()
    await talk.time.passes()
    assert talk.agent_got() == ["Add keys"]
    assert "Working on it" in talk.status()
    talk.everything()


async def test_prompt_of_a_suspended_process_goes_out_unasked(talk: Talk) -> None:
    store = await suspended(talk)
    store.resumes.set()
    await talk.stuck_work_ends()
    await talk.time.passes()
    assert talk.agent_got() == ["Add keys"]
    assert "Working on it" in talk.status()
    assert talk.replies() == []
