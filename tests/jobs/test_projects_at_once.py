"""Several projects, and what happens at the same moment."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from bot.ids import ChannelId, UserId
from tests.limits import HANG_SECONDS
from tests.work.drains import deliver_due, prepare_prompts, submit_prompts
from tests.work.office import BOT, Office
from tests.work.sites import Sites, open_sites

AT_BOT = f"<@{BOT}>"
OTHER = ChannelId("C0OTHER")
ADMIN = UserId("U0ADA")
TALK = "1700000400.000001"


@pytest.fixture
async def sites(office: Office) -> Sites:
    return await open_sites(office)


async def test_a_service_that_hangs_delays_no_prompt_of_another_project(sites: Sites) -> None:
    office, hanging = sites.office, asyncio.get_running_loop().create_future()
    office.docs.answer_instead("create", hanging)
    for text in ("Write One project:acme", "Write Two project:beta"):
        await office.types("/docs-agent", text)
        await prepare_prompts(office.context)
        await deliver_due(office.context)
        office.clock.pass_seconds(1.1)
    submitting = asyncio.create_task(submit_prompts(office.context))
    async with asyncio.timeout(HANG_SECONDS):
        while not sites.prompts[1]:
            await asyncio.sleep(0.01)
    assert not submitting.done()
    hanging.set_result(httpx.Response(503))
    await submitting


async def test_a_follow_up_that_names_its_project_is_the_same_however_it_is_heard(sites: Sites) -> None:
    """What was edited while the bot was away is heard as a message, and as an edit that changes nothing."""
    office = sites.office
    root = await office.says(f"{AT_BOT} Write One")
    ts = await office.says(f"{AT_BOT} project:acme Write Shorter", thread=root)
    await office.corrects(ts, f"{AT_BOT} project:acme Write Shorter", thread=root)
    await office.settle()
    assert sites.prompts == (["Write One", "Write Shorter"], [])
    assert office.slack.whispers == []
