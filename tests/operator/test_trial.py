"""`docs-bot doctor --try` on the sandbox: each step, and the report of each fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.app import running_bot
from bot.ids import ChannelId, UserId
from bot.operator.trial import STEPS, Step, StepResult, TrialOptions, run_trial
from sandbox.workspace.options import WorkspaceOptions
from sandbox.world import World, WorldOptions, both_sides
from tests.command_line import docs_bot
from tests.databases import prepare_database
from tests.limits import HANG_SECONDS
from tests.scenarios.story import environment

ANA, DOCS = "U01ANA", "C01DOCS"


class Unhurried(WorldOptions):
    """A world whose Slack has no limits of rates."""

    def workspace(self) -> WorkspaceOptions:
        return replace(super().workspace(), enforce_rates=False)


class Plain(Unhurried):
    """A world whose Slack has neither charts nor tables."""

    def workspace(self) -> WorkspaceOptions:
        refused = frozenset({"data_visualization", "data_table"})
        return replace(super().workspace(), refused_blocks=refused)


def options(kind: type[WorldOptions], folder: Path) -> WorldOptions:
    return kind(folder, pages=5, days=3, work_seconds=0.1, answer_seconds=HANG_SECONDS)


@pytest.fixture(scope="module")
async def shared_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with both_sides(options(Unhurried, tmp_path_factory.mktemp("trial"))) as world:
        await prepare_database(world.settings.sqlalchemy_url)
        yield world


@pytest.fixture
async def world(shared_world: World) -> AsyncIterator[World]:
    """A world without faults, and without events for a bot that does not run."""
    shared_world.workspace.faults.clear()
    yield shared_world
    await shared_world.workspace.bot_connection.drop_events()


async def trial(world: World, *arguments: str) -> dict[str, dict[str, str]]:
    """Run the command; return its steps by name."""
    env = environment(world)
    ran = await asyncio.to_thread(docs_bot, "doctor", "--json", "--try", DOCS, *arguments, **env)
    return {step["name"]: step for step in json.loads(ran.stdout)["steps"]}


async def press(world: World) -> None:
    """Press the button as soon as it appears."""
    async with asyncio.timeout(HANG_SECONDS):
        while not (
            asked := [post for post in posts(world) if post["text"].startswith("Press this")]
        ):
            await asyncio.sleep(0.02)
    container = {"type": "message", "channel": DOCS, "ts": asked[0]["ts"]}
    await world.workspace.people.press(ANA, container, asked[0]["blocks"][-1]["elements"][0])


def posts(world: World) -> list[dict[str, Any]]:
    """Return the bot's posts in the channel that it has not deleted."""
    return [
        post for post in world.workspace.state.messages.get(DOCS, {}).values() if post["bot_id"]
    ]


def not_ok(steps: dict[str, dict[str, str]]) -> dict[str, str]:
    """Return the states of the steps that are not ok."""
    return {
        name: step["state"] for name, step in steps.items() if step["state"] not in ("ok", "left")
    }


async def test_trial_beside_a_running_bot_takes_every_step(world: World) -> None:
    async with running_bot(world.settings):
        steps, _ = await asyncio.gather(trial(world, "--as", ANA), press(world))
    assert {step["state"] for step in steps.values()} == {"ok"}
    assert steps["press"]["seen"] == "pressed by U01ANA, and the bot received it"
    assert steps["clean up"]["seen"] == "4 deleted"
    assert posts(world) == []
    fault = {"match": "chat.postEphemeral", "fault": "error:user_not_in_channel", "times": 1}
    world.workspace.faults.order([fault])
    async with running_bot(world.settings):
        steps, _ = await asyncio.gather(trial(world, "--as", ANA), press(world))
    assert not_ok(steps) == {"private message": "bad"}
    assert "come as direct messages" in steps["private message"]["follows"]


@pytest.mark.parametrize(
    ("match", "fault", "step", "expected"),
    [
        ("chat.update", "error:cant_update_message", "edit", "keeps showing its first state"),
        ("conversations.replies", "502_html", "read the thread", "Slack: HTTP 502"),
        (
            "conversations.replies",
            "error:missing_scope",
            "read the thread",
            "says which are missing",
        ),
        ("chat.delete", "error:cant_delete_message", "clean up", "Delete by hand what is left"),
    ],
)
async def test_fault_is_reported_at_its_step_only(
    world: World, match: str, fault: str, step: str, expected: str
) -> None:
    world.workspace.faults.order([{"match": match, "fault": fault, "times": 1}])
    steps = await trial(world)
    assert not_ok(steps) == {step: "bad"}
    assert expected in " | ".join(steps[step][part] for part in ("seen", "follows", "advice"))


async def test_missing_kinds_of_blocks_are_notes(tmp_path: Path) -> None:
    async with both_sides(options(Plain, tmp_path)) as world:
        steps = await trial(world)
    assert not_ok(steps) == {"charts": "note", "tables": "note"}
    assert steps["charts"]["follows"] == "Charts are refused here: people get the numbers as text."


async def test_texts_of_slack_are_masked(world: World) -> None:
    token = world.settings.slack_bot_token.get_secret_value()
    world.workspace.faults.order([{"match": "chat.postMessage", "fault": f"error:bad_{token}"}])
    step = (await trial(world))["post"]
    assert step["state"] == "bad"
    assert token not in step["seen"]


async def test_command_prints_a_line_for_each_step(world: World) -> None:
    world.workspace.faults.order([{"match": "chat.update", "fault": "error:cant_update_message"}])
    ran = await asyncio.to_thread(docs_bot, "doctor", "--try", DOCS, **environment(world))
    assert ran.exit_code == 1
    assert "ok   charts: posted in the thread" in ran.output
    assert "left press: not tried: name yourself: --as U…" in ran.output
    assert "BAD  edit: Slack refuses it: cant_update_message\n     The first message" in ran.output


async def try_with(
    world: World, steps: Sequence[Step], ask: Callable[[str], Any] = str, **seconds: float
) -> list[StepResult]:
    """Take these steps with short time limits."""
    results: list[StepResult] = []
    chosen = TrialOptions(
        ChannelId(DOCS), UserId(ANA), **({"press_seconds": HANG_SECONDS} | seconds)
    )
    await run_trial(world.settings, chosen, results.append, ask, steps)
    return results


async def test_step_without_an_answer_in_time_is_bad(world: World) -> None:
    post, quick = STEPS[0], {step.name: step for step in STEPS}
    world.workspace.faults.order([{"match": "chat.update", "fault": "slow", "seconds": 1.5}])
    _, edit, _ = await try_with(world, [post, quick["edit"]], call_seconds=1.0)
    assert (edit.state, "no answer within 1 s" in edit.seen) == ("bad", True)
    results = await try_with(world, [post, quick["press"]], press_seconds=0.1)
    assert [result.state for result in results] == ["ok", "bad", "ok"]
    assert "does the bot run" in results[1].seen
    assert results[1].follows == "Buttons, commands and replies don't reach the bot."


async def test_stopped_trial_leaves_nothing_behind(world: World) -> None:
    before, asked = posts(world), asyncio.Event()
    ending = try_with(world, [STEPS[0], STEPS[-1]], lambda _: asked.set())
    task = asyncio.ensure_future(ending)
    await asked.wait()
    assert len(posts(world)) == len(before) + 2
    task.cancel()
    await asyncio.wait([task])
    assert posts(world) == before
