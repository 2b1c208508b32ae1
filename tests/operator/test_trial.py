"""`docs-bot doctor --try` on the sandbox: each step, and the report of each fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import func, select

from bot.app import running_bot
from bot.ids import ChannelId, UserId
from bot.operator.trial import STEPS, run_trial
from bot.operator.trial_step import Step, StepResult, TrialClock, TrialOptions
from bot.store import Store
from sandbox.workspace.options import WorkspaceOptions
from sandbox.world import MANIFEST, World, WorldOptions, both_sides
from tests.command_line import docs_bot
from tests.databases import prepare_database
from tests.limits import HANG_SECONDS
from tests.operator.trial_person import ANA, TrialPerson
from tests.scenarios.story import environment
from tests.schema import inbox, jobs

DOCS, PRODUCT, SECRET = "C01DOCS", "C03PRODUCT", "G04SECRET"
NOT_TRIED = {
    "reply in a private channel",
    "reply in a group direct message",
    "another id",
    "preview",
}
"""What no trial in a public channel can try."""
ANSWERED = TrialClock(sleep=lambda seconds: asyncio.sleep(min(seconds, 0.02)))
"""A clock whose pauses are short, for a trial in which everything comes."""
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


class Unhurried(WorldOptions):
    """A world whose Slack has no limits of rates."""

    def workspace(self) -> WorkspaceOptions:
        return replace(super().workspace(), enforce_rates=False)


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


def options(kind: Callable[..., WorldOptions], folder: Path, **more: Any) -> WorldOptions:
    return kind(folder, pages=5, days=10, work_seconds=0.1, answer_seconds=HANG_SECONDS, **more)


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


Results = dict[str, StepResult]


async def trial(
    world: World,
    person: TrialPerson | None = None,
    steps: Sequence[Step] = STEPS,
    *,
    channel: str = DOCS,
    clock: TrialClock | None = None,
    **chosen: Any,
) -> Results:
    """Take the steps; return their results by name. Nobody acts without a ``person``."""
    results: list[StepResult] = []
    user = UserId(person.user if person else ANA)
    limits = {"press_seconds": HANG_SECONDS, "job_seconds": HANG_SECONDS}
    where = TrialOptions(ChannelId(channel), user, **{**limits, **chosen})
    ask = person.read if person else _ignore
    try:
        await run_trial(world.settings, where, results.append, ask, steps, clock=clock or ANSWERED)
    finally:
        if person is not None:
            await person.ended()
    return {result.name: result for result in results}


def _ignore(_instruction: str) -> None:
    """Do nothing."""


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


async def count(world: World, table: Any) -> int:
    store = Store.open(world.settings.sqlalchemy_url)
    try:
        counting = select(func.count()).select_from(table)
        return int(await store.read(lambda tx: tx.connection.execute(counting).scalar_one()))
    finally:
        await store.close()


async def test_every_step_works_beside_a_running_bot_and_nothing_of_it_stays(
    tmp_path: Path,
) -> None:
    async with both_sides(options(Unhurried, tmp_path)) as world:
        person = TrialPerson(world.workspace, PRODUCT)
        async with running_bot(world.settings):
            results = await trial(world, person, channel=PRODUCT, with_job=True)
        state = world.workspace.state
        assert in_state(results, "bad", "note") == set()
        assert in_state(results, "left") == NOT_TRIED
        assert bot_posts(world) == []
        assert [file for file in state.files.values() if file["user"] != ANA] == []
        reactions = [
            post["reactions"] for room in state.messages.values() for post in room.values()
        ]
        assert not any(reactions)
        assert not state.views
        # Nothing that the person typed was taken for a request.
        assert (await count(world, inbox), await count(world, jobs)) == (0, 0)
        sockets = [one for one in world.workspace.log if one.get("method") == "socket"]
        assert len(sockets) == 1
        seen = results["clean up"].seen
        for left in ("the bot from the channel", "your mention", "your direct message", "/pull/1"):
            assert left in seen
        assert "cost one message" in results["assistant"].seen


@pytest.mark.parametrize(
    ("match", "fault", "step", "expected"),
    [
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


async def test_form_that_slack_refuses_is_named(world: World) -> None:
    world.workspace.faults.order([{"match": "views.open", "fault": "error:expired_trigger_id"}])
    person = TrialPerson(world.workspace, DOCS)
    async with running_bot(world.settings):
        results = await trial(world, person, chosen_steps("trial", "post", "press"))
    assert "Slack refuses views.open: expired_trigger_id" in results["press"].seen
    assert results["press"].follows == "Buttons don't reach the bot, or its forms don't open."


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


async def test_command_prints_a_line_for_each_step(world: World) -> None:
    world.workspace.faults.order([{"match": "chat.update", "fault": "error:cant_update_message"}])
    ran = await asyncio.to_thread(docs_bot, "doctor", "--try", DOCS, **environment(world))
    assert ran.exit_code == 1
    assert "ok   charts: posted in the thread" in ran.output
    assert "left press: not tried: name yourself: --as U…" in ran.output
    assert "BAD  edit: Slack refuses it: cant_update_message\n     The first message" in ran.output


async def test_document_has_each_step(world: World) -> None:
    env = environment(world)
    ran = await asyncio.to_thread(docs_bot, "doctor", "--json", "--try", DOCS, **env)
    steps = json.loads(ran.stdout)["steps"]
    assert [step["name"] for step in steps] == [*(step.name for step in STEPS), "clean up"]
