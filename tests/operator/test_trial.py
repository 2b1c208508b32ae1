"""``docs-bot doctor --try`` on the sandbox: all well, and each fault named with what it means for people."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from bot.__main__ import cli
from bot.app import running_bot
from bot.docs_api import DocsClient
from bot.model.ids import ChannelId, UserId
from bot.operator.trial import Tried, Wanted, try_out
from bot.operator.trial_steps import STEPS
from sandbox.docs_service.pulls import OWNER
from sandbox.workspace.options import WorkspaceOptions
from sandbox.world import PROJECT, World, WorldOptions, both_sides
from tests.databases import PostgresServer
from tests.limits import HANG_SECONDS
from tests.scenarios.story import environment

ANA, DOCS, PRODUCT = UserId("U01ANA"), ChannelId("C01DOCS"), ChannelId("C03PRODUCT")
GROUP = {"allowed_user_groups": frozenset({"S01WRITERS"})}
WANTED = Wanted(DOCS, ANA, with_job=True, press_seconds=HANG_SECONDS)
WITHOUT_PRESS = tuple(step for step in STEPS if step.name != "press")
PRESS = tuple(step for step in STEPS if step.name in ("post", "press"))


class Unhurried(WorldOptions):
    """A world whose Slack has no limits of rates."""

    def workspace(self) -> WorkspaceOptions:
        return replace(super().workspace(), enforce_rates=False)


class WithoutCharts(Unhurried):
    def workspace(self) -> WorkspaceOptions:
        return replace(super().workspace(), refused_blocks=frozenset({"data_visualization"}))


class WithoutTables(Unhurried):
    def workspace(self) -> WorkspaceOptions:
        return replace(super().workspace(), refused_blocks=frozenset({"data_table"}))


def options(kind: type[WorldOptions], folder: Path) -> WorldOptions:
    return kind(folder, pages=5, days=3, work_seconds=0.1, answer_seconds=HANG_SECONDS)


@pytest.fixture(scope="module")
async def shared_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with both_sides(options(Unhurried, tmp_path_factory.mktemp("trial"))) as world:
        yield world


@pytest.fixture
def world(shared_world: World) -> World:
    """A world without faults, in which nothing was ordered or said."""
    shared_world.workspace.faults.clear()
    shared_world.docs_service.faults.clear()
    return shared_world


async def trial(
    world: World, wanted: Wanted = WANTED, steps: Sequence[Any] = WITHOUT_PRESS, **changes: object
) -> dict[str, Tried]:
    """Try these steps with these settings changed. Ana presses the button when she is asked to."""
    told: list[Tried] = []
    presses: list[asyncio.Task[None]] = []

    def ask(_said: str) -> None:
        presses.append(asyncio.ensure_future(press(world)))

    await try_out(world.settings.model_copy(update={**GROUP, **changes}), wanted, told.append, ask, steps)
    await asyncio.gather(*presses)
    return {each.name: each for each in told}


async def press(world: World) -> None:
    [asked] = [each for each in said(world) if each["text"].startswith("Press this")]
    container = {"type": "message", "channel": DOCS, "ts": asked["ts"]}
    await world.workspace.people.press(ANA, container, asked["blocks"][-1]["elements"][0])


def said(world: World, channel: str = DOCS) -> list[dict[str, Any]]:
    """What the bot has said in a channel and has not deleted."""
    return [each for each in world.workspace.state.messages[channel].values() if each["bot_id"]]


def not_ok(found: Mapping[str, Tried]) -> dict[str, str]:
    """The states of the steps that are not ok."""
    return {name: each.state for name, each in found.items() if each.state != "ok"}


async def a_pull_request(world: World) -> str:
    """Have the agent make a pull request, and return its link."""
    key, address = world.settings.docs_api_key, world.docs_service_url
    assert key is not None
    async with DocsClient(base_url=address, api_key=key) as docs:
        job = await docs.create_job(PROJECT, "Add a page about limits")
        while not job.pr_link:
            await asyncio.sleep(0.1)
            job = await docs.get_job(PROJECT, job.id)
    return job.pr_link


async def test_all_is_well_in_less_than_a_minute_and_nothing_is_left(tmp_path: Path) -> None:
    async with both_sides(options(WorldOptions, tmp_path)) as world:
        wanted = replace(WANTED, pull_request=await a_pull_request(world))
        began = monotonic()
        found = await trial(world, wanted, STEPS)
        assert monotonic() - began < 60
        assert not_ok(found) == {}
        assert found["press"].seen == "pressed by U01ANA, heard by this process (no bot runs)"
        assert found["pull request"].seen == "open"
        assert said(world) == said(world, "D01ANA") == []
        assert [each for each in world.workspace.state.files.values() if each["done"]] == []
        assert "chat.postEphemeral" in {each.get("method") for each in world.workspace.log}


async def test_without_a_running_bot_the_press_is_heard_over_http_too(tmp_path: Path) -> None:
    async with both_sides(replace(options(Unhurried, tmp_path), http_mode=True)) as world:
        found = await trial(world, steps=PRESS)
    assert found["press"].seen == "pressed by U01ANA, heard by this process (no bot runs)"


async def test_a_running_bot_hears_the_press(world: World) -> None:
    async with running_bot(world.settings):
        found = await trial(world, steps=PRESS)
    assert found["press"].seen == "pressed by U01ANA, heard by the running bot"


async def test_beside_a_bot_on_postgresql_no_second_one_takes_the_press(world: World, tmp_path: Path) -> None:
    server = PostgresServer(tmp_path)
    try:
        url = SecretStr(server.new_database().replace("postgresql+psycopg://", "postgres://", 1))
        found = await trial(world, steps=PRESS, database_url=url)
        assert found["press"].seen == "pressed by U01ANA, heard by this process (no bot runs)"
        async with running_bot(world.settings.model_copy(update={"database_url": url})):
            found = await trial(world, steps=PRESS, database_url=url)
        assert found["press"].seen == "pressed by U01ANA, heard by the running bot"
    finally:
        server.stop()


async def test_what_names_nobody_and_nothing_leaves_steps_out(world: World) -> None:
    found = await trial(world, Wanted(DOCS), STEPS, allowed_user_groups=frozenset())
    left = ["member", "group", "private message", "direct message", "pull request", "press", "job"]
    assert not_ok(found) == dict.fromkeys(left, "left")
    assert "--as U…" in found["press"].seen


async def test_a_public_channel_is_joined(world: World) -> None:
    found = await trial(world, replace(WANTED, channel=PRODUCT), WITHOUT_PRESS[:4])
    assert found["post"].seen == "posted, after joining"


# ---- faults


@dataclass(frozen=True)
class Fault:
    """An order of a fault, the step that it ends, and what is said of it: seen, follows or advice."""

    match: str
    fault: str
    step: str
    expected: str
    times: int = 1
    seconds: float | None = None

    def __str__(self) -> str:
        return f"{self.match} {self.fault}"


SLACK = (
    Fault("conversations.info", "error:channel_not_found", "channel", "Look at the channel's id"),
    Fault("conversations.info", "slow", "channel", "no answer within 1 s", seconds=1.5),
    Fault("users.info", "error:user_not_found", "member", "refuses it: user_not_found"),
    Fault(
        "conversations.members", "error:missing_scope", "member", "`docs-bot doctor` says which are missing"
    ),
    Fault(
        "usergroups.users.list", "error:no_such_subteam", "group", "Nobody is let in by ALLOWED_USER_GROUPS"
    ),
    Fault("chat.update", "error:cant_update_message", "edit", "keeps showing its first state"),
    Fault("reactions.add", "error:missing_scope", "reaction", "gets no reaction; nothing else is lost"),
    Fault("chat.postEphemeral", "error:user_not_in_channel", "private message", "comes as a direct message"),
    Fault("conversations.open", "error:user_disabled", "direct message", "Admins, and people where the bot"),
    Fault("files.getUploadURLExternal", "error:missing_scope", "upload", "Nobody gets the CSV files"),
    Fault("upload", "500", "upload", "it or a gateway before it is unwell (HTTP 500)"),
    Fault("files.completeUploadExternal", "error:posting_to_channel_denied", "upload", "posting_to_channel"),
    Fault("conversations.history", "error:missing_scope", "read a file", "don't reach the agent"),
    Fault("conversations.replies", "502_html", "read the thread", "Earlier messages of a thread don't reach"),
    Fault("chat.delete", "error:cant_delete_message", "clean up", "Delete by hand what is left"),
)
SERVICES = (
    Fault("visitors", "401", "visitors", "acme-docs: does not know the key"),
    Fault("visitors", "403", "visitors", "Give the key the right to read"),
    Fault("visitors", "404", "visitors", "Look at DOCS_PROJECT_ID"),
    Fault("visitors", "502_html", "visitors", "digests have no numbers"),
    Fault("visitors", "broken_json", "visitors", "Look at DOCS_API_URL"),
    Fault("visitors", "429", "visitors", "its hourly limit is used up"),
    Fault("create", "403", "job", "No job can be started"),
    Fault("create", "lost_answer", "job", "it breaks the connection off"),
    Fault("pull_request", "401", "pull request", "Make a new GITHUB_TOKEN"),
    Fault("pull_request", "404", "pull request", "the right to read pull requests of that repository"),
    Fault("pull_request", "429", "pull request", "Wait an hour"),
    Fault("pull_request", "500", "pull request", "GitHub answered 500"),
)


@pytest.mark.parametrize("fault", [*SLACK, *SERVICES], ids=str)
async def test_a_fault_is_told_at_its_step_and_at_no_other(world: World, fault: Fault) -> None:
    order = {"match": fault.match, "fault": fault.fault, "times": fault.times, "seconds": fault.seconds}
    (world.workspace if fault in SLACK else world.docs_service).faults.order([order])
    link = f"{world.docs_service_url}/{OWNER}/{PROJECT}/pull/1"
    steps = [step for step in WITHOUT_PRESS if step.name in _ALWAYS or step.name == fault.step]
    found = await trial(world, replace(WANTED, pull_request=link, call_seconds=1.0), steps)
    assert not_ok(found) == {fault.step: "bad"}
    told = found[fault.step]
    assert fault.expected in f"{told.seen} | {told.follows} | {told.advice}"


_ALWAYS = {"post", "a job's face", "upload"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (WithoutCharts, {"an answer with a chart": "Charts", "a digest": "Charts"}),
        (WithoutTables, {"more, with a table": "Tables"}),
    ],
)
async def test_what_a_workspace_does_not_have_is_a_note_because_there_is_a_plain_form(
    tmp_path: Path, kind: type[WorldOptions], expected: Mapping[str, str]
) -> None:
    async with both_sides(options(kind, tmp_path)) as world:
        found = await trial(world, steps=[step for step in WITHOUT_PRESS if step.name != "pull request"])
    assert not_ok(found) == dict.fromkeys(expected, "note")
    for name, what in expected.items():
        assert found[name].follows == f"{what} are refused here: people will see the text."
        assert found[f"{name}, plain"].state == "ok"


async def test_where_nothing_can_be_posted_the_rest_is_left_and_the_services_are_asked(world: World) -> None:
    world.workspace.faults.order([{"match": "chat.postMessage", "fault": "error:restricted_action"}])
    found = not_ok(await trial(world))
    assert found.pop("post") == "bad"
    assert set(found.values()) == {"left"}
    assert {"a digest, plain", "edit", "upload", "find its own post"} <= set(found)
    assert not {"visitors", "job", "direct message", "clean up"} & set(found)


async def test_a_post_whose_answer_was_lost_is_deleted_as_well(world: World) -> None:
    before = said(world)
    world.workspace.faults.order([{"match": "chat.postMessage", "fault": "lost_answer"}])
    found = await trial(world, steps=WITHOUT_PRESS[:4])
    assert "it breaks the connection off" in found["post"].seen
    assert found["clean up"].seen == "1 deleted"
    assert said(world) == before


async def test_a_slack_that_always_asks_to_wait_is_not_waited_for(world: World) -> None:
    world.workspace.faults.order([{"match": "reactions.add", "fault": "429", "seconds": 60.0}])
    steps = [step for step in STEPS if step.name in ("post", "reaction")]
    assert (await trial(world, steps=steps))["reaction"].seen == "Slack asks to wait again and again"


async def test_an_archived_channel_is_told(world: World) -> None:
    channel = world.workspace.state.channels[PRODUCT]
    channel.is_archived = True
    try:
        found = await trial(world, replace(WANTED, channel=PRODUCT), WITHOUT_PRESS[:4])
    finally:
        channel.is_archived = False
    assert (found["post"].state, found["post"].advice) == ("bad", "Name another channel.")


async def test_files_that_the_bot_may_not_read_are_told(world: World) -> None:
    people, app = world.workspace.people, world.workspace.people.app
    people.app = replace(app, scopes=(app.scopes or frozenset()) - {"files:read"})
    try:
        found = await trial(world)
    finally:
        people.app = app
    assert not_ok(found) == {"read a file": "bad", "pull request": "left"}
    assert "don't reach the agent" in found["read a file"].follows


@pytest.mark.parametrize(
    ("match", "fault", "expected"),
    [
        ("apps.connections.open", "error:invalid_auth", "SLACK_APP_TOKEN"),
        ("socket", "500", "no answer within 2 s"),
        ("", "", "this process (no bot runs) heard no press"),
    ],
)
async def test_a_press_that_is_not_heard_is_told(world: World, match: str, fault: str, expected: str) -> None:
    if match:
        world.workspace.faults.order([{"match": match, "fault": fault, "times": 9}])
    told: list[Tried] = []
    wanted = replace(WANTED, press_seconds=0.1, call_seconds=2.0)
    await try_out(world.settings, wanted, told.append, lambda _: None, PRESS)
    found = {each.name: each for each in told}
    assert not_ok(found) == {"press": "bad"}
    assert expected in f"{found['press'].seen} | {found['press'].advice}"
    assert found["press"].follows == "Buttons, commands and replies don't reach the bot."


async def test_a_thread_without_the_metadata_of_posts_is_told(world: World) -> None:
    def forget(step: Tried) -> None:
        told.append(step)
        for message in said(world):
            message["metadata"] = None

    told: list[Tried] = []
    steps = [step for step in STEPS if step.name in {"post", "a job's face", "find its own post"}]
    await try_out(world.settings, WANTED, forget, lambda _: None, steps)
    assert (told[-2].state, told[-1].state) == ("bad", "ok")
    assert "without the metadata" in told[-2].seen


async def test_a_trial_that_is_stopped_leaves_nothing_behind(world: World) -> None:
    before, asked = said(world), asyncio.Event()
    ending = try_out(world.settings, WANTED, lambda _: None, lambda _: asked.set(), PRESS)
    task = asyncio.ensure_future(ending)
    await asked.wait()
    assert len(said(world)) == len(before) + 2
    task.cancel()
    await asyncio.wait([task])
    assert said(world) == before


# ---- the command line


async def test_the_command_line_prints_a_line_for_each_step_or_one_document(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in environment(world).items():
        monkeypatch.setenv(name, value)
    world.docs_service.faults.order([{"match": "visitors", "fault": "403", "times": 4}])
    run = CliRunner().invoke
    ran = await asyncio.to_thread(run, cli, ["doctor", "--try", DOCS])
    assert ran.exit_code == 1
    assert "ok   a digest: posted in the thread (0" in ran.output
    assert "left press: not tried: name yourself: --as U…" in ran.output
    assert "     /docs-visitors and digests have no numbers.\n     Give the key" in ran.output
    world.docs_service.faults.clear()
    ran = await asyncio.to_thread(run, cli, ["doctor", "--json", "--try", DOCS, "--job"], "n\n")
    document = json.loads(ran.stdout)
    assert document["ok"] is (ran.exit_code == 0)
    steps = {each["name"]: each for each in document["steps"]}
    assert list(steps) == [*(step.name for step in STEPS), "clean up"]
    assert steps["job"]["state"] == "left", "it was asked for, and then declined"
    assert all(each["seconds"] >= 0 for each in steps.values())


@pytest.mark.parametrize("option", [["--as", "U1"], ["--job"], ["--pull-request", "https://x"]])
def test_what_belongs_to_a_trial_wants_a_channel(option: list[str]) -> None:
    ran = CliRunner().invoke(cli, ["doctor", *option])
    assert (ran.exit_code, "go with --try CHANNEL" in ran.stderr) == (2, True)
