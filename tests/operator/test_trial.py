"""``docs-bot doctor --try`` on the sandbox: each step, and the report of each fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.__main__ import cli
from bot.app import migrate_database, running_bot
from bot.ids import ChannelId, UserId
from bot.operator.trial import STEPS, Step, StepResult, TrialOptions, try_out
from sandbox.workspace.options import WorkspaceOptions
from sandbox.world import World, WorldOptions, both_sides
from tests.limits import HANG_SECONDS
from tests.scenarios.story import environment

ANA, DOCS, PRODUCT = UserId("U01ANA"), ChannelId("C01DOCS"), ChannelId("C03PRODUCT")
OPTIONS = TrialOptions(DOCS, ANA, press_seconds=HANG_SECONDS)
BEGIN, WITHOUT_PRESS = STEPS[:1], STEPS[:-1]
PRESS = (STEPS[0], STEPS[-1])


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
        await migrate_database(world.settings)
        yield world


@pytest.fixture
def world(shared_world: World) -> World:
    """A world without faults."""
    shared_world.workspace.faults.clear()
    return shared_world


async def trial(
    world: World, options: TrialOptions = OPTIONS, steps: Sequence[Step] = WITHOUT_PRESS
) -> dict[str, StepResult]:
    """Take these steps. Ana presses the button when she is asked to."""
    results: list[StepResult] = []
    presses: list[asyncio.Task[None]] = []

    def ask(_request: str) -> None:
        presses.append(asyncio.ensure_future(press(world)))

    await try_out(world.settings, options, results.append, ask, steps)
    await asyncio.gather(*presses)
    return {result.name: result for result in results}


async def press(world: World) -> None:
    [asked] = [post for post in posts(world) if post["text"].startswith("Press this")]
    container = {"type": "message", "channel": DOCS, "ts": asked["ts"]}
    await world.workspace.people.press(ANA, container, asked["blocks"][-1]["elements"][0])


def posts(world: World) -> list[dict[str, Any]]:
    """The bot's posts in the channel that it has not deleted."""
    return [post for post in world.workspace.state.messages.get(DOCS, {}).values() if post["bot_id"]]


def not_ok(results: Mapping[str, StepResult]) -> dict[str, str]:
    """The states of the steps that are not ok."""
    return {name: result.state for name, result in results.items() if result.state != "ok"}


async def test_every_step_passes_beside_a_running_bot_and_nothing_is_left(world: World) -> None:
    async with running_bot(world.settings):
        results = await trial(world, steps=STEPS)
    assert not_ok(results) == {}
    assert results["press"].seen == "pressed by U01ANA, and the bot received it"
    assert results["clean up"].seen == "4 deleted"
    assert posts(world) == []


@pytest.mark.parametrize(
    ("match", "fault", "step", "expected"),
    [
        ("chat.update", "error:cant_update_message", "edit", "keeps showing its first state"),
        ("chat.update", "slow", "edit", "no answer within 1 s"),
        ("chat.postEphemeral", "error:user_not_in_channel", "private message", "come as direct messages"),
        ("conversations.replies", "502_html", "read the thread", "Slack: HTTP 502"),
        ("conversations.replies", "error:missing_scope", "read the thread", "says which are missing"),
        ("chat.delete", "error:cant_delete_message", "clean up", "Delete by hand what is left"),
    ],
)
async def test_a_fault_is_reported_at_its_step_only(
    world: World, match: str, fault: str, step: str, expected: str
) -> None:
    world.workspace.faults.order([{"match": match, "fault": fault, "times": 1, "seconds": 1.5}])
    steps = [each for each in WITHOUT_PRESS if each.name in ("post", step)]
    results = await trial(world, replace(OPTIONS, call_seconds=1.0), steps)
    assert not_ok(results) == {step: "bad"}
    assert expected in f"{results[step].seen} | {results[step].follows} | {results[step].advice}"


async def test_missing_kinds_of_blocks_are_notes_because_there_is_a_plain_form(tmp_path: Path) -> None:
    async with both_sides(options(Plain, tmp_path)) as world:
        results = await trial(world)
    assert not_ok(results) == {"charts": "note", "tables": "note"}
    assert results["charts"].follows == "Charts are refused here: people get the numbers as text."


async def test_slacks_words_are_masked(world: World) -> None:
    token = world.settings.slack_bot_token.get_secret_value()
    world.workspace.faults.order([{"match": "chat.postMessage", "fault": f"error:bad_{token}"}])
    results = await trial(world, steps=BEGIN)
    assert results["post"].state == "bad"
    assert token not in results["post"].seen


async def test_a_press_that_nobody_receives_is_reported(world: World) -> None:
    results: list[StepResult] = []
    options = replace(OPTIONS, press_seconds=0.1)
    await try_out(world.settings, options, results.append, lambda _: None, PRESS)
    assert [result.state for result in results] == ["ok", "bad", "ok"]
    assert "does the bot run" in results[1].seen
    assert results[1].follows == "Buttons, commands and replies don't reach the bot."


async def test_a_trial_that_is_stopped_leaves_nothing_behind(world: World) -> None:
    before, asked = posts(world), asyncio.Event()
    ending = try_out(world.settings, OPTIONS, lambda _: None, lambda _: asked.set(), PRESS)
    task = asyncio.ensure_future(ending)
    await asked.wait()
    assert len(posts(world)) == len(before) + 2
    task.cancel()
    await asyncio.wait([task])
    assert posts(world) == before


async def test_the_command_line_prints_a_line_for_each_step_or_one_document(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in environment(world).items():
        monkeypatch.setenv(name, value)
    world.workspace.faults.order([{"match": "chat.update", "fault": "error:cant_update_message"}])
    run = CliRunner().invoke
    ran = await asyncio.to_thread(run, cli, ["doctor", "--try", DOCS])
    assert ran.exit_code == 1
    assert "ok   charts: posted in the thread" in ran.output
    assert "left press: not tried: name yourself: --as U…" in ran.output
    assert "BAD  edit: Slack refuses it: cant_update_message\n     The first message" in ran.output
    ran = await asyncio.to_thread(run, cli, ["doctor", "--json", "--try", DOCS])
    steps = [each["name"] for each in json.loads(ran.stdout)["steps"]]
    assert steps == [*(step.name for step in STEPS), "clean up"]
