"""Restarts and faults of Slack, with both services running."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.app import running_bot
from sandbox.workspace import WorkspaceOptions
from sandbox.world import World, WorldOptions, both_sides
from tests.limits import HANG_SECONDS
from tests.scenarios.conftest import FAST
from tests.scenarios.story import ANA, DOCS, Story
from tests.scenarios.timeouts import STEADY

PROMPT = "Add a quickstart for the Python SDK"


@dataclass(frozen=True)
class ForgetfulWorld(WorldOptions):
    """A world whose workspace delivers each event once."""

    def workspace(self) -> WorkspaceOptions:
        return replace(super().workspace(), redeliver_after_seconds=())


async def test_edit_and_deletion_during_outage_count_after_restart(tmp_path: Path) -> None:
    options = ForgetfulWorld(
        tmp_path, work_seconds=0.3, answer_seconds=HANG_SECONDS, uses_an_hour=1, pages=20, days=2
    )
    async with both_sides(options) as world:
        story, settings = Story(world), world.settings.model_copy(update=FAST)
        async with running_bot(settings, timeouts=STEADY):
            await story.finished(PROMPT)
            edited = story.people.say(ANA, DOCS, "@docs-agent Add a page on keys")
            deleted = story.people.say(ANA, DOCS, "@docs-agent Add two")
            [[first], [second]] = [await story.replies(edited, 1), await story.replies(deleted, 1)]
        story.people.edit(ANA, DOCS, edited["ts"], "@docs-agent Describe the rate limits")
        story.people.delete(ANA, DOCS, deleted["ts"])
        async with running_bot(settings, timeouts=STEADY):
            await story.until(
                lambda: "Describe the rate limits" in first["text"] or None, "the new text"
            )
            await story.until(
                lambda: "Withdrawn" in second["text"] or None, "the end of the other job"
            )


async def test_renewed_connection_loses_nothing(story: Story) -> None:
    root = await story.finished(PROMPT)
    await story.world.workspace.bot_connection.sockets.disconnect(warn=True)
    story.reply(root, "Mention retries")
    await story.replies(root, 2)


@pytest.mark.parametrize("fault", ["429", "500", "502_html", "lost_answer"])
async def test_slack_faults_lose_and_repeat_no_post(story: Story, fault: str) -> None:
    story.world.workspace.faults.order([{"method": "chat.postMessage", "fault": fault, "times": 2}])
    root = await story.finished(PROMPT)
    await story.replies(root, 1)
    assert len(story.roots()) == 1


@pytest.mark.parametrize("fault", ["500", "lost_answer", "502_html"])
async def test_person_decides_after_lost_answer_of_docs_service(story: Story, fault: str) -> None:
    story.world.docs_service.faults.order([{"match": "create", "fault": fault}])
    root = await story.asked(PROMPT)
    [doubt] = await story.replies(root, 1)
    assert "Did Job 1 start?" in doubt["text"]
    assert "send_again" in json.dumps(doubt["blocks"])
    await story.press(doubt, "send_again")
    await story.replies(root, 2)
    await story.until(
        lambda: "send_again" not in json.dumps(doubt["blocks"]) or None,
        "the question without its buttons",
    )


async def test_log_contains_no_secret_and_no_prompt(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = world.settings.model_copy(update={**FAST, "log_level": "DEBUG"})
    story = Story(world)
    world.docs_service.faults.order([{"match": "create", "fault": "500"}])
    world.workspace.faults.order([{"method": "chat.postMessage", "fault": "500"}])
    async with running_bot(settings, timeouts=STEADY):
        root = await story.asked("Canary prompt 7f3a about webhooks")
        await story.replies(root, 1)
        done = await story.finished("Canary prompt 7f3b about retries")
        story.reply(done, "canary-7f3a: mention retries")
        await story.replies(done, 2)
        await story.command("/docs-agent", "status nonsense-canary-7f3a")
        await asyncio.sleep(0.1)
    written = capfd.readouterr()
    logged = written.err + written.out
    assert "ready" in logged
    secrets = settings.secrets()
    assert len(secrets) >= 3
    leaked = [
        word for word in [*secrets, "Canary prompt", "canary-7f3a", "/response/"] if word in logged
    ]
    assert leaked == []
