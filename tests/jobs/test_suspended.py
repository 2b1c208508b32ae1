"""A process that is suspended between marking a prompt and sending it: the prompt is sent once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from bot.ids import JobNumber
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptState
from bot.jobs.store.prompts import Prompts
from bot.store import Store, Transaction
from tests.work.drains import submit_prompts
from tests.work.office import Office

Result = TypeVar("Result")
SUSPENDED_SECONDS = 120.0


class SuspendedStore(Store):
    """A store whose process is suspended once, when it has marked the first job's prompt as being sent."""

    def __init__(self, store: Store, suspended: Callable[[], Awaitable[object]]) -> None:
        super().__init__(store.database)
        self.suspended: Callable[[], Awaitable[object]] | None = suspended

    async def write(self, change: Callable[[Transaction], Result]) -> Result:
        result = await super().write(change)
        found = await self.read(lambda tx: Prompts(tx).starting(JobNumber(1)))
        if self.suspended and found is not None and found.state is PromptState.SENDING:
            suspended, self.suspended = self.suspended, None
            await suspended()
        return result


async def test_suspended_process_sends_nothing_sent_again_meanwhile(
    office: Office,
) -> None:
    other = replace(office.context, owner="another process", under_way={})

    async def meanwhile() -> None:
        office.clock.pass_seconds(SUSPENDED_SECONDS)
        await submit_prompts(other)
        await office.press("send_again", "1")
        await submit_prompts(other)

    office.context = replace(office.context, store=SuspendedStore(office.store, meanwhile))
    await office.started("One")
    assert office.sent() == ["One"]
    assert (await office.job()).state is JobState.WORKING


async def test_prompt_of_a_suspended_process_goes_out_unasked(office: Office) -> None:
    async def meanwhile() -> None:
        office.clock.pass_seconds(SUSPENDED_SECONDS)

    office.context = replace(office.context, store=SuspendedStore(office.store, meanwhile))
    await office.started("One")
    assert office.sent() == ["One"]
    assert (await office.job()).state is JobState.WORKING
    assert office.said() == []
