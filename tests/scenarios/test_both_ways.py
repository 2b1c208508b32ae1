"""The same conversation within the process and on the sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.app import running_bot
from sandbox.world import World
from tests.scenarios.conftest import FAST
from tests.scenarios.timeouts import STEADY
from tests.talk import Talk
from tests.talk_sandbox import SandboxTalk


async def a_job_and_its_follow_up(talk: Talk) -> None:
    """Ask, read the end in the thread, steer by a reply, and read the second end."""
    await talk.ana.types("/docs-agent Add a quickstart for the Python SDK")
    await talk.time.passes()
    assert "Add a quickstart for the Python SDK" in talk.status()
    await talk.ends()
    [end] = talk.replies()
    assert f"<@{talk.ana.id}>" in end
    await talk.ben.types("/docs-followup 1 Mention Python 3.11")
    await talk.time.passes()
    assert len(talk.ben.reads()) == 1
    await talk.ends()
    assert f"<@{talk.ben.id}>" in talk.replies()[-1]
    assert "1" in await talk.ana.answer_to("/docs-agent jobs")
    talk.everything()


@pytest.fixture
async def on_sandbox(world: World) -> AsyncIterator[Talk]:
    async with running_bot(world.settings.model_copy(update=FAST), timeouts=STEADY):
        talk = SandboxTalk(world)
        yield talk
        await talk.close()


async def test_job_and_follow_up_within_process(talk: Talk) -> None:
    await a_job_and_its_follow_up(talk)


async def test_job_and_follow_up_on_sandbox(on_sandbox: Talk) -> None:
    await a_job_and_its_follow_up(on_sandbox)
