"""The machine's clock is set during a run or between two runs."""

from __future__ import annotations

from datetime import timedelta

import aiohttp
import pytest

from bot.app import running_bot
from sandbox.ports import free_port
from sandbox.world import World
from tests.scenarios.clocks import SetClock
from tests.scenarios.conftest import FAST
from tests.scenarios.story import Story
from tests.scenarios.timeouts import STEADY

TWO_HOURS = timedelta(hours=2)


async def is_ready(port: int) -> bool:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/readyz") as answer,
    ):
        return answer.status == 200


@pytest.mark.parametrize("stops", [False, True])
async def test_jobs_continue_after_clock_is_set_back(world: World, stops: bool) -> None:
    story, clock, port = Story(world), SetClock(), free_port()
    settings = world.settings.model_copy(update={**FAST, "health_port": port})
    async with running_bot(settings, timeouts=STEADY, clock=clock):
        clock.ahead = TWO_HOURS
        before = await story.finished("Add a quickstart")
        if not stops:
            clock.ahead = timedelta(0)
            after = await story.finished("Add a guide about webhooks")
            assert await is_ready(port)
    if stops:
        clock.ahead = timedelta(0)
        async with running_bot(settings, timeouts=STEADY, clock=clock):
            after = await story.finished("Add a guide about webhooks")
            assert await is_ready(port)
    await story.replies(before, 1)
    await story.replies(after, 1)
