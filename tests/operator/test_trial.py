"""`docs-bot doctor --try` on the sandbox: each step, and the report of each fault."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.app import running_bot
from bot.ids import ChannelId, UserId
from bot.operator.transcript import compare, fields_of, read_stand_ins
from bot.operator.trial import STEPS, run_trial
from bot.operator.trial_step import Step, StepResult, TrialClock, TrialOptions
from sandbox.workspace.options import WorkspaceOptions
from sandbox.world import MANIFEST, World, both_sides
from tests.command_line import docs_bot
from tests.databases import prepare_database
from tests.limits import HANG_SECONDS
from tests.operator.trial_person import ANA, TrialPerson
from tests.operator.whole_trial import (
    Results,
    Unhurried,
    WholeTrial,
    options,
    take_whole_trial,
    trial,
)
from tests.scenarios.story import environment

DOCS, PRODUCT, SECRET = "C01DOCS", "C03PRODUCT", "G04SECRET"
NOT_TRIED = {
    "reply in a private channel",
    "reply in a group direct message",
    "another id",
    "preview",
}
"""What no trial in a public channel can try."""
QUICK = {step.name: step for step in STEPS}


class HeldClock:
    """A clock that stands, but for the trial's own pauses."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self._now += seconds
        await asyncio.sleep(0)


def held_clock() -> TrialClock:
    """Return a clock by which nothing that does not come is waited for."""
    clock = HeldClock()
    return TrialClock(now=clock, sleep=clock.sleep)


class Plain(Unhurried):
    """A world whose Slack has neither charts nor tables."""

    def workspace(self) -> WorkspaceOptions:
        refused = frozenset({"data_visualization", "data_table"})
        return replace(super().workspace(), refused_blocks=refused)


@dataclass(frozen=True, kw_only=True)
class Lacking(Unhurried):
    """A world whose app lacks scopes and subscriptions. ``events``: whether events come again."""

    without: frozenset[str] = frozenset()

    def workspace(self) -> WorkspaceOptions:
        declared: dict[str, Any] = yaml.safe_load(MANIFEST.read_text())
        scopes = declared["oauth_config"]["scopes"]
        scopes["bot"] = sorted({*scopes["bot"]} - self.without)
        subscribed = declared["settings"]["event_subscriptions"]
        subscribed["bot_events"] = sorted({*subscribed["bot_events"]} - self.without)
        path = self.folder / "manifest.yml"
        path.write_text(yaml.safe_dump(declared))
        return replace(super().workspace(), manifest=path)


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
    shared_world.workspace.faults.clear()
    await shared_world.workspace.bot_connection.drop_events()


def chosen_steps(*names: str) -> list[Step]:
    return [QUICK[name] for name in names]


def in_state(results: Results, *states: str) -> set[str]:
    return {name for name, result in results.items() if result.state in states}


def told(result: StepResult) -> str:
    """Return all that a result says."""
    return " | ".join((result.seen, result.follows, result.advice))


def bot_posts(world: World) -> list[dict[str, Any]]:
    """Return the bot's posts that it has not deleted."""
    rooms = world.workspace.state.messages.values()
    return [post for room in rooms for post in room.values() if post["bot_id"]]


@pytest.fixture(scope="module")
async def whole(tmp_path_factory: pytest.TempPathFactory) -> WholeTrial:
    """Trials in every kind of channel beside a running bot, on a sandbox without faults."""
    return await take_whole_trial(tmp_path_factory.mktemp("whole"))


def test_every_step_works_in_a_public_channel(whole: WholeTrial) -> None:
    results = whole.in_public
    assert in_state(results, "bad", "note") == set()
    assert in_state(results, "left") == NOT_TRIED
    assert "cost one message" in results["assistant"].seen
    assert whole.sockets == 1


def test_replies_of_other_kinds_of_channels_work_there(whole: WholeTrial) -> None:
    assert in_state(whole.in_private, "bad", "note") == set()
    assert whole.in_private["reply in a private channel"].state == "ok"
    assert in_state(whole.in_group, "bad", "note") == set()
    assert whole.in_group["reply in a group direct message"].state == "ok"


def test_nothing_of_the_bot_stays_and_what_only_a_person_can_remove_is_named(
    whole: WholeTrial,
) -> None:
    assert whole.remains == {}
    seen = whole.in_public["clean up"].seen
    for left in ("the bot from the channel", "your mention", "your direct message", "/pull/1"):
        assert left in seen


def test_answers_of_the_sandbox_are_those_that_a_transcript_is_compared_with(
    whole: WholeTrial,
) -> None:
    differences = [str(one) for one in compare(whole.lines, read_stand_ins())]
    # Readers' rows are drawn anew each day, and some of their fields may be empty.
    drawn = [one for one in differences if "/analytics/" in one and " is null, and " in one]
    differences = [one for one in differences if one not in drawn]
    assert differences == [], "make stand-ins, and read the diff"
    assert fields_of(whole.lines).keys() == read_stand_ins().keys()


def test_transcript_has_no_words_ids_and_keys(whole: WholeTrial) -> None:
    written = "\n".join(json.dumps(line) for line in whole.lines)
    assert whole.secrets
    for secret in whole.secrets:
        assert secret not in written, secret
    assert not re.search(r"[A-Z]0[A-Z0-9]{4,}|[0-9]{10}|127\.0", written)


@pytest.mark.parametrize(
    ("match", "fault", "step", "expected"),
    [
        ("apps.connections.open", "error:token_revoked", "socket", "the new SLACK_APP_TOKEN"),
        ("apps.connections.open", "error:missing_scope", "socket", "needs connections:write"),
        ("chat.update", "error:cant_update_message", "edit", "keeps showing its first state"),
        ("conversations.replies", "502_html", "read the thread", "Slack: HTTP 502"),
        ("conversations.history", "error:missing_scope", "read the channel", "lists what is"),
        ("usergroups.list", "error:missing_scope", "user groups", "stay ids for the agent"),
        ("files.completeUploadExternal", "error:internal_error", "file up", "as a CSV file"),
        ("chat.delete", "error:cant_delete_message", "clean up", "Delete by hand what is left"),
        ("reactions.remove", "error:access_denied", "clean up", "the reaction"),
    ],
)
async def test_fault_is_reported_at_its_step_only(
    world: World, match: str, fault: str, step: str, expected: str
) -> None:
    world.workspace.faults.order([{"match": match, "fault": fault, "times": 1}])
    names = {step, "post", "reaction", "file up"} - {"clean up"}
    results = await trial(world, None, [one for one in STEPS if one.name in names])
    assert in_state(results, "bad") == {step}
    assert expected in told(results[step])


async def test_missing_scopes_are_named_with_what_people_lose(tmp_path: Path) -> None:
    without = frozenset({"reactions:write", "im:write", "app_mentions:read"})
    async with both_sides(options(Lacking, tmp_path, without=without)) as world:
        person = TrialPerson(world.workspace, DOCS)
        names = ("trial", "scopes", "channel", "post", "reaction", "direct message", "command")
        async with running_bot(world.settings):
            heard = await trial(world, person, chosen_steps(*names))
            silent = await trial(
                world,
                person,
                chosen_steps("trial", "channel", "mention"),
                clock=held_clock(),
                press_seconds=5.0,
            )
    assert in_state(heard, "bad") == {"scopes", "reaction", "direct message"}
    assert "missing: app_mentions:read, im:write, reactions:write" in heard["scopes"].seen
    assert "needed: reactions:write" in heard["reaction"].seen
    assert "no eyes" in heard["reaction"].follows
    assert "needed: im:write" in heard["direct message"].seen
    expected = "Is the app subscribed to app_mention, with the scope app_mentions:read?"
    assert expected in silent["mention"].advice


async def test_channel_without_the_bot_is_named(tmp_path: Path) -> None:
    names = ("channel", "join", "post")
    without = frozenset({"channels:join"})
    async with both_sides(options(Lacking, tmp_path, without=without)) as world:
        await prepare_database(world.settings.sqlalchemy_url)
        private = await trial(world, None, chosen_steps(*names), channel=SECRET)
        public = await trial(world, None, chosen_steps(*names), channel=PRODUCT)
    assert in_state(private, "bad") == {"channel", "post"}
    assert "a private channel needs an invitation of the bot" in private["post"].advice
    assert "the bot must be invited" in public["join"].follows
    assert "not_in_channel" in public["post"].seen
    assert public["post"].advice == "Invite the bot there: /invite."


async def test_rate_limit_is_waited_for_and_named_if_it_lasts(world: World) -> None:
    world.workspace.faults.order([{"match": "chat.postMessage", "fault": "429", "times": 2}])
    waited = await trial(world, None, chosen_steps("post", "charts"), clock=held_clock())
    assert in_state(waited, "bad") == set()
    fault = {"match": "chat.postMessage", "fault": "429", "times": 9, "seconds": 8}
    world.workspace.faults.order([fault])
    limited = await trial(world, None, chosen_steps("post"), clock=held_clock())
    assert "again and again (rate limit)" in limited["post"].seen
    assert limited["post"].follows.startswith("The bot can say nothing here")


async def test_expired_token_is_named_at_every_step(world: World) -> None:
    fault = {"match": "any", "fault": "error:token_expired", "lasts": HANG_SECONDS}
    world.workspace.faults.order([fault])
    results = await trial(world, None, chosen_steps("token", "channel", "post", "user groups"))
    assert in_state(results, "bad") == {"token", "channel", "post", "user groups"}
    assert "The token has expired. Install the app again" in results["token"].advice


async def test_step_without_an_answer_in_time_is_bad(world: World) -> None:
    world.workspace.faults.order([{"match": "chat.update", "fault": "slow", "seconds": 1.5}])
    results = await trial(world, None, chosen_steps("post", "edit"), call_seconds=1.0)
    assert in_state(results, "bad") == {"edit"}
    assert "no answer within 1 s" in results["edit"].seen


async def test_without_a_running_bot_two_steps_say_so_and_the_others_are_not_tried(
    world: World,
) -> None:
    person = TrialPerson(world.workspace, DOCS, refuses=["Type in the channel: /"])
    names = ("trial", "channel", "post", "command", "mention", "reply in a public channel", "form")
    results = await trial(
        world, person, chosen_steps(*names), clock=held_clock(), press_seconds=5.0
    )
    assert in_state(results, "bad") == {"command", "mention"}
    assert "no slash_command and no response_url within" in results["command"].seen
    assert "Does the bot run, with this database?" in results["command"].advice
    assert in_state(results, "left") == {"reply in a public channel", "form"}
    assert "nothing of the trial has reached the running bot" in results["form"].seen


async def test_token_that_somebody_else_types_is_not_heard(world: World) -> None:
    person = TrialPerson(world.workspace, DOCS, user="U02BEN")
    async with running_bot(world.settings):
        results = await trial(
            world,
            person,
            chosen_steps("trial", "command"),
            clock=held_clock(),
            press_seconds=5.0,
        )
    assert results["command"].state == "bad"
    notes = [note["text"] for note in world.workspace.state.ephemerals.values()]
    assert any("somebody else's, so I did nothing" in note for note in notes)


async def test_form_that_slack_refuses_is_named(world: World) -> None:
    world.workspace.faults.order([{"match": "views.open", "fault": "error:expired_trigger_id"}])
    person = TrialPerson(world.workspace, DOCS)
    async with running_bot(world.settings):
        results = await trial(world, person, chosen_steps("trial", "post", "press"))
    assert "Slack refuses views.open: expired_trigger_id" in results["press"].seen
    assert results["press"].follows == "Buttons don't reach the bot, or its forms don't open."


async def test_events_over_http_are_heard_and_no_socket_is_asked_for(tmp_path: Path) -> None:
    async with both_sides(options(Unhurried, tmp_path, http_mode=True)) as world:
        person = TrialPerson(world.workspace, DOCS)
        names = ("trial", "socket", "channel", "post", "command", "mention", "press", "Home tab")
        async with running_bot(world.settings):
            results = await trial(world, person, chosen_steps(*names))
    assert in_state(results, "bad") == set()
    assert in_state(results, "left") == {"socket"}
    assert results["socket"].seen == "not tried: the bot runs in HTTP mode"


async def test_missing_kinds_of_blocks_are_notes(tmp_path: Path) -> None:
    async with both_sides(options(Plain, tmp_path)) as world:
        results = await trial(world, None, chosen_steps("post", "charts", "tables"))
    assert in_state(results, "note") == {"charts", "tables"}
    expected = "Charts are refused here: people get the numbers as text."
    assert results["charts"].follows == expected


async def test_service_without_an_endpoint_is_a_note_and_a_refused_key_is_bad(
    world: World,
) -> None:
    faults = world.docs_service.faults
    faults.order([{"match": "views", "fault": "404"}, {"match": "searches", "fault": "401"}])
    try:
        results = await trial(world, None, chosen_steps("views", "searches"))
    finally:
        faults.clear()
    assert (results["views"].state, results["searches"].state) == ("note", "bad")
    assert "the bot does without: digests have no views" in results["views"].follows


async def test_texts_of_slack_are_masked(world: World) -> None:
    token = world.settings.slack_bot_token.get_secret_value()
    world.workspace.faults.order([{"match": "chat.postMessage", "fault": f"error:bad_{token}"}])
    results = await trial(world, None, chosen_steps("post"))
    assert results["post"].state == "bad"
    assert token not in told(results["post"])


async def test_stopped_trial_leaves_nothing_behind(world: World) -> None:
    before = bot_posts(world)
    asked = asyncio.Event()
    results: list[StepResult] = []
    where = TrialOptions(ChannelId(DOCS), UserId(ANA), press_seconds=HANG_SECONDS)
    steps = chosen_steps("trial", "post", "press")
    running = run_trial(world.settings, where, results.append, lambda _: asked.set(), steps)
    task = asyncio.ensure_future(running)
    await asked.wait()
    assert len(bot_posts(world)) == len(before) + 2
    task.cancel()
    await asyncio.wait([task])
    assert bot_posts(world) == before


@pytest.mark.parametrize("match", ["chat.postMessage", "files.completeUploadExternal"])
async def test_post_whose_answer_is_lost_is_found_and_removed(world: World, match: str) -> None:
    before = bot_posts(world)
    steps = chosen_steps("post", "file up", "charts")
    world.workspace.faults.order([{"match": match, "fault": "lost_answer", "times": 1}])
    results = await trial(world, None, steps)
    assert len(in_state(results, "bad")) == 1
    assert results["clean up"].state == "ok"
    assert bot_posts(world) == before
    assert not any(file["done"] for file in world.workspace.state.files.values())


async def test_command_prints_a_line_for_each_step(world: World) -> None:
    world.workspace.faults.order([{"match": "chat.update", "fault": "error:cant_update_message"}])
    ran = await asyncio.to_thread(docs_bot, "doctor", "--try", DOCS, **environment(world))
    assert ran.exit_code == 1
    assert "ok   charts: posted in the thread" in ran.output
    assert "left press: not tried: name yourself: --as U…" in ran.output
    assert "BAD  edit: Slack refuses it: cant_update_message\n     The first message" in ran.output


async def test_trial_without_a_person_names_no_trace_of_one(world: World, tmp_path: Path) -> None:
    record = ["--record", str(tmp_path / "trial.jsonl")]
    ran = await asyncio.to_thread(docs_bot, "doctor", "--try", DOCS, *record, **environment(world))
    assert "left mention: not tried: name yourself: --as U…" in ran.output
    assert "left transcript: not tried: name yourself: --as U…" in ran.output
    assert "Only you can remove" not in ran.output


async def test_document_has_each_step(world: World) -> None:
    env = environment(world)
    ran = await asyncio.to_thread(docs_bot, "doctor", "--json", "--try", DOCS, **env)
    steps = json.loads(ran.stdout)["steps"]
    assert [step["name"] for step in steps] == [*(step.name for step in STEPS), "clean up"]
